"""The ledger on real Delta: planned, finished, failed, tried again."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.spark.ledger import Ledger
from dripper.spark.plan import Batch, BatchSize, PlannedFile, make_plan
from dripper.spark.run import open_tables

pytestmark = pytest.mark.spark

SIZE = BatchSize(10, 1 << 40)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def report(name: str, **more: Any) -> dict[str, Any]:
    zero = {"size_bytes": 5, "bytes_read": 5, "records": 3, "pages": 1, "failed_pages": 0, "skipped": {"status": 2}}
    return zero | {"warc_file": name, "clipped": False, "problems": [], "n_problems": 0, "error": None} | more


@pytest.fixture
def ledger(spark: SparkSession, tmp_path: Path) -> Ledger:
    tables, _ = open_tables(spark, str(tmp_path))
    return Ledger(spark, tables)


def test_from_planned_to_done(ledger: Ledger) -> None:
    files = [PlannedFile("it's \\ a.warc", 5), PlannedFile("b", None)]
    plan = make_plan(files, ledger.entries(), SIZE)
    ledger.record(plan)
    assert {(e.file, e.batch, e.state) for e in ledger.entries()} == {(file, 1, "planned") for file in files}
    ledger.finish(plan.fresh[0], [report(files[0].warc_file), report("b", error="gone", size_bytes=None)], NOW)
    assert {(e.file.warc_file, e.state) for e in ledger.entries()} == {(files[0].warc_file, "done"), ("b", "failed")}
    assert ledger.counts() == {
        "planned": 0,
        "preprocessed": 0,
        "labelled": 0,
        "done": 1,
        "failed": 1,
        "records": 6,
        "pages": 2,
        "failed_pages": 0,
        "skipped": 4,
    }


def test_a_failed_file_leaves_its_batch(ledger: Ledger) -> None:
    names = ["it's", "good"]
    ledger.finish(Batch(1, tuple(PlannedFile(n, 1) for n in names)), [report("it's", error="x"), report("good")], NOW)
    plan = make_plan([PlannedFile(name, 1) for name in names], ledger.entries(), SIZE)
    ledger.record(plan)
    assert {(e.file.warc_file, e.batch, e.state) for e in ledger.entries()} == {
        ("good", 1, "done"),
        ("it's", 2, "planned"),
    }


def test_an_empty_ledger_counts_nothing(ledger: Ledger) -> None:
    assert set(ledger.counts().values()) == {0}
