"""A batch is whole, or it is written again: every way to lose or double a row is seen."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from dripper.spark.run.batch_checks import (
    check_rows,
    join_file_reports,
    match_reports_to_count,
    match_reports_to_rows,
    write_until_whole,
)
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.spark.tables.row_keys import WrongRowsError, page_key
from dripper.spark.tables.store import Tables
from dripper.warc import FileReport

pytestmark = pytest.mark.spark

IDS = [f"{i:x}" * 32 for i in range(1, 10)]
BATCH = Batch(1, (PlannedFile("x"), PlannedFile("y")))
COLUMNS = "page_id string, warc_file string, batch bigint, error_code string, method string"


def rows(spark: SparkSession, **files: list[str]) -> DataFrame:
    made = [
        (i, name, 1, "empty_page" if i == IDS[1] else None, "fallback:cpu") for name, ids in files.items() for i in ids
    ]
    return spark.createDataFrame(made, COLUMNS)


def told(name: str, ids: list[str], **more: Any) -> dict[str, Any]:
    counted = {"records": len(ids) + 2, "pages": len(ids), "skipped": {"status": 2}}
    times = {"task_ms": 100 + len(ids), "slowest_page": {"page_id": max(ids), "ms": 7} if ids else None}
    errors = {"empty_page": 1} if IDS[1] in ids else {}
    closing = {"page_keys": sum(map(page_key, ids)), "span": [0, None], "errors": errors}
    closing |= {"methods": {"fallback:cpu": len(ids)} if ids else {}, "grades": {}}
    return asdict(FileReport(name)) | closing | times | counted | more


X, Y = told("x", IDS[:2]), told("y", [])


def test_what_was_told_and_written_agrees(spark: SparkSession) -> None:
    first, second = match_reports_to_rows(BATCH, [X, Y], rows(spark, x=IDS[:2]))
    assert (first["rows"], first["failed_pages"], first["fallback_pages"], first["errors"]) == (2, 1, 2, ["empty_page"])
    assert (second["rows"], second["errors"]) == (0, [])


def test_what_was_told_alone_says_what_the_rows_do(spark: SparkSession) -> None:
    for reports in ([X, Y], [SECOND, FIRST, Y]):
        assert match_reports_to_count(BATCH, reports, 2) == match_reports_to_rows(
            BATCH, reports, rows(spark, x=IDS[:2])
        )


@pytest.mark.parametrize(
    ("reports", "n_rows"), [([0, 1], 3), ([0, 1], 1), ([0, 1], None), ([0, 0, 1], 4), ([0, 0, 1], 2)]
)
def test_rows_are_looked_at_where_the_commit_has_others_or_a_file_was_told_twice(
    reports: list[int], n_rows: int | None
) -> None:
    assert match_reports_to_count(BATCH, [(X, Y)[i] for i in reports], n_rows) is None


def test_a_file_of_which_nothing_was_told_is_missed_by_what_was_told_alone() -> None:
    with pytest.raises(WrongRowsError, match="y: nothing was reported of it"):
        match_reports_to_count(BATCH, [X], 2)


def test_a_file_told_twice_is_one_report_that_fits_the_rows(spark: SparkSession) -> None:
    """As after the loss of an executor: its tasks run again, here with another outcome."""
    other = told("x", IDS[:1])
    for reports in ([X, other, Y], [other, X, Y], [X, X, Y, Y]):
        found = match_reports_to_rows(BATCH, reports, rows(spark, x=IDS[:2]))
        assert [(report["warc_file"], report["pages"]) for report in found] == [("x", 2), ("y", 0)]


FIRST, SECOND = told("x", IDS[:1], span=[0, 50]), told("x", IDS[1:2], span=[50, None])


def test_the_reports_of_parts_are_one_in_whatever_order_they_come(spark: SparkSession) -> None:
    other = told("x", IDS[1:3], span=[50, None])
    for reports in ([FIRST, SECOND], [SECOND, FIRST], [FIRST, other, SECOND, FIRST]):
        report, _ = match_reports_to_rows(BATCH, [*reports, Y], rows(spark, x=IDS[:2]))
        assert (report["pages"], report["records"], report["skipped"]) == (2, 6, {"status": 4})
        assert report["page_keys"] == X["page_keys"]
        assert (report["task_ms"], report["slowest_page"]) == (202, {"page_id": IDS[1], "ms": 7})


def test_a_span_that_took_longer_the_second_time_is_no_other_outcome() -> None:
    """If times counted, eight spans reported twice would give 256 combinations for a file."""
    assert len(join_file_reports("x", [FIRST, SECOND, FIRST | {"task_ms": 999}, SECOND | {"slowest_page": None}])) == 1


LOST_OR_DOUBLED: list[tuple[list[dict[str, Any]], dict[str, list[str]], str]] = [
    ([X, Y], {"x": IDS[:1]}, "x: 2 pages were read, and 1 rows are not the same"),
    ([X, Y], {"x": IDS[:3]}, "x: 2 pages were read, and 3 rows are not the same"),
    ([X, Y], {"x": [IDS[0], IDS[0]]}, "x: 2 pages were read, and 2 rows are not the same"),
    ([X, Y], {"x": IDS[1:3]}, "x: 2 pages were read, and 2 rows are not the same"),
    ([X, Y], {"x": IDS[:2], "y": IDS[3:4]}, "y: 0 pages were read, and 1 rows are not the same"),
    ([X], {"x": IDS[:2]}, "y: nothing was reported of it"),
    ([X, Y], {"x": IDS[:2], "z": IDS[3:4]}, "rows of z, which is not a file of the batch"),
    ([SECOND, Y], {"x": IDS[:2]}, "x: nothing was reported of it"),
    ([FIRST, Y], {"x": IDS[:2]}, "x: nothing was reported of it from byte 50 on"),
    ([X | {"records": 9}, Y], {"x": IDS[:2]}, "x: 9 records were seen, and not all are pages or skipped"),
]


@pytest.mark.parametrize(("reports", "written", "words"), LOST_OR_DOUBLED)
def test_a_page_lost_or_doubled_is_seen(
    spark: SparkSession, reports: list[dict[str, Any]], written: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(WrongRowsError, match=words):
        match_reports_to_rows(BATCH, reports, rows(spark, **written))


def test_a_row_lost_between_tables_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    rows(spark, x=IDS[:3]).write.format("delta").save(str(tmp_path / "blocks"))
    check_rows(tables, "blocks", BATCH, rows(spark, x=IDS[:1], y=IDS[1:3]))
    for other in ([], IDS[:2], IDS[:4], [*IDS[:2], IDS[1]], IDS[1:4]):
        with pytest.raises(WrongRowsError, match=f"{len(other)} pages went into the table blocks, and its 3 rows"):
            check_rows(tables, "blocks", BATCH, rows(spark, x=list(other)))


def test_a_batch_is_written_again_until_it_is_whole() -> None:
    calls: list[int] = []

    def do() -> None:
        calls.append(1)
        if len(calls) < 3:
            raise WrongRowsError("a row is missing")

    write_until_whole(do, BATCH, lambda: False, lambda: None)
    assert len(calls) == 3
    calls.clear()
    with pytest.raises(WrongRowsError):
        write_until_whole(do, BATCH, lambda: True, lambda: None)
    assert len(calls) == 1
