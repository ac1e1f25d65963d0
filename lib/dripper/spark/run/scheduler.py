"""Runs batches in parallel. One failed batch does not stop the others, but several failures in a
row or Ctrl-C do. Batches that write the same rows take turns.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from dripper.errors import BusyError
from dripper.spark.tables.batches import Batch, touched_batches
from dripper.spark.tables.sql import reason

IN_FLIGHT = 2
"""Number of batches worked on in parallel, so that the last slow file of one batch does not leave
the cluster idle."""


class BatchLocks:
    """Locks for batches: only the thread that holds a batch may write to it. Safe to use from
    several threads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._taken: set[int] = set()

    @contextmanager
    def hold(self, batch: Batch) -> Iterator[None]:
        """Wait until no other thread works on the batches in which `batch` adds or replaces rows.
        Hold these batches until the context ends."""
        numbers = touched_batches(batch)
        with self._condition:
            self._condition.wait_for(lambda: self._taken.isdisjoint(numbers))
            self._taken |= numbers
        try:
            yield
        finally:
            with self._condition:
                self._taken -= numbers
                self._condition.notify_all()


logger = logging.getLogger(__name__)

_CANCEL_SECONDS = 30
"""Maximum seconds for a cancelled batch to end. Spark kills its tasks immediately, and a commit in
progress takes about a second."""
_MOST_FAILURES = 3
"""Number of batches in a row that failed or had no readable file, after which no more batches are
begun."""


class Breaker:
    """Opens, which stops the work, after several failures in a row or on request. Safe to use from
    several threads."""

    def __init__(self, most_failures: int = _MOST_FAILURES) -> None:
        self._most_failures = most_failures
        self._lock = threading.Lock()
        self._failures = 0
        self._stopped = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether no more work may begin."""
        return self._stopped.is_set()

    def succeeded(self) -> None:
        """Count a batch that succeeded."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Count a batch that failed."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._most_failures:
                self._stopped.set()

    def stop(self) -> None:
        """Begin no more work."""
        self._stopped.set()


@dataclass(slots=True)
class Worked:
    """The batches that failed, and the batches that were not begun."""

    failed: dict[int, str] = field(default_factory=dict)
    """The reason of each failed batch."""
    not_begun: list[int] = field(default_factory=list)
    """Batches not begun because too many before them failed in a row."""


def work_through(
    batches: Sequence[Batch],
    at_once: int,
    work: Callable[[Batch], None],
    breaker: Breaker,
    cancel: Callable[[], None],
) -> Worked:
    """Call `work` on every batch, `at_once` at a time, until the breaker opens.

    KeyboardInterrupt (from Ctrl-C, or from SIGTERM if the command converts it) opens the breaker,
    cancels the work in progress, and is raised again when the threads have ended, or after
    _CANCEL_SECONDS. BusyError also opens the breaker, and is raised when all work has ended.

    Args:
        cancel: Ends the work in progress.
    """
    worked = Worked()
    busy_errors: list[BusyError] = []

    def take(batch: Batch) -> None:
        if breaker.is_open:
            worked.not_begun.append(batch.number)
            return
        try:
            work(batch)
        except BusyError as error:
            busy_errors.append(error)
            breaker.stop()
        except Exception as error:
            if not breaker.is_open:
                logger.exception("batch %d failed", batch.number)
            worked.failed[batch.number] = reason(error)
            breaker.failed()

    pool = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="batch")
    waiting: set[Future[None]] = set()
    try:
        waiting |= {pool.submit(take, batch) for batch in batches}
        while waiting:
            _, waiting = wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
    except KeyboardInterrupt:
        breaker.stop()
        _cancel(waiting, cancel)
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if busy_errors:
        raise busy_errors[0]
    return worked


def _cancel(waiting: set[Future[None]], cancel: Callable[[], None]) -> None:
    """Cancel repeatedly, because a thread between two Spark jobs goes on to the next job."""
    logger.info("interrupted: the batches at work are cancelled")
    running = {future for future in waiting if not future.cancel()}
    for _ in range(_CANCEL_SECONDS):
        cancel()
        _, running = wait(running, timeout=1)
        if not running:
            return
