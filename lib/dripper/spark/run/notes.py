"""Notes committed batches in the ledger. Batches that end within seconds of each other share one
commit."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from dripper.errors import BusyError
from dripper.spark.ledger.ledger import Ledger, Report
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.sql import reason

logger = logging.getLogger(__name__)

NOTE_SECONDS = 10.0
"""A batch that ends more than this many seconds after the last note is noted immediately, together
with the waiting batches. After a kill, the waiting batches are done again, like a batch that was
killed right before its note."""


class Notes:
    """Batches that are written but not yet noted in the ledger. Safe to use from several
    threads."""

    def __init__(
        self,
        ledger: Ledger,
        check: Callable[[], None],
        on_noted: Callable[[Sequence[Report]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """check: raises if another run has taken the lease. on_noted: called with the ledger's
        rows."""
        self._ledger = ledger
        self._check = check
        self._on_noted = on_noted
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[Batch, Sequence[Report]]] = {}
        self._last = clock()

    def add(self, batch: Batch, reports: Sequence[Report]) -> None:
        """Note the batch, now or soon. An error affects only this batch: the others wait for the
        next note."""
        with self._lock:
            self._waiting[batch.number] = batch, reports
            if self._clock() - self._last < NOTE_SECONDS:
                return
            try:
                self._write()
            except BaseException:
                del self._waiting[batch.number]
                raise

    def finish(self) -> dict[int, str]:
        """Note all waiting batches. Return the batches that could not be noted, each with the
        reason. Raises BusyError if another run has taken the lease."""
        with self._lock:
            try:
                self._write()
            except BusyError:
                raise
            except Exception as error:
                logger.exception("what %d batches did could not be noted", len(self._waiting))
                return dict.fromkeys(self._waiting, reason(error))
        return {}

    def _write(self) -> None:
        if self._waiting:
            self._check()
            self._on_noted(self._ledger.finish(list(self._waiting.values()), datetime.now(UTC)))
        self._waiting.clear()
        self._last = self._clock()
