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


def written(spark: SparkSession, folder: Path, batch: int = 1, **rows: Rows) -> Tables:
    tables = Tables(spark, str(folder))
    for name, schema in SCHEMAS.items():
        if name in rows:
            tables.create(name)
            frame = spark.createDataFrame([filled(schema, row | {"batch": batch}) for row in rows[name]], schema)
            tables.replace_batch(name, frame, batch)
    return tables


def ids(*names: str, **more: Any) -> Rows:
    return [{"page_id": name, **more} for name in names]


COUNTED = Totals(records=5, pages=3, rows=3, skipped={"status": 2})


@pytest.mark.spark
def test_whole_tables_close(spark: SparkSession, tmp_path: Path) -> None:
    tables = written(spark, tmp_path, extractions=ids("a", "b", "c"))
    assert unclosed(tables, COUNTED, [1]) == []
    assert unclosed(tables, COUNTED, []) == []


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rows", "totals", "words"),
    [
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
    ],
)
def test_a_page_lost_or_doubled_is_told(
    spark: SparkSession, tmp_path: Path, rows: tuple[str, ...], totals: Totals, words: str
) -> None:
    tables = written(spark, tmp_path, extractions=ids(*rows))
    assert unclosed(tables, totals, [1]) == [f"{words}: please report this, with the versions of Spark and Delta"]


@pytest.mark.spark
def test_rows_of_other_batches_do_not_count(spark: SparkSession, tmp_path: Path) -> None:
    tables = written(spark, tmp_path, extractions=ids("a", "b", "c"))
    written(spark, tmp_path, batch=2, extractions=ids("d"))
    assert unclosed(tables, COUNTED, [1]) == []
    assert unclosed(tables, COUNTED, [1, 2]) != []


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


@pytest.mark.spark
def test_whole_stages_close(spark: SparkSession, tmp_path: Path) -> None:
    tables = written(spark, tmp_path, **WHOLE)
    assert unclosed_stages(tables, STAGES, [1]) == []
    assert unclosed_stages(tables, STAGES, []) == []


@pytest.mark.spark
@pytest.mark.parametrize(
    ("table", "rows", "stage", "words"),
    [
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
    ],
)
def test_a_row_lost_between_stages_is_told(
    spark: SparkSession, tmp_path: Path, table: str, rows: Rows, stage: str, words: str
) -> None:
    tables = written(spark, tmp_path, **(WHOLE | {table: rows}))
    assert unclosed_stages(tables, [stage], [1]) == [
        f"{words}: please report this, with the versions of Spark and Delta"
    ]


def test_what_failed_is_told_with_what_to_do() -> None:
    assert unfinished(Totals()) == []
    told = unfinished(Totals(failed_files=2, failed_batches={7: "ValueError: no", 9: "OSError: disk"}))
    assert [sentence.split("(")[0] for sentence in told[:2]] == ["batch 7 failed ", "batch 9 failed "]
    assert "ValueError: no); run the same command again" in told[0]
    assert told[2].startswith("2 files could not be read to their end: see the column `error` of warc_files")
