"""Sets aside files that crash their workers, so that the rest of their batch succeeds."""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from dripper.spark.ledger.ledger import MAX_ATTEMPTS, Ledger
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.sql import reason
from dripper.spark.workers.parts import Tasks

logger = logging.getLogger(__name__)

_DEATHS = re.compile(
    r"Python worker exited unexpectedly|Python worker failed|ExecutorLostFailure|OutOfMemoryError|Traceback \(most recent"
)
"""Matches Spark's errors for a crashed worker or executor, and for a Python exception in a task."""
_TASK = re.compile(r"Task (\d+)(?:\.\d+)? in stage \S+ failed")
_MOST_IN_A_ROW = 12
"""Number of consecutive failures after which the machine is blamed, not a file. To find one file
among 1,000, a batch is halved ten times."""


def suspects(error: Exception, tasks: Tasks) -> list[str] | None:
    """Return the files of the task that `error` names, or the files of all tasks if it names none.

    Return None if no file is to blame, for example if the output cannot be written.
    """
    words = str(error)
    if not _DEATHS.search(words):
        return None
    match = _TASK.search(words)
    of = tasks[int(match[1])] if match and int(match[1]) < len(tasks) else [part for task in tasks for part in task]
    return list(dict.fromkeys(part.file.warc_file for part in of))


class Isolation:
    """Processes batches, and splits a batch that fails until the files that crash workers are
    found."""

    def __init__(self, ledger: Ledger, is_stopped: Callable[[], bool]) -> None:
        self._ledger = ledger
        self._is_stopped = is_stopped
        # All batches in flight share these counts.
        self._lock = threading.Lock()
        self._any_succeeded = False
        self._in_a_row = 0

    def work_off(
        self,
        batch: Batch,
        split: Callable[[Batch], Tasks],
        attempt: Callable[[Batch, Tasks], None],
        set_aside: Callable[[Batch, str], None],
    ) -> None:
        """Call `attempt` on `batch`. If a file makes the attempt fail, retry with smaller and
        smaller parts.

        Raises the error of `attempt` if no file is to blame.

        Args:
            split: Returns the tasks of a batch.
            set_aside: Called with a one-file batch that was given up, and the reason.
        """
        waiting = [batch]
        while waiting:
            current = waiting.pop(0)
            tasks = split(current)
            try:
                attempt(current, tasks)
                with self._lock:
                    self._any_succeeded, self._in_a_row = True, 0
            except Exception as error:
                in_a_row = self._count_failure()
                suspected = None if self._is_stopped() else suspects(error, tasks)
                if suspected is None or in_a_row > _MOST_IN_A_ROW:
                    raise
                why = reason(error)
                if len(current.files) > 1:
                    waiting[:0] = self._split_batch(current, suspected, why)
                elif not self._gave_up(current, why, set_aside):
                    # Try the file again after the other files. If they succeed, the file is at
                    # fault, not the machine.
                    waiting += self._ledger.isolate(current, [suspected])
                    if current.files[0].attempts + 1 >= MAX_ATTEMPTS and len(waiting) == 1:
                        raise

    def _count_failure(self) -> int:
        """Return the number of consecutive failures, including the current one."""
        with self._lock:
            self._in_a_row += 1
            return self._in_a_row

    def _gave_up(self, batch: Batch, why: str, set_aside: Callable[[Batch, str], None]) -> bool:
        file = batch.files[0]
        logger.warning("%s took its worker down: %s", file.warc_file, why)
        # If nothing has succeeded yet, the machine may be at fault. The file therefore gets twice
        # as many attempts, spread over several runs.
        with self._lock:
            factor = 1 if self._any_succeeded else 2
        if file.attempts + 1 < MAX_ATTEMPTS * factor:
            return False
        set_aside(batch, why)
        self._ledger.set_aside(batch, why, datetime.now(UTC))
        return True

    def _split_batch(self, batch: Batch, suspected: Sequence[str], why: str) -> list[Batch]:
        logger.warning("batch %d failed (%s): %d of its files are tried apart", batch.number, why, len(suspected))
        if len(suspected) < len(batch.files):
            return self._ledger.isolate(batch, [suspected])
        half = len(suspected) // 2
        return self._ledger.isolate(batch, [suspected[:half], suspected[half:]])
