"""The ledger on real Delta: planned, finished, failed, tried again, given up."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import Batch, BatchSize, LedgerEntry, Plan, PlannedFile, make_plan
from dripper.spark.tables.store import Tables
from support.meanwhile import meanwhile, optimize

pytestmark = pytest.mark.spark

SIZE = BatchSize(10, 1 << 40)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def report(name: str, **more: Any) -> dict[str, Any]:
    zero = {"size_bytes": 5, "bytes_read": 5, "records": 3, "pages": 1, "failed_pages": 0, "skipped": {"status": 2}}
    more = {"error_kind": "gone"} | more if "error" in more else more
    zero |= {"version": None, "error_kind": None, "clipped": False, "problems": [], "n_problems": 0, "error": None}
    return zero | {"warc_file": name} | more


def files(*names: str) -> tuple[PlannedFile, ...]:
    return tuple(PlannedFile(name, 5) for name in names)


def states(ledger: Ledger) -> dict[str, tuple[int, str, int, int | None]]:
    return {e.file.warc_file: (e.batch, e.state, e.file.attempts, e.file.replaces) for e in ledger.entries()}


@pytest.fixture
def ledger(spark: SparkSession, tmp_path: Path) -> Ledger:
    tables = Tables(spark, str(tmp_path))
    tables.create("warc_files")
    return Ledger(spark, tables, "a run")


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
    ledger.finish(plan.fresh[0], reports, NOW)
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


def test_a_file_that_failed_leaves_its_batch_and_is_given_up_in_the_end(ledger: Ledger) -> None:
    ledger.record(make_plan(files("gone", "good"), [], SIZE))
    ledger.finish(Batch(1, files("gone", "good")), [report("gone", error="x"), report("good")], NOW)
    for batch, attempts in ((2, 1), (3, 2)):
        plan = make_plan(files("gone", "good"), ledger.entries(), SIZE)
        assert [(b.number, b.files[0].attempts, b.files[0].replaces) for b in plan.fresh] == [
            (batch, attempts, batch - 1)
        ]
        ledger.record(plan)
        assert states(ledger) == {"good": (1, "done", 0, None), "gone": (batch, "planned", attempts, batch - 1)}
        ledger.finish(plan.fresh[0], [report("gone", error="x")], NOW)
    assert states(ledger)["gone"] == (3, "set_aside", 3, None)
    plan = make_plan(files("gone", "good"), ledger.entries(), SIZE)
    assert (plan.fresh, plan.n_done, plan.set_aside) == ((), 2, ("gone",))
    ledger.dismiss(["gone", "good"])
    assert {name: state for name, (_, state, _, _) in states(ledger).items()} == {"good": "done", "gone": "dismissed"}
    assert make_plan(files("gone", "good"), ledger.entries(), SIZE).set_aside == ()


def test_an_optimize_beside_a_run_fails_no_write(
    spark: SparkSession, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each of them reads or rewrites data files that are joined before it ends."""
    caplog.set_level("INFO", "dripper.spark.tables.fence")
    tables = ledger._tables
    tables.create("runs")
    lease = Lease(spark, tables)
    lease.take()
    ledger.record(make_plan(files("a", "b"), [], BatchSize(1, 1 << 40)))
    again = Plan(fresh=(Batch(3, files("b")),), moved=(LedgerEntry(PlannedFile("b"), 2, "failed"),))
    writes: list[Callable[[], object]] = [
        lambda: ledger.finish(Batch(2, files("b")), [report("b", error="x")], NOW),
        lambda: ledger.isolate(Batch(1, files("a")), [["a"]]),
        lambda: ledger.dismiss(["b"]),
        lambda: ledger.record(again),
        lambda: ledger.set_aside(Batch(3, files("b")), "it crashed", NOW),
    ]
    for number, write in enumerate(writes, start=10):
        ledger.record(make_plan(files(f"more {number}"), [LedgerEntry(PlannedFile("z"), number, "done")], SIZE))
        with monkeypatch.context() as patch:
            join = lambda: optimize(spark, tables, "warc_files")  # noqa: E731
            patch.setattr(ledger, "_frame", meanwhile(ledger._frame, join))
            write()
        assert "another commit was first" in caplog.text
        caplog.clear()
    assert (states(ledger)["a"][1:], states(ledger)["b"][:2]) == (("planned", 1, 1), (3, "set_aside"))
    lease.end("ended", exit_code=0)


def test_an_outage_is_on_no_files_account(ledger: Ledger) -> None:
    ledger.record(make_plan(files("a", "b"), [], SIZE))
    ledger.finish(Batch(1, files("a", "b")), [report(n, error="x", error_kind="denied", pages=0) for n in "ab"], NOW)
    assert states(ledger) == dict.fromkeys("ab", (1, "failed", 0, None))


def test_suspects_get_batches_of_their_own(ledger: Ledger) -> None:
    plan = make_plan(files("a", "b", "c", "d"), ledger.entries(), SIZE)
    ledger.record(plan)
    rest, first, second = ledger.isolate(plan.fresh[0], [["b"], ["c", "d"]])
    assert [tuple(file.warc_file for file in batch.files) for batch in (rest, first, second)] == [
        ("a",),
        ("b",),
        ("c", "d"),
    ]
    assert states(ledger) == {
        "a": (1, "planned", 0, None),
        "b": (2, "planned", 1, 1),
        "c": (3, "planned", 0, 1),
        "d": (3, "planned", 0, 1),
    }
    ledger.set_aside(first, "it killed its worker", NOW)
    assert states(ledger)["b"] == (2, "set_aside", 1, None)
    assert ledger.reports(first)[0]["error_kind"] == "crashed"


def test_many_data_files_are_joined(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.spark.ledger.ledger._FILES_TO_COMPACT", 2)
    ledger.record(make_plan(files("a"), [], SIZE))
    ledger.record(make_plan(files("b"), ledger.entries(), SIZE))
    before = states(ledger)
    ledger.compact()
    assert len(ledger._tables.read("warc_files").inputFiles()) == 1
    assert states(ledger) == before
