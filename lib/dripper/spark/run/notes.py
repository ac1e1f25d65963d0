"""Records committed batches in the ledger. Batches that end within seconds share a commit."""

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
"""If a batch ends at least this many seconds after the last commit to the ledger, it is recorded
immediately, together with all waiting batches. Otherwise, the batch waits. If the run is killed,
the next run repeats the waiting batches."""


class Notes:
    """Batches that are written but not yet recorded in the ledger. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        check: Callable[[], None],
        on_noted: Callable[[Sequence[Report]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """check: raises if another run has taken the lease. on_noted: called with the ledger's new
        rows."""
        self._ledger = ledger
        self._check = check
        self._on_noted = on_noted
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[Batch, Sequence[Report], datetime]] = {}
        self._last = clock()

    def add(self, batch: Batch, reports: Sequence[Report]) -> None:
        """Record the batch in the ledger, now or together with a later batch.

        If this fails, only this batch fails. The waiting batches are recorded later.
        """
        with self._lock:
            # Take the time now, because somebody may change the rows before the batch is recorded.
            self._waiting[batch.number] = batch, reports, datetime.now(UTC)
            if self._clock() - self._last < NOTE_SECONDS:
                return
            try:
                self._write()
            except BaseException:
                del self._waiting[batch.number]
                raise

    def finish(self) -> dict[int, str]:
        """Record all waiting batches. Return the batches that could not be recorded, with reasons.

        Raises BusyError if another run has taken the lease.
        """
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
            self._on_noted(self._ledger.finish(list(self._waiting.values())))
        self._waiting.clear()
        self._last = self._clock()
