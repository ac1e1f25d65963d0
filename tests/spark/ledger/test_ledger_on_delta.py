"""The ledger on real Delta: its rows as they are stored, and an OPTIMIZE beside its commits."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import BatchSize, LedgerEntry, Plan, make_plan
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.spark.tables.counts import FileRows
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from support.ledgers import SIZE, files, report, states
from support.meanwhile import meanwhile, optimize

pytestmark = pytest.mark.spark

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    made = Tables(spark, str(tmp_path))
    made.create("warc_files")
    return made


@pytest.fixture
def books(spark: SparkSession, tables: Tables) -> SparkBooks:
    return SparkBooks(spark, tables)


@pytest.fixture
def ledger(books: SparkBooks) -> Ledger:
    return Ledger(books, "a run")


def test_from_planned_to_done(ledger: Ledger) -> None:
    assert set(ledger.counts().values()) == {0}
    planned = [PlannedFile("it's \\ a.warc", 5, "mtime:1"), PlannedFile("s3://b/k", None, path="s3a://b/k")]
    plan = make_plan(planned, ledger.entries(), SIZE)
    ledger.record(plan)
    assert ledger.entries() == [LedgerEntry(file, 1, "planned") for file in planned]
    reports = [
        report(planned[0].warc_file, version="mtime:2"),
        report("s3://b/k", error="no", error_kind="denied", size_bytes=None, pages=0, records=2),
    ]
    ledger.finish([(plan.fresh[0], reports)], NOW)
    first, second = ledger.entries()
    assert (first.file.version, first.state, first.pages) == ("mtime:2", "done", 1)
    assert (second.file.open_path, second.state, second.file.attempts) == ("s3a://b/k", "failed", 1)
    assert {name: count for name, count in ledger.counts().items() if count} == {
        "done": 1,
        "failed": 1,
        "records": 5,
        "pages": 1,
        "skipped": 4,
    }


def test_an_optimize_beside_a_run_fails_no_write(
    spark: SparkSession,
    tables: Tables,
    books: SparkBooks,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each of them reads or rewrites data files that are joined before it ends."""
    caplog.set_level("INFO", "dripper.spark.tables.fence")
    tables.create("runs")
    lease = Lease(books)
    lease.take()
    ledger.record(make_plan(files("a", "b"), [], BatchSize(1, 1 << 40)))
    again = Plan(fresh=(Batch(3, files("b")),), moved=(LedgerEntry(PlannedFile("b"), 2, "failed"),))
    writes: list[Callable[[], object]] = [
        lambda: ledger.finish([(Batch(2, files("b")), [report("b", error="x")])], NOW),
        lambda: ledger.isolate(Batch(1, files("a")), [["a"]]),
        lambda: ledger.dismiss(["b"]),
        lambda: ledger.record(again),
        lambda: ledger.set_aside(Batch(3, files("b")), "it crashed", NOW),
    ]
    amending = writes[2:4]
    for number, write in enumerate(writes, start=10):
        ledger.record(make_plan(files(f"more {number}"), [LedgerEntry(PlannedFile("z"), number, "done")], SIZE))
        with monkeypatch.context() as patch:
            join = lambda: optimize(spark, tables, "warc_files")  # noqa: E731
            source = "pairs" if write in amending else "frame"
            patch.setattr(books, source, meanwhile(getattr(books, source), join))
            write()
        assert "another commit was first" in caplog.text
        caplog.clear()
    assert (states(ledger)["a"][1:], states(ledger)["b"][:2]) == (("planned", 1, 1), (3, "set_aside"))
    lease.end("ended", exit_code=0)


def test_many_data_files_are_joined(tables: Tables, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.spark.tables.store.FILES_TO_JOIN", 2)
    ledger.record(make_plan(files("a"), [], SIZE))
    ledger.record(make_plan(files("b"), ledger.entries(), SIZE))
    before = states(ledger)
    tables.join_files("warc_files")
    assert len(tables.read("warc_files").inputFiles()) == 1
    assert states(ledger) == before


def test_what_a_person_writes_between_the_look_at_rows_and_their_change_is_kept(
    spark: SparkSession, tables: Tables, books: SparkBooks, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = tables.sql_name("warc_files")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (mine MAP<STRING, INT>, `it's` STRING)")
    ledger.record(make_plan(files("a", "b", "c"), [], SIZE))
    reports = [report("a"), report("b", error="x"), report("c", error="x")]
    ledger.finish([(Batch(1, files("a", "b", "c")), reports)], NOW)
    again = Plan(fresh=(Batch(2, files("b")),), moved=(LedgerEntry(PlannedFile("b"), 1, "failed"),))
    left = [(entry, FileRows()) for entry in ledger.entries() if entry.file.warc_file == "a"]
    writes: list[Callable[[], object]] = [
        lambda: ledger.dismiss(["c"]),
        lambda: ledger.record(again),
        lambda: ledger.forget(left, NOW),
        lambda: ledger.put_back(Batch(1, files("a", "c")), "labelled"),
    ]
    for number, write in enumerate(writes):
        looked: list[Any] = []

        def first(*args: Any, number: int = number, looked: list[Any] = looked) -> bool:
            if not looked:
                spark.sql(f"UPDATE {name} SET mine = map('n', {number}), `it's` = warc_file")
            looked.append(args)
            return SparkBooks.amend(books, *args)

        monkeypatch.setattr(books, "amend", first)
        write()
        assert len(looked) == 2
        rows = {row["warc_file"]: row for row in books.read("warc_files")}
        assert [(row["mine"], row["it's"]) for row in rows.values()] == [({"n": number}, key) for key in rows]
        entries = Ledger(books, "").entries()
        assert sorted(entries, key=repr) == sorted(ledger.entries(), key=repr)
    told = {key: (row["batch"], row["state"], row["pages"], row["skipped"]) for key, row in rows.items()}
    assert told == {
        "a": (1, "labelled", 0, {"status": 2, "forgotten": 1}),
        "b": (2, "planned", 1, {"status": 2}),
        "c": (1, "labelled", 1, {"status": 2}),
    }
