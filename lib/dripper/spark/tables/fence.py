"""Keeps a driver that has lost its lease from changing rows: every commit says which run it is of,
and Delta leaves out those of an earlier one.

A commit bears the name of a lane and a number (`txnAppId`, `txnVersion`): the later the run began,
the higher. Delta drops a commit without a word whose lane has seen this number or a higher one, and
lets one fail that was under way meanwhile. So a run that takes over from one that may go on (a
client of Spark Connect that was killed, a machine that stood still) first puts its own number into
all lanes of all tables. A run has as many lanes as commits into one table may be under way at once:
two in the same lane would be a conflict.
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

from dripper.spark.tables.sql import first_line

logger = logging.getLogger(__name__)

SPARK_ERRORS = (PySparkException, Py4JJavaError)
"""Exceptions that Spark raises for an output it cannot use: a file in its place, no right to write,
an unknown file system."""
_CONFLICT = re.compile(
    r"Concurrent(Append|DeleteRead|DeleteDelete|Transaction|Write)Exception|(Metadata|Protocol)ChangedException|"
    r"DELTA_CONCURRENT_|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"
)
"""Names that classic Spark, Spark Connect and Databricks have for a commit that lost to another."""
_WAITS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each further attempt at the most: an OPTIMIZE of the books is over in some."""
RUNS = "runs"
"""The table of the lease, where runs say that they are alive."""
_COMMITS_A_MILLISECOND = 1_000_000
"""Room for the commits of a run between its number and that of a run which begins a millisecond
later."""


class Fence:
    """The numbers of one run's commits. Safe to use from several threads."""

    def __init__(self, started_ms: int, lanes: int, confirm: Callable[[], None]) -> None:
        """started_ms: when the run began, later than any other run into the output. lanes: commits
        into one table that may be under way at once. confirm: raises BusyError where the lease has
        gone to another."""
        self.confirm = confirm
        self.is_used = False
        """Whether a commit that matters to others has been given a number."""
        self._number = started_ms * _COMMITS_A_MILLISECOND
        self._free = list(range(lanes))
        self._condition = threading.Condition()

    @contextmanager
    def lane(self, table: str) -> Iterator[tuple[str, int]]:
        """Wait for a lane, and keep it inside; give its name and the number of a commit of the
        table. That a run is alive, and how it ended, is no work that others would lose."""
        self.is_used |= table != RUNS
        with self._condition:
            self._condition.wait_for(lambda: self._free)
            # The lowest: where the end of a commit is unknown, the next one soon follows in its
            # lane, and shuts it out.
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


def is_conflict(error: Exception) -> bool:
    """Tell whether a commit failed because another one was first.

    >>> is_conflict(PySparkException("ConcurrentAppendException: Files were added"))
    True
    """
    return isinstance(error, SPARK_ERRORS) and bool(_CONFLICT.search(str(error)))


def persistently(
    commit: Callable[[], object], confirm: Callable[[], None], sleep: Callable[[float], None] = time.sleep
) -> None:
    """Call `commit`, and again where another commit was first, such as that of an OPTIMIZE.

    Args:
        confirm: Called before it is called again; raises where it may not be.
    """
    for wait in _WAITS:
        try:
            commit()
            return
        except SPARK_ERRORS as error:
            if not is_conflict(error):
                raise
            logger.info("another commit was first, so this one is tried again: %s", first_line(error))
        confirm()
        sleep(random.uniform(wait / 2, wait))
    commit()
