"""The progress messages of a job."""

import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dripper.spark.run import progress as module
from dripper.spark.run.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class NoContext:
    """A session as Spark Connect gives it: it has no SparkContext."""

    @property
    def sparkContext(self) -> object:
        raise RuntimeError("[NOT_IMPLEMENTED] sparkContext() is not implemented.")


@pytest.fixture(autouse=True)
def info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger=module.__name__)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The messages of the module. Py4J logs a message, too, if it lost an old connection."""
    return [record.getMessage() for record in caplog.records if record.name == module.__name__]


def test_counts_of_tasks_become_a_line_with_pages_a_second(
    spark: "SparkSession", caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    progress = Progress(spark, 3, clock)
    sink = progress.sink
    assert sink is not None

    def work(rows: Iterator[int]) -> None:
        for _ in rows:
            sink.add({"files": 1, "pages": 10, "failed": 1})

    spark.sparkContext.parallelize([1, 2], 2).foreachPartition(work)
    clock.now += 4
    progress.tell()
    assert told(caplog) == ["2 of 3 files, 20 pages, 5.0 pages/s, 2 pages failed"]


def test_nothing_new_is_told_once(spark: "SparkSession", caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress(spark, 1, Clock())
    assert progress.sink is not None
    progress.tell()
    assert told(caplog) == []
    progress.sink.add({"files": 1, "pages": 0, "failed": 0})
    progress.tell()
    progress.tell()
    assert len(told(caplog)) == 1


def test_stages_are_told_where_there_are_some(spark: "SparkSession", caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress(spark, 1, Clock())
    assert progress.sink is not None
    progress.sink.add({"files": 1, "pages": 7, "failed": 0, "labelled": 5, "extracted": 2})
    progress.tell()
    assert told(caplog)[0].endswith("0 pages failed, 5 labelled, 2 extracted")


def test_it_tells_now_and_then_and_at_the_end(
    spark: "SparkSession", caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "INTERVAL_SECONDS", 0.01)
    with Progress(spark, 2) as progress:
        assert progress.sink is not None
        progress.sink.add({"files": 1, "pages": 1, "failed": 0})
        for _ in range(1000):
            if told(caplog):
                break
            time.sleep(0.01)
        progress.sink.add({"files": 1, "pages": 1, "failed": 0})
    assert told(caplog)[0].startswith("1 of 2 files")
    assert told(caplog)[-1].startswith("2 of 2 files")


def test_without_accumulators_finished_batches_are_told(caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress(NoContext(), 1, Clock())  # type: ignore[arg-type]
    assert progress.sink is None
    progress.batch_done(3)
    progress.batch_done(4, "label")
    progress.tell()
    assert told(caplog) == ["batch 3 committed", "batch 4 committed by label"]
