"""How far a run is and how long it will take, as log lines."""

import logging
import time

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 10


class ProgressLog:
    """Counts finished pages of all extractors. What an earlier run had done does not count for the
    speed."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = self._fresh = 0
        self._place = ""
        self._start = self._said = time.monotonic()

    def at(self, place: str) -> None:
        """Say what is being worked on, in the next line."""
        self._place = place

    def done(self, pages: int = 1, fresh: bool = True) -> None:
        """Count pages; log a line when the last one is ten seconds old."""
        self._done += pages
        self._fresh += pages if fresh else 0
        if time.monotonic() - self._said >= SECONDS_BETWEEN_LINES or self._done == self._total:
            self._said = time.monotonic()
            logger.info("%s", self)

    def __str__(self) -> str:
        share = 100 * self._done // self._total if self._total else 100
        if not self._fresh:
            return f"{share} % {self._place}"
        left = (self._total - self._done) * (time.monotonic() - self._start) / self._fresh
        return f"{share} % {self._place}, about {left / 60:.0f} min left"
