"""Keeps a driver that has lost its lease from changing rows: every commit carries a number of its
run, and Delta skips the commits of earlier runs.

A commit carries the name of a lane and a number (`txnAppId`, `txnVersion`): the later the run
began, the higher the number. Delta silently skips a commit if its lane has already seen this number
or a higher one, and fails a commit that is in progress when that happens. An earlier run may still
continue (a killed Spark Connect client, a suspended machine). So a run that takes over from it
first puts its own number into all lanes of all tables. A run has one lane for each commit that it
may have in progress in one table, because two commits in the same lane would conflict.
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
"""Exceptions that Spark raises for an unusable output: its path is a file, there is no permission
to write, or the file system is unknown."""
_CONFLICT = re.compile(
    r"Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception|(Metadata|Protocol)ChangedException|"
    r"DELTA_CONCURRENT_\w+|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"
)
"""Names in classic Spark, Spark Connect and Databricks for a commit that lost to another commit."""
_WAITS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Maximum seconds to wait before each further attempt: an OPTIMIZE of the books ends within a few
seconds."""
RUNS = "runs"
"""The lease's table, in which runs note that they are alive."""
_COMMITS_A_MILLISECOND = 1_000_000
"""Size of a run's range of commit numbers, which ends before the range of a run that begins a
millisecond later."""


class Fence:
    """Numbers the commits of one run. Safe to use from several threads."""

    def __init__(self, started_ms: int, lanes: int, confirm: Callable[[], None]) -> None:
        """started_ms: the run's start time, which must be later than any earlier run's. lanes:
        maximum number of concurrent commits to one table. confirm: raises BusyError if another run
        has taken the lease."""
        self.confirm = confirm
        self.is_used = False
        """Whether a number was given to a commit outside the table `runs`."""
        self._number = started_ms * _COMMITS_A_MILLISECOND
        self._free = list(range(lanes))
        self._condition = threading.Condition()

    @contextmanager
    def lane(self, table: str) -> Iterator[tuple[str, int]]:
        """Wait for a lane, and hold it inside the block. Yield the lane's name and the number for a
        commit to the table. Commits to `runs` do not count as use of the fence, because no work
        depends on a heartbeat or the note of a run's end."""
        self.is_used |= table != RUNS
        with self._condition:
            self._condition.wait_for(lambda: self._free)
            # Take the lowest lane: if the outcome of a commit is unknown, the next commit soon
            # follows in the same lane, and shuts it out.
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
    """Return Delta's name for the conflict if a commit failed because another commit came first; ""
    if it failed for another reason. Delta's full messages about conflicts are misleading, because
    they mention streaming queries.

    >>> find_conflict(PySparkException("ConcurrentAppendException: Files were added"))
    'ConcurrentAppendException'
    """
    found = _CONFLICT.search(str(error)) if isinstance(error, SPARK_ERRORS) else None
    return found[0] if found else ""


def persistently(
    commit: Callable[[], object], confirm: Callable[[], None], sleep: Callable[[float], None] = time.sleep
) -> None:
    """Call `commit`, and call it again if another commit came first, such as an OPTIMIZE.

    Args:
        confirm: Called before `commit` is called again. Raises if that is not allowed.
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
