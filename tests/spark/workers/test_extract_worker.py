"""The stage `extract` without Spark: rows of pages with labels in, rows of extractions out."""

from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructField, StructType

from dripper.errors import ErrorCode
from dripper.html import preprocess
from dripper.labels.config import load
from dripper.page.rows import record_columns
from dripper.page.stages import Preprocessed, labels_of, preprocess_page, preprocessed_columns
from dripper.settings import Settings
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import EXTRACTIONS
from dripper.spark.workers.extract import extractions_mapper
from dripper.warc import Record
from support.warcs import page

SCHEMA = arrow_schema(StructType([StructField(field.name, field.dataType) for field in EXTRACTIONS]))
NO_LABELS = dict.fromkeys(
    ("main", "label_confidence", "page_kind", "windows", "labeler", "labeler_version", "label_error")
)


def joined(preprocessed: Preprocessed, **labels: Any) -> dict[str, Any]:
    """A row of `pages`, joined with one of `labels`."""
    url, body = page(1)
    record = Record("0" * 32, url, "a.warc", 5, 700, None, 200, "text/html", body, "sha256:00")
    return (
        record_columns(record, 7)
        | preprocessed_columns(preprocessed, "dripper")
        | NO_LABELS
        | {"labeler": "lm", "labeler_version": "3"}
        | labels
    )


def extracted(*rows: dict[str, Any], settings: Settings | None = None) -> list[dict[str, Any]]:
    """The rows, with the same input in one Arrow batch and in several: Spark limits a batch by its
    rows or by its bytes, depending on its version."""
    mapper = extractions_mapper(settings or load(assignments=["labeler.fallback=body"]), SCHEMA, None)
    names = sorted(rows[0])
    batch = pa.RecordBatch.from_pylist([{name: row[name] for name in names} for row in rows])
    found = [row for out in mapper([batch]) for row in out.to_pylist()]
    if len(rows) > 1:
        parts = mapper([batch.slice(number, 1) for number in range(len(rows))])
        assert [row for out in parts for row in out.to_pylist()] == found
    return found


def test_labels_cut_the_page() -> None:
    preprocessed = preprocess_page(page(1)[1], "text/html", None)
    main = ["Paragraph" in block.text for block in preprocess(preprocessed.source).blocks]
    row = extracted(joined(preprocessed, main=main, windows=2, label_confidence=0.75, page_kind="forum"))[0]
    assert row["markdown"].count("ferry leaves the harbour") == 6
    assert (row["n_main"], row["n_blocks"], row["title"]) == (6, len(main), "Article 1")
    assert (row["method"], row["confidence"], row["language"]) == ("lm:windowed", 0.75, "en")
    assert row["page_kind"] == "forum"
    assert row["versions"]["labeler"] == "lm"
    record = record_columns(Record("0" * 32, "u", "a.warc", 5, 700, None, 200, None, b"", ""), 7)
    assert {
        "page_id": row["page_id"],
        "batch": row["batch"],
        "warc_offset": row["warc_offset"],
    }.items() <= record.items()


def test_pages_without_labels_that_fit_go_to_the_fallback() -> None:
    preprocessed = preprocess_page(page(1)[1], "text/html", None)
    missing, unlike = joined(preprocessed, labeler=None), joined(preprocessed, main=[True])
    assert [row["method"] for row in extracted(missing, unlike)] == ["fallback:body", "fallback:body"]
    row = extracted(missing, settings=load(assignments=["labeler.fallback=empty"]))[0]
    assert (row["error_code"], row["error_detail"]) == (
        "labeler_failed",
        "the table labels has no row that fits the page's blocks",
    )
    failed = joined(preprocessed, label_error="RuntimeError: x")
    assert (
        extracted(failed, settings=load(assignments=["labeler.fallback=empty"]))[0]["error_detail"] == "RuntimeError: x"
    )


def test_error_pages_stay_error_rows() -> None:
    preprocessed = Preprocessed(charset="utf-8", error_code=ErrorCode.EMPTY_PAGE, error_detail="no visible text")
    row = extracted(joined(preprocessed, labeler=None))[0]
    assert (row["error_code"], row["error_detail"], row["charset"]) == ("empty_page", "no visible text", "utf-8")
    assert (row["main_html"], row["markdown"], row["n_blocks"], row["method"]) == (None, None, None, None)


def test_a_page_over_its_limit_is_an_error_row_and_the_next_goes_on() -> None:
    # 400,000 paragraphs were parsed within 64 MB and 1 s if the parent had freed memory that the
    # child could fill again.
    many = 4_000_000
    heavy = Preprocessed(source="<p>x" * many, n_blocks=1)
    rows = extracted(
        joined(heavy, main=[True]),
        joined(preprocess_page("<p>good", None, None), main=[True]),
        settings=load(assignments=["limits.page_memory_bytes=67108864", "limits.page_cpu_seconds=1"]),
    )
    assert rows[0]["error_code"] in ("memory_limit", "time_limit")
    assert rows[1]["markdown"] == "good\n"


def test_labels_are_read_back() -> None:
    labels = labels_of(
        {"main": [True, False], "n_blocks": 2, "label_confidence": None, "page_kind": None, "windows": None}
    )
    assert labels is not None
    assert (labels.main.tolist(), labels.windows) == ([True, False], 1)
