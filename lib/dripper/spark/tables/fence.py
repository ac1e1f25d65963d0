"""Keeps a driver that has lost its lease from changing rows: every commit names its run, and Delta
skips the commits of an earlier run.

A commit carries the name of a lane and a number (`txnAppId`, `txnVersion`): the later the run
began, the higher the number. Delta silently skips a commit if its lane has seen this number or a
higher one, and fails a commit that was under way meanwhile. So a run that takes over from a run
that may go on (a killed client of Spark Connect, a machine that was suspended) first puts its own
number into all lanes of all tables. A run has as many lanes as it may have commits into one table
under way at once, because two commits in the same lane would conflict.
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
"""Exceptions that Spark raises for an output it cannot use: a file in its place, no permission to
write, an unknown file system."""
_CONFLICT = re.compile(
    r"Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception|(Metadata|Protocol)ChangedException|"
    r"DELTA_CONCURRENT_\w+|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"
)
"""Names that classic Spark, Spark Connect and Databricks have for a commit that lost to another."""
_WAITS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Maximum seconds before each further attempt: an OPTIMIZE of the books ends within a few
seconds."""
RUNS = "runs"
"""The table of the lease, in which runs note that they are alive."""
_COMMITS_A_MILLISECOND = 1_000_000
"""Room for the numbers of a run's commits, below the number of a run that begins a millisecond
later."""


class Fence:
    """The numbers of one run's commits. Safe to use from several threads."""

    def __init__(self, started_ms: int, lanes: int, confirm: Callable[[], None]) -> None:
        """started_ms: when the run began, later than any other run into the output. lanes: commits
        into one table that may be under way at once. confirm: raises BusyError if another run has
        taken the lease."""
        self.confirm = confirm
        self.is_used = False
        """Whether a commit that matters to others has been given a number."""
        self._number = started_ms * _COMMITS_A_MILLISECOND
        self._free = list(range(lanes))
        self._condition = threading.Condition()

    @contextmanager
    def lane(self, table: str) -> Iterator[tuple[str, int]]:
        """Wait for a lane, and hold it inside the block; yield its name, and the number for a
        commit into the table. Commits into `runs` do not count as use of the fence: a heartbeat, or
        the note of a run's end, is no work that others would lose."""
        self.is_used |= table != RUNS
        with self._condition:
            self._condition.wait_for(lambda: self._free)
            # Take the lowest lane: if the end of a commit is unknown, the next commit soon follows
            # in its lane, and shuts it out.
            lane = min(self._free)
            self._free.remove(lane)
        try:
            yield self.sequence(lane)
        finally:
            with self._condition:
                self._free.append(lane)
                self._condition.notify()

    def sequence(self, lane: int) -> tuple[str, int]:
        """Return the name of a lane, and the next number."""
        with self._condition:
            self._number += 1
            return f"dripper.{lane}", self._number


def find_conflict(error: Exception) -> str:
    """Return Delta's name for the conflict if a commit failed because another one was first; "" if
    it failed for another reason. Delta's sentences about conflicts speak of streaming queries.

    >>> find_conflict(PySparkException("ConcurrentAppendException: Files were added"))
    'ConcurrentAppendException'
    """
    found = _CONFLICT.search(str(error)) if isinstance(error, SPARK_ERRORS) else None
    return found[0] if found else ""


def persistently(
    commit: Callable[[], object], confirm: Callable[[], None], sleep: Callable[[float], None] = time.sleep
) -> None:
    """Call `commit`, and call it again if another commit was first, such as the commit of an
    OPTIMIZE.

    Args:
        confirm: Called before each further call of `commit`; raises if it must not be called again.
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
