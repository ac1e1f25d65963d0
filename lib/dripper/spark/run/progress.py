"""Reports the progress of a job: logs a line every few seconds, and names the jobs in Spark's
UI."""

import logging
import operator
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark import AccumulatorParam
from pyspark.sql import SparkSession

from dripper.spark.session.capacity import context_of
from dripper.spark.workers.read import ProgressSink

logger = logging.getLogger(__name__)


@contextmanager
def describe_jobs(spark: SparkSession, tag: str, description: str) -> Iterator[None]:
    """Describe and tag the Spark jobs that this thread starts inside the context."""
    context = context_of(spark)
    spark.addTag(tag)
    if context is not None:
        context.setJobDescription(description)
    try:
        yield
    finally:
        # If the JVM is lost, there is nothing to reset.
        with suppress(Exception):
            spark.removeTag(tag)
            if context is not None:
                context.setJobDescription(None)


def cancel(spark: SparkSession, tag: str) -> None:
    """Cancel the session's jobs that have this tag."""
    try:
        spark.interruptTag(tag)
    except Exception:
        logger.debug("jobs could not be cancelled", exc_info=True)


INTERVAL_SECONDS = 5.0


class _Merged(AccumulatorParam[dict[str, Any]]):
    """Merges dictionaries from tasks. `merge` combines the two values of a key."""

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self._merge = merge

    def zero(self, value: dict[str, Any]) -> dict[str, Any]:
        return {}

    def addInPlace(self, value1: dict[str, Any], value2: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        for key, new in value2.items():
            value1[key] = self._merge(value1[key], new) if key in value1 else new
        return value1


class Progress:
    """Logs a line every INTERVAL_SECONDS if the counts have changed. Use as a context manager.

    A task's counts arrive when the task ends. Use them only for display: Spark may run a task
    twice, and its counts are then added twice. `sink` is None if the session has no accumulators
    (Spark Connect). In that case, only finished batches are logged.
    """

    def __init__(self, spark: SparkSession, n_files: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._n_files = n_files
        self._clock = clock
        self._start = clock()
        self._told: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._tell_now_and_then, name="progress", daemon=True)
        context = context_of(spark)
        self.sink = context and ProgressSink(
            *(context.accumulator({}, _Merged(merge)) for merge in (operator.add, min))
        )
        """Receives the tasks' counts; None with Spark Connect."""

    @property
    def warnings(self) -> list[str]:
        """Warnings from finished tasks, to be shown to the user."""
        return [] if self.sink is None else [text for _, text in sorted(self.sink.sentences.value.items())]

    def __enter__(self) -> "Progress":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.tell()

    def batch_done(self, number: int, stage: str = "") -> None:
        """Log that a batch is committed. In a staged run, pass the stage."""
        logger.info("batch %d committed%s", number, f" by {stage}" if stage else "")

    def tell(self) -> None:
        """Log the counts if they have changed."""
        counts = dict(self.sink.counts.value) if self.sink is not None else {}
        if counts == self._told:
            return
        self._told = counts
        seconds = max(self._clock() - self._start, 1e-9)
        pages, failed = counts.get("pages", 0), counts.get("failed", 0)
        stages = "".join(f", {counts[stage]} {stage}" for stage in ("labelled", "extracted") if stage in counts)
        logger.info(
            "%d of %d files, %d pages, %.1f pages/s, %d pages failed%s",
            *(counts.get("files", 0), self._n_files, pages, pages / seconds, failed, stages),
        )

    def _tell_now_and_then(self) -> None:
        while not self._stop.wait(INTERVAL_SECONDS):
            self.tell()
