"""Prevents a driver that has lost its lease from changing rows.

Each commit carries the name of a lane and a number (`txnAppId`, `txnVersion`). Later runs have
higher numbers. Delta silently skips a commit if its lane has already seen the same or a higher
number. A commit in progress fails if another commit writes such a number to its lane meanwhile.

An earlier run may still be alive, for example after its Spark Connect client was killed or its
machine was suspended. So a run that takes over first writes its number to all lanes of all tables.
Two commits in the same lane would conflict, so a run has as many lanes as it can have commits in
progress in a table.
"""

import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

logger = logging.getLogger(__name__)

SPARK_ERRORS = (PySparkException, Py4JJavaError)
"""Exceptions that Spark raises for an unusable output: its path is a file, the user is not allowed
to write there, or the file system is unknown."""
_CONFLICT = re.compile(
    r"Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception|(Metadata|Protocol)ChangedException|"
    r"DELTA_CONCURRENT_\w+|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"
)
"""Matches the errors of classic Spark, Spark Connect and Databricks if a commit conflicts with
another."""
_WAITS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Maximum seconds to wait before each retry. An OPTIMIZE of a small table ends within a few
seconds."""
RUNS = "runs"
"""The lease's table, to which runs write their heartbeats."""
_COMMITS_A_MILLISECOND = 1_000_000
"""Size of a run's range of commit numbers. A run that begins a millisecond later has the next
range."""


class Fence:
    """Numbers the commits of one run. Thread-safe."""

    def __init__(self, started_ms: int, lanes: int, confirm: Callable[[], None]) -> None:
        """started_ms: start time of the run, which must be later than any earlier run's. lanes:
        maximum number of concurrent commits to one table. confirm: raises BusyError if another run
        has taken the lease."""
        self.confirm = confirm
        self.is_used = False
        """Whether a commit to a table other than `runs` has used a number."""
        self._number = started_ms * _COMMITS_A_MILLISECOND
        self._free = list(range(lanes))
        self._condition = threading.Condition()

    @contextmanager
    def lane(self, table: str) -> Iterator[tuple[str, int]]:
        """Wait for a lane, and hold it inside the context. Yield its name and a commit number.

        Commits to `runs` do not count as use of the fence, because no work depends on a heartbeat
        or on the record of a run's end.
        """
        self.is_used |= table != RUNS
        with self._condition:
            self._condition.wait_for(lambda: self._free)
            # Take the lowest lane. If the outcome of a commit is unknown, the next commit in the
            # same lane soon shuts it out.
            lane = min(self._free)
            self._free.remove(lane)
        try:
            yield self.sequence(lane)
        finally:
            with self._condition:
                self._free.append(lane)
                self._condition.notify()

    def sequence(self, lane: int) -> tuple[str, int]:
        """Return the name of a lane and the next number."""
        with self._condition:
            self._number += 1
            return f"dripper.{lane}", self._number


def find_conflict(error: Exception) -> str:
    """Return the name of the error if a commit failed because of another commit; otherwise "".

    The name is clearer than Delta's full message, which mentions streaming queries.

    >>> find_conflict(PySparkException("ConcurrentAppendException: Files were added"))
    'ConcurrentAppendException'
    """
    found = _CONFLICT.search(str(error)) if isinstance(error, SPARK_ERRORS) else None
    return found[0] if found else ""


def persistently(
    commit: Callable[[], object], confirm: Callable[[], None], sleep: Callable[[float], None] = time.sleep
) -> None:
    """Call `commit`. Retry if another commit, such as an OPTIMIZE, came first.

    Args:
        confirm: Called before each retry. Raises if a retry is not allowed.
    """
    for wait in _WAITS:
        try:
            commit()
            return
        except SPARK_ERRORS as error:
            if not (conflict := find_conflict(error)):
                raise
            logger.info("another commit was first, so this one is tried again: %s", conflict)
        confirm()
        sleep(random.uniform(wait / 2, wait))
    commit()
