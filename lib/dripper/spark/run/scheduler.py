"""Runs batches in parallel. Batches that write the same rows take turns.

A single failed batch does not stop the others. After several failures in a row, or after Ctrl-C, no
more batches are started.
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
"""Number of batches to process in parallel. While the last slow file of one batch is read, the
other batch keeps the cluster busy."""


class BatchLocks:
    """Locks for batches: only the thread that has locked a batch is allowed to write its rows.
    Thread-safe."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._taken: set[int] = set()

    @contextmanager
    def hold(self, batch: Batch) -> Iterator[None]:
        """Lock all batches in which `batch` adds or replaces rows, until the context ends.

        First wait until no other thread has locked any of them.
        """
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
"""Maximum seconds to wait for cancelled batches. Spark kills their tasks immediately, and a commit
in progress takes about a second."""
_MOST_FAILURES = 3
"""Number of consecutive batches that failed or had no readable file, after which no further batch
is begun."""


class Breaker:
    """A circuit breaker: stops the work after several consecutive failures or on request.
    Thread-safe."""

    def __init__(self, most_failures: int = _MOST_FAILURES) -> None:
        self._most_failures = most_failures
        self._lock = threading.Lock()
        self._failures = 0
        self._stopped = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether the breaker is open, so that no more work is started."""
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
        """Open the breaker, so that no more work is started."""
        self._stopped.set()


@dataclass(slots=True)
class Worked:
    """The batches that failed, and the batches that were not begun."""

    failed: dict[int, str] = field(default_factory=dict)
    """The reason why each batch failed, keyed by batch number."""
    not_begun: list[int] = field(default_factory=list)
    """Numbers of the batches that were not begun because the breaker had opened."""


def work_through(
    batches: Sequence[Batch],
    at_once: int,
    work: Callable[[Batch], None],
    breaker: Breaker,
    cancel: Callable[[], None],
) -> Worked:
    """Call `work` on every batch, `at_once` at a time, until the breaker opens.

    A KeyboardInterrupt (from Ctrl-C, or from SIGTERM if the command converts it) opens the breaker
    and cancels the work in progress. The exception is raised again when the threads have ended, at
    the latest after _CANCEL_SECONDS. A BusyError also opens the breaker, and is raised when all
    work has ended.

    Args:
        cancel: Cancels the work in progress.
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
    """Cancel repeatedly, because a thread between two Spark jobs would start the next job."""
    logger.info("interrupted: the batches at work are cancelled")
    running = {future for future in waiting if not future.cancel()}
    for _ in range(_CANCEL_SECONDS):
        cancel()
        _, running = wait(running, timeout=1)
        if not running:
            return
