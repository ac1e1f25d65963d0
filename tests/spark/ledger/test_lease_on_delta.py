"""The lease on real Delta: the assumptions of the tests in memory, and an OPTIMIZE."""

import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.errors import BusyError
from dripper.settings import Settings
from dripper.spark.ledger.lease import Lease
from dripper.spark.run.run import run
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from support.meanwhile import meanwhile, optimize
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    made = Tables(spark, str(tmp_path / "out"))
    made.create("runs")
    return made


def states(tables: Tables) -> list[tuple[int, str]]:
    rows = tables.read("runs").orderBy("epoch").collect()
    return [(row["epoch"], row["state"]) for row in rows]


def test_a_run_is_numbered_and_told(spark: SparkSession, tables: Tables) -> None:
    for epoch in (1, 2):
        held = Lease(SparkBooks(spark, tables))
        held.take(job="run", input="a.warc")
        assert states(tables)[-1] == (epoch, "running")
        held.check()
        held.end("ended", exit_code=0, skipped={"status": 3}, complaints=["no"])
    row = tables.read("runs").where("epoch = 2").collect()[0]
    assert (row["state"], row["exit_code"], row["skipped"], row["input"]) == ("ended", 0, {"status": 3}, "a.warc")
    assert row["started_at"] <= row["heard_at"] == row["ended_at"]


def test_a_run_that_begins_during_the_first_commit_of_another_is_refused(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both commits have the same sequence, so the other's commit is not a sign of one's own."""
    other, mine = (Lease(SparkBooks(spark, each)) for each in (Tables(spark, tables.output), tables))
    append = tables.append

    def append_late(*arguments: Any, **options: Any) -> Any:
        other.take()
        return append(*arguments, **options)

    monkeypatch.setattr(tables, "append", append_late)
    with pytest.raises(BusyError, match="another run began on this output at the same moment"):
        mine.take()
    assert states(tables) == [(1, "running")]
    other.end("ended", exit_code=0)


@pytest.mark.slow
def test_an_optimize_beside_a_run_costs_no_beat_and_no_end(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "dripper.spark.tables.fence")
    books = SparkBooks(spark, tables)
    held = Lease(books)
    held.take()
    for write in (held._beat, lambda: held.end("ended", exit_code=0)):
        for epoch in (-1, -2):  # More than one file, so that there is something to join.
            row = spark.sql(f"SELECT 'x' AS run_id, {epoch}L AS epoch, 'ended' AS state")
            tables.append("runs", row, ("other", -epoch + len(states(tables))))
        with monkeypatch.context() as patch:
            patch.setattr(books, "frame", meanwhile(books.frame, lambda: optimize(spark, tables, "runs")))
            write()
        assert "another commit was first" in caplog.text
        caplog.clear()
    assert (1, "ended") in states(tables)


def test_numbers_that_are_used_up_are_left_out(spark: SparkSession, tables: Tables) -> None:
    """Somebody deleted the rows: Delta still has the numbers, and attributed them to another run
    for ever."""
    for _ in range(2):
        held = Lease(SparkBooks(spark, tables))
        held.take()
        held.end("ended", exit_code=0)
    spark.sql(f"DELETE FROM {tables.sql_name('runs')}")
    held = Lease(SparkBooks(spark, tables))
    held.take()
    held.check()
    assert states(tables)[0][0] > 1_000_000
    held.end("ended", exit_code=0)


def test_drivers_that_begin_at_the_same_moment_get_one_number_each(spark: SparkSession, tables: Tables) -> None:
    """Both have checked, and found no other, before one of them writes."""
    both = threading.Barrier(2, timeout=60)
    outcomes: list[str | None] = []
    taken: list[Lease] = []

    class Together(Lease):
        def _wait_for_others(self) -> list[dict[str, Any]]:
            found = super()._wait_for_others()
            both.wait()
            return found

    def take() -> None:
        held = Together(SparkBooks(spark, tables))
        try:
            held.take()
            taken.append(held)
            outcomes.append(held.run_id)
        except BusyError:
            outcomes.append(None)

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(None) >= 1
    running = [row["run_id"] for row in tables.read("runs").where("state = 'running'").collect()]
    assert [run_id for run_id in outcomes if run_id] == running[: len(outcomes) - outcomes.count(None)]
    for held in taken:  # Otherwise it sends heartbeats long after the end of the session.
        held.end("ended")


@pytest.mark.slow
def test_a_driver_that_stands_still_before_its_lease_sees_what_another_did_meanwhile(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It created the tables, and then always treated them as empty: every file was recorded and
    read twice."""
    archive, output = write_warc(tmp_path / "a.warc", pages(1, 3)), str(tmp_path / "out")
    take = Lease.take

    def stand_still(self: Lease, **columns: Any) -> None:
        monkeypatch.setattr(Lease, "take", take)
        assert run(spark, str(archive), output, Settings()).totals.files == 1
        take(self, **columns)

    monkeypatch.setattr(Lease, "take", stand_still)
    outcome = run(spark, str(archive), output, Settings())
    assert (outcome.plan.n_done, outcome.totals.files) == (1, 0)
    assert (outcome.ledger["done"], outcome.ledger["pages"]) == (1, 3)
    assert Tables(spark, output).read("extractions").count() == 3
