"""What runs in a task of the stage `extract`: rows of `pages` with their labels in, rows of
`extractions` out."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

import dripper
from dripper.config import HtmlSettings, LabelerSettings, LabelsSettings, MarkdownSettings, Settings
from dripper.errors import ErrorCode, PageError
from dripper.guard import Guard, GuardLimits, Watchdog
from dripper.html.metadata import Metadata
from dripper.html.tree.head import Hints
from dripper.labels import Labels
from dripper.labels.chain import name_substitute
from dripper.page.finish import Extraction, Finisher, Splits
from dripper.page.prepare import Prepared, prepare
from dripper.page.rows import Row, extraction_columns, storable
from dripper.spark.workers.read import ProgressSink, in_batches
from dripper.spark.workers.singleton import WorkerSingleton

_NO_LABELS = "the table labels has no row that fits the page's blocks"


def extractions_mapper(
    settings: Settings, schema: pa.Schema, progress: ProgressSink | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow` over the columns of `pages` and, of `labels`, those that
    LABEL_COLUMNS names."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        watchdog = Watchdog(settings.limits.stall_seconds, "extracting pages")
        return watchdog.watch(extract_batches(watchdog.rest(batches), watchdog))

    def extract_batches(batches: Iterable[pa.RecordBatch], watchdog: Watchdog) -> Iterator[pa.RecordBatch]:
        finisher = _finisher(settings.labeler, settings.labels, settings.html, settings.markdown)
        guard: Guard[Row, Extraction] = Guard(lambda row: finish(finisher, row), GuardLimits.of(settings.limits))
        with closing(guard):
            for batch in batches:
                rows = []
                for row in batch.to_pylist():
                    rows.append(_extraction_row(with_first_labels(row), guard))
                    watchdog.beat()
                yield from in_batches(rows, schema)
                if progress is not None:
                    progress.add({"extracted": len(rows)})

    return work


LABEL_COLUMNS = {
    "main": "main",
    "confidence": "label_confidence",
    "page_kind": "page_kind",
    "windows": "windows",
    "labeler": "labeler",
    "labeler_version": "labeler_version",
    "error_detail": "label_error",
    "method": "method",
    "layout_id": "layout",
}
"""Columns of `labels` that the stage reads, and the names under which they stand beside those of
`pages`."""


@WorkerSingleton
def _finisher(
    labeler: LabelerSettings, labels: LabelsSettings, html: HtmlSettings, markdown: MarkdownSettings
) -> Finisher:
    """The worker's model singleton (the fallback's), warm before any page process is forked, so
    that none loads it by itself."""
    finisher = Finisher(labeler, labels, html, markdown)
    page = prepare("<p>One short page.</p>")
    finisher.finish(Splits.of_prepared(page, "dripper"), Labels.certain(np.array([True])), "")
    return finisher


def finish(finisher: Finisher, row: Row) -> Extraction:
    """Return the second half of a page's way, from a row of `pages` that has blocks, with its
    labels."""
    page = Splits.of_prepared(prepared_of(row), row["profile"], row["url"])
    labels = labels_of(row)
    detail = row["label_error"] or (_NO_LABELS if labels is None else "")
    return finisher.finish(page, labels, row["labeler"] or "", detail)


def prepared_of(row: Row) -> Prepared:
    """Return what the first half kept of a page that has blocks. `source` is not among the columns
    where no fallback reads it."""
    told = row["metadata"]
    # Rows of an earlier release have null in it.
    ingredients = tuple(told.get("ingredients") or ())
    hints = Hints(tuple(told["types"]), told["description"], told["body"], row.get("base_href") or "", ingredients)
    return Prepared(
        title=row["title"],
        mapping_html=row["mapping_html"],
        texts=row["texts"],
        hints=hints,
        source=row.get("source"),
        metadata=Metadata.of_row(row.get("page_metadata")),
    )


def with_first_labels(row: Row) -> Row:
    """Return the row of a page with the labels of a chain's first labeler in place of those of the
    next, where that was not asked or marked nothing: as if it had been alone, but for `method`."""
    first, last = row.get("first_labels"), row["labeler"]
    if first is None or (_fits(row["main"], row) and any(row["main"])):
        return row
    return row | {
        "main": first["main"],
        "label_confidence": first["confidence"],
        "page_kind": first["page_kind"],
        "windows": 1,
        "labeler": first["labeler"],
        "labeler_version": first["labeler_version"],
        "method": name_substitute(first["method"], last) if last else first["method"],
    }


def _fits(main: Sequence[bool] | None, row: Row) -> bool:
    return main is not None and len(main) == row["n_blocks"]


def labels_of(row: Row) -> Labels | None:
    """Return the labels of a row; None where there are none that fit its blocks."""
    if not _fits(row["main"], row):
        return None
    main = np.array(row["main"], bool)
    confidence = math.nan if row["label_confidence"] is None else row["label_confidence"]
    return Labels(
        main, np.full(len(main), np.nan, np.float32), confidence, 0, row["windows"] or 1,
        method=row.get("method") or "", page_kind=row.get("page_kind"),
    )  # fmt: skip


def _extraction_row(row: Row, guard: Guard[Row, Extraction]) -> Row:
    if row["error_code"] is not None:
        extraction = Extraction(error_code=ErrorCode(row["error_code"]), error_detail=row["error_detail"])
    else:
        try:
            extraction = guard.call(row)
        except PageError as error:
            extraction = Extraction(error_code=error.code, error_detail=error.detail or None)
    versions: dict[str, Any] = {
        "dripper": dripper.__version__,
        "profile": row["profile"],
        "labeler": row["labeler"],
        "labeler_version": row["labeler_version"],
    }
    layout = {"layout_id": row.get("layout") or row.get("layout_id")}
    # What the stage read and does not name again (address, place in the archive, …) goes over as it
    # is.
    return storable(row | extraction_columns(extraction) | {"versions": versions} | layout)
