"""A driver that lost its lease but continues, on real Delta: no row changes, and it gets an
error."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from dripper.errors import BusyError
from dripper.settings import Settings
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.run.batch_checks import write_until_whole
from dripper.spark.run.fused import FusedJob
from dripper.spark.run.run import run
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.fence import Fence, find_conflict, persistently
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from support.meanwhile import meanwhile
from support.warcs import pages, write_warc

LOST = "another run has taken this output over"


def never() -> None:
    raise AssertionError("no lease was asked about")


def test_lanes_are_one_writers_each_and_numbers_rise() -> None:
    fence, taken = Fence(1_700_000_000_000, 2, never), []
    with fence.lane("labels") as first, fence.lane("labels") as second:
        assert (first[0], second[0]) == ("dripper.0", "dripper.1")
        waiting = threading.Thread(target=lambda: [taken.append(name) for name in [fence.lane("labels").__enter__()]])
        waiting.start()
        waiting.join(0.05)
        assert not taken
    waiting.join()
    assert first[1] < second[1] < taken[0][1] < Fence(1_700_000_000_001, 2, never).sequence(0)[1]


def test_a_commit_that_lost_to_another_is_tried_again_after_a_look_at_the_lease(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "dripper.spark.tables.fence")
    did: list[str] = []

    def commit() -> None:
        did.append("commit")
        if did.count("commit") < 3:
            raise PySparkException("[DELTA_CONCURRENT_DELETE_READ] ConcurrentDeleteReadException: a file was deleted")

    persistently(commit, lambda: did.append("look"), lambda _: None)
    assert did == ["commit", "look", "commit", "look", "commit"]
    assert caplog.messages[0].endswith("this one is tried again: DELTA_CONCURRENT_DELETE_READ")

    def lost() -> None:
        raise BusyError(LOST)

    did.clear()
    with pytest.raises(BusyError):
        persistently(commit, lost, lambda _: None)
    assert did == ["commit"]


@pytest.mark.parametrize("always", ["DELTA_CONCURRENT_APPEND", "no space left on device"])
def test_a_commit_that_fails_for_good_says_why(always: str) -> None:
    with pytest.raises(PySparkException, match=always):
        persistently(lambda: (_ for _ in ()).throw(PySparkException(always)), lambda: None, lambda _: None)


@pytest.fixture(params=["folder", pytest.param("catalog", marks=pytest.mark.slow)])
def tables(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[Tables]:
    output = str(tmp_path / "out")
    if request.param == "catalog":
        output = "spark_catalog.dripper_fence"
        spark.sql(f"CREATE SCHEMA {output}")
    made = Tables(spark, output)
    for table in ("runs", "labels"):
        made.create(table)
    yield made
    if request.param == "catalog":
        spark.sql(f"DROP SCHEMA {output} CASCADE")


def labels(spark: SparkSession, batch: int, *ids: str) -> DataFrame:
    return spark.createDataFrame(
        [(name, batch, "x", "1") for name in ids], "page_id string, batch long, labeler string, labeler_version string"
    )


def found(tables: Tables) -> list[tuple[int, str]]:
    return sorted((row["batch"], row["page_id"]) for row in tables.read("labels").collect())


def taken(spark: SparkSession, output: str, writers: int = 2) -> tuple[Tables, Lease]:
    tables = Tables(spark, output)
    lease = Lease(
        SparkBooks(spark, tables), holder="elsewhere 1/2 3 4", beat_seconds=3600, patience_seconds=0, writers=writers
    )
    lease.take()
    return tables, lease


LATE: dict[str, Callable[[Tables, DataFrame], object]] = {
    "replace": lambda tables, rows: tables.replace_batch("labels", rows, Batch(1, ())),
    "append": lambda tables, rows: tables.append("labels", rows),
    "delete": lambda tables, rows: tables.delete("labels", "batch = 1"),
    "merge": lambda tables, rows: tables.delete_matching("labels", "labels", "page_id", "batch = 1"),
}


@pytest.mark.spark
def test_a_late_commit_changes_nothing_and_its_driver_hears_of_it(spark: SparkSession, tables: Tables) -> None:
    mine, a = taken(spark, tables.output)
    mine.append("labels", labels(spark, 1, "a"))
    _, b = taken(spark, tables.output)
    for late in LATE.values():
        late(mine, labels(spark, 1, "late"))
        assert found(tables) == [(1, "a")]
    with pytest.raises(BusyError, match=LOST):
        a.confirm()
    b.confirm()
    b.end("ended", exit_code=0)
    a.end("ended", exit_code=0)
    assert [row["state"] for row in tables.read("runs").orderBy("epoch").collect()] == ["lost", "ended"]


@pytest.mark.spark
@pytest.mark.draw("takeover")
@pytest.mark.parametrize("lane", [0, 1])
def test_a_commit_under_way_fails_when_another_takes_over(spark: SparkSession, tmp_path: Path, lane: int) -> None:
    """As with a killed client of Spark Connect with a running query. Nobody else writes its
    batch."""
    Tables(spark, str(tmp_path)).create("runs")
    Tables(spark, str(tmp_path)).create("labels")
    tables, a = taken(spark, str(tmp_path))
    others: list[Lease] = []
    late = meanwhile(lambda: labels(spark, 7, "late"), lambda: others.append(taken(spark, str(tmp_path))[1]))
    fence = tables.fence
    assert fence is not None
    if lane:
        fence.lane("labels").__enter__()
    with pytest.raises(BusyError, match=LOST):
        write_until_whole(
            lambda: tables.replace_batch("labels", late(), Batch(7, ())), Batch(7, ()), lambda: False, a.confirm
        )
    assert found(tables) == []
    for lease in (a, *others):
        lease.end("ended", exit_code=0)


@pytest.mark.spark
def test_commits_side_by_side_do_not_hinder_each_other(spark: SparkSession, tmp_path: Path) -> None:
    for table in ("runs", "labels"):
        Tables(spark, str(tmp_path)).create(table)
    tables, lease = taken(spark, str(tmp_path))
    write = lambda: tables.replace_batch("labels", labels(spark, 2, "b"), Batch(2, ()))  # noqa: E731
    first = meanwhile(lambda: labels(spark, 1, "a"), write)
    tables.replace_batch("labels", first(), Batch(1, ()))
    assert found(tables) == [(1, "a"), (2, "b")]
    lease.end("ended", exit_code=0)


@pytest.mark.spark
def test_a_run_after_one_that_ended_well_shuts_nobody_out(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Tables(spark, str(tmp_path)).create("runs")
    monkeypatch.setattr(Tables, "shut_out", lambda *_: pytest.fail("there is nobody to shut out"))
    for _ in range(2):
        taken(spark, str(tmp_path))[1].end("ended", exit_code=0)


@pytest.mark.spark
def test_an_output_whose_runs_are_gone_takes_commits_as_before(spark: SparkSession, tmp_path: Path) -> None:
    """`labels` copied to another output, or `runs` dropped: numbers start again, and Delta still
    has the old ones."""
    for i in range(2):
        for table in ("runs", "labels"):
            Tables(spark, str(tmp_path)).create(table)
        tables, lease = taken(spark, str(tmp_path))
        tables.append("labels", labels(spark, i, "a"))
        lease.end("ended", exit_code=0)
        spark.sql(f"DELETE FROM {tables.sql_name('runs')}")
        (tmp_path / "runs").rename(tmp_path / f"gone{i}")
    assert found(tables) == [(0, "a"), (1, "a")]


@pytest.mark.spark
@pytest.mark.draw("takeover")
@pytest.mark.parametrize("where", ["ledger", "plan", "rows"])
def test_a_run_that_stood_still_while_another_did_its_work_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """It pauses between a check of the lease and the commit, as a machine that is put to sleep
    does, and another run, of other files, begins and ends meanwhile, with the same batch number."""
    for name in "ab":
        write_warc(tmp_path / f"{name}.warc", pages(ord(name), 3))
    output = str(tmp_path / "out")
    target, method = {"plan": (Ledger, "record"), "rows": (FusedJob, "_write"), "ledger": (Ledger, "finish")}[where]
    go_on = getattr(target, method)
    outcomes = []

    def stand_still(*args: object, **named: object) -> object:
        monkeypatch.setattr(target, method, go_on)
        with monkeypatch.context() as patch:
            # It is of another machine, and silent.
            patch.setattr("dripper.spark.ledger.lease._at_work", set())
            outcomes.append(run(spark, f"{tmp_path}/b.warc", output, Settings()))
        return go_on(*args, **named)

    monkeypatch.setattr(target, method, stand_still)
    with pytest.raises(BusyError, match=LOST):
        run(spark, f"{tmp_path}/a.warc", output, Settings())
    assert outcomes[0].exit_code == 0
    rows = Tables(spark, output).read("extractions").select("warc_file", "batch").distinct().collect()
    ledger = Tables(spark, output).read("warc_files").select("warc_file", "batch", "state").collect()
    planned, done = (
        {(row["warc_file"], row["batch"]) for row in ledger if row["state"] == state} for state in ("planned", "done")
    )
    assert {tuple(row) for row in rows} - planned == done == {(f"{tmp_path}/b.warc", 1 if where == "plan" else 2)}
    assert run(spark, str(tmp_path), output, Settings()).exit_code == 0
    assert Tables(spark, output).read("extractions").count() == 6


def test_what_is_a_conflict() -> None:
    assert find_conflict(PySparkException("MetadataChangedException: the metadata was changed"))
    assert not find_conflict(PySparkException("no space left on device"))
    assert not find_conflict(ValueError("ConcurrentAppendException"))
