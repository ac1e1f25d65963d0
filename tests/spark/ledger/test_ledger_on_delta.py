"""The ledger on real Delta: its rows as stored, and an OPTIMIZE during its commits."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import LedgerEntry, Plan, make_plan
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
    ledger.finish([(plan.fresh[0], reports, NOW)])
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


AGAIN = Plan(fresh=(Batch(2, files("b")),), moved=(LedgerEntry(PlannedFile("b"), 1, "failed"),))
WRITES: dict[str, tuple[Callable[[Ledger], object], str, str]] = {
    "finish": (lambda ledger: ledger.finish([(Batch(1, files("a")), [report("a")], NOW)]), "a", "done"),
    "isolate": (lambda ledger: ledger.isolate(Batch(1, files("a")), [["a"]]), "a", "planned"),
    "dismiss": (lambda ledger: ledger.dismiss(["b"]), "b", "dismissed"),
    "record": (lambda ledger: ledger.record(AGAIN), "b", "planned"),
    "set aside": (lambda ledger: ledger.set_aside(Batch(1, files("a")), "it crashed", NOW), "a", "set_aside"),
}
"""The writer, its file, and the new state of this file."""


@pytest.mark.draw("beside a run")
@pytest.mark.parametrize("how", WRITES)
def test_an_optimize_beside_a_run_fails_no_write(
    spark: SparkSession,
    tables: Tables,
    books: SparkBooks,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    how: str,
) -> None:
    """It reads or rewrites data files that are joined before it ends."""
    caplog.set_level("INFO", "dripper.spark.tables.fence")
    write, name, state = WRITES[how]
    tables.create("runs")
    lease = Lease(books)
    lease.take()
    ledger.record(make_plan(files("a", "b"), [], SIZE))
    ledger.finish([(Batch(1, files("b")), [report("b", error="x")], NOW)])
    ledger.record(make_plan(files("c"), ledger.entries(), SIZE))
    source = "pairs" if how in ("dismiss", "record") else "frame"
    with monkeypatch.context() as patch:
        join = lambda: optimize(spark, tables, "warc_files")  # noqa: E731
        patch.setattr(books, source, meanwhile(getattr(books, source), join))
        write(ledger)
    assert "another commit was first" in caplog.text
    assert states(Ledger(books, ""))[name][1] == states(ledger)[name][1] == state
    lease.end("ended", exit_code=0)


def test_many_data_files_are_joined(tables: Tables, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.spark.tables.store.FILES_TO_JOIN", 2)
    ledger.record(make_plan(files("a"), [], SIZE))
    ledger.record(make_plan(files("b"), ledger.entries(), SIZE))
    before = states(ledger)
    tables.join_files("warc_files")
    assert len(tables.read("warc_files").inputFiles()) == 1
    assert states(ledger) == before


CHANGES: dict[str, tuple[Callable[[Ledger], object], str, tuple[object, ...]]] = {
    "dismiss": (lambda ledger: ledger.dismiss(["b"]), "b", (1, "dismissed", 1, {"status": 2})),
    "record": (lambda ledger: ledger.record(AGAIN), "b", (2, "planned", 1, {"status": 2})),
    "forget": (
        lambda ledger: ledger.forget([(ledger.entries()[0], FileRows())], NOW),
        "a",
        (1, "done", 0, {"status": 2, "forgotten": 1}),
    ),
    "put back": (
        lambda ledger: ledger.put_back(Batch(1, files("a", "b")), "labelled"),
        "a",
        (1, "labelled", 1, {"status": 2}),
    ),
}


@pytest.mark.draw("beside a run")
@pytest.mark.parametrize("how", CHANGES)
def test_what_a_person_writes_between_the_look_at_rows_and_their_change_is_kept(
    spark: SparkSession, tables: Tables, books: SparkBooks, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    change, file, told = CHANGES[how]
    name = tables.sql_name("warc_files")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (mine MAP<STRING, INT>, `it's` STRING)")
    ledger.record(make_plan(files("a", "b"), [], SIZE))
    ledger.finish([(Batch(1, files("a", "b")), [report("a"), report("b", error="x")], NOW)])
    looked: list[Any] = []

    def first(*args: Any) -> bool:
        if not looked:
            spark.sql(f"UPDATE {name} SET mine = map('n', 7), `it's` = warc_file")
        looked.append(args)
        return SparkBooks.amend(books, *args)

    monkeypatch.setattr(books, "amend", first)
    change(ledger)
    assert len(looked) == 2
    rows = {row["warc_file"]: row for row in books.read("warc_files")}
    assert [(row["mine"], row["it's"]) for row in rows.values()] == [({"n": 7}, key) for key in rows]
    assert sorted(Ledger(books, "").entries(), key=repr) == sorted(ledger.entries(), key=repr)
    assert tuple(rows[file][column] for column in ("batch", "state", "pages", "skipped")) == told
