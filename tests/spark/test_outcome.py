"""The closing counts: they hold over whole tables, and every way to lose or double a row is told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, IntegerType, LongType, MapType, StringType, StructType

from dripper.spark.outcome import unclosed, unclosed_stages, unfinished
from dripper.spark.schemas import BLOCKS, EXTRACTIONS, LABELS, PAGES, WARC_FILES
from dripper.spark.tables import Tables
from dripper.spark.totals import Totals

SCHEMAS = {"pages": PAGES, "blocks": BLOCKS, "labels": LABELS, "extractions": EXTRACTIONS, "warc_files": WARC_FILES}
EMPTY = {StringType: "", LongType: 0, IntegerType: 0, MapType: {}, ArrayType: []}
Rows = Sequence[dict[str, Any]]


def filled(schema: StructType, row: dict[str, Any]) -> tuple[Any, ...]:
    """A row of a table: what the test says, nothing in the other columns, where nothing is allowed."""
    return tuple(row.get(f.name, None if f.nullable else EMPTY[type(f.dataType)]) for f in schema)


def written(spark: SparkSession, folder: Path, *batches: dict[str, Rows]) -> Tables:
    """Tables that hold batch 1, 2, … of what they are given: one commit a table, as a commit takes a second."""
    tables = Tables(spark, str(folder))
    for name, schema in SCHEMAS.items():
        rows = [row | {"batch": number} for number, given in enumerate(batches, 1) for row in given.get(name, ())]
        if any(name in given for given in batches):
            tables.create(name)
            frame = spark.createDataFrame([filled(schema, row) for row in rows], schema)
            frame.write.format("delta").mode("append").save(f"{folder}/{name}")
    return tables


def ids(*names: str, **more: Any) -> Rows:
    return [{"page_id": name, **more} for name in names]


REPORT_THIS = "please report this, with the versions of Spark and Delta"
COUNTED = Totals(records=5, pages=3, rows=3, skipped={"status": 2})


LOST_OR_DOUBLED = [
    (("a", "b"), COUNTED, "3 pages were read, but the table has 2 rows of 2 pages"),
    (("a", "b", "c", "d"), COUNTED, "3 pages were read, but the table has 4 rows of 4 pages"),
    (("a", "b", "b"), COUNTED, "3 pages were read, but the table has 3 rows of 2 pages"),
    (
        ("a", "b", "c"),
        Totals(records=5, pages=3, rows=2, skipped={"status": 2}),
        "3 pages were read, but the table has 3 rows of 3 pages",
    ),
    (
        ("a", "b", "c"),
        Totals(records=6, pages=3, rows=3, skipped={"status": 1, "empty": 1}),
        "6 records were seen, but 3 pages and 2 skipped were counted",
    ),
]


@pytest.mark.spark
def test_a_page_lost_or_doubled_is_told(spark: SparkSession, tmp_path: Path) -> None:
    batches = [{"extractions": ids(*rows)} for rows, _, _ in LOST_OR_DOUBLED]
    tables = written(spark, tmp_path, *batches, {"extractions": ids("a", "b", "c")})
    for number, (_, totals, words) in enumerate(LOST_OR_DOUBLED, 1):
        assert unclosed(tables, totals, [number]) == [f"{words}: {REPORT_THIS}"]
    whole = len(batches) + 1
    assert unclosed(tables, COUNTED, [whole]) == []
    assert unclosed(tables, COUNTED, []) == []
    assert unclosed(tables, COUNTED, [1, whole]) != []


LEDGER = [
    {"warc_file": "x", "records": 4, "pages": 2, "skipped": {"status": 2}},
    {"warc_file": "y", "records": 1, "pages": 1},
]
WHOLE: dict[str, Rows] = {
    "warc_files": LEDGER,
    "pages": [*ids("a", "b"), *ids("c", error_code="empty_page")],
    "blocks": ids("a", "b"),
    "labels": ids("a", "b"),
    "extractions": ids("a", "b", "c"),
}
STAGES = ("preprocess", "label", "extract")


LOST_BETWEEN_STAGES = [
    ("pages", ids("a", "b"), "preprocess", "3 pages went into the table pages, but it has 2 rows of 2 pages"),
    ("blocks", ids("a"), "preprocess", "2 pages went into the table blocks, but it has 1 rows of 1 pages"),
    ("labels", ids("a", "a"), "label", "2 pages went into the table labels, but it has 2 rows of 1 pages"),
    ("labels", [], "label", "2 pages went into the table labels, but it has 0 rows of 0 pages"),
    (
        "extractions",
        ids("a", "c"),
        "extract",
        "3 pages went into the table extractions, but it has 2 rows of 2 pages",
    ),
    ("warc_files", LEDGER[:1], "preprocess", "2 pages went into the table pages, but it has 3 rows of 3 pages"),
    (
        "warc_files",
        [LEDGER[0] | {"records": 9}, LEDGER[1]],
        "label",
        "10 records were seen, but 3 pages and 2 skipped were counted",
    ),
]


@pytest.mark.spark
def test_a_row_lost_between_stages_is_told(spark: SparkSession, tmp_path: Path) -> None:
    tables = written(spark, tmp_path, *(WHOLE | {table: rows} for table, rows, _, _ in LOST_BETWEEN_STAGES), WHOLE)
    for number, (_, _, stage, words) in enumerate(LOST_BETWEEN_STAGES, 1):
        assert unclosed_stages(tables, [stage], [number]) == [f"{words}: {REPORT_THIS}"]
    assert unclosed_stages(tables, STAGES, [len(LOST_BETWEEN_STAGES) + 1]) == []
    assert unclosed_stages(tables, STAGES, []) == []


def test_what_failed_is_told_with_what_to_do() -> None:
    assert unfinished(Totals()) == []
    told = unfinished(Totals(failed_files=2, failed_batches={7: "ValueError: no", 9: "OSError: disk"}))
    assert [sentence.split("(")[0] for sentence in told[:2]] == ["batch 7 failed ", "batch 9 failed "]
    assert "ValueError: no); run the same command again" in told[0]
    assert told[2].startswith("2 files could not be read to their end: see the column `error` of warc_files")
