"""Code for tasks of the `extract` stage: turns rows of `pages` and labels into `extractions`."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

import dripper
from dripper.errors import ErrorCode, PageError
from dripper.guard import Guard, GuardLimits, Watchdog
from dripper.labels import Labels
from dripper.page.finish import Extraction, Finisher
from dripper.page.rows import Row, extraction_columns, is_whole, storable
from dripper.page.split import Decoded
from dripper.page.stages import finish_row, with_first_labels
from dripper.settings import Settings, name_rules
from dripper.spark.workers.read import ProgressSink, in_batches
from dripper.spark.workers.singleton import WorkerSingleton


def extractions_mapper(
    settings: Settings, schema: pa.Schema, progress: ProgressSink | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow`.

    Its input has the columns of `pages` and the columns of `labels` in LABEL_COLUMNS.
    """

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        watchdog = Watchdog(settings.limits.stall_seconds, "extracting pages")
        return watchdog.watch(extract_batches(watchdog.rest(batches), watchdog))

    def extract_batches(batches: Iterable[pa.RecordBatch], watchdog: Watchdog) -> Iterator[pa.RecordBatch]:
        finisher = _finisher(settings)
        guard: Guard[Row, Extraction] = Guard(lambda row: finish_row(finisher, row), GuardLimits.of(settings.limits))
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
"""Columns of `labels` that the stage reads → their names after the join with `pages`."""


@WorkerSingleton
def _finisher(settings: Settings) -> Finisher:
    """Return this worker's `Finisher` singleton, after it has loaded the model of the fallback.

    Page processes that are forked later do not load the model again.
    """
    finisher = Finisher(settings)
    labels = Labels.certain(np.array([True]))
    finisher.examine(Decoded.of("<p>One short page.</p>"), None, "dripper", "", lambda page: (labels, ""))
    return finisher


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
        "profile": name_rules(row["profile"], extraction.outputs),
        "labeler": row["labeler"],
        "labeler_version": row["labeler_version"],
    }
    layout = {"layout_id": row.get("layout") or row.get("layout_id")}
    # All other input columns, such as the URL and the location in the archive, are copied
    # unchanged.
    columns = row | extraction_columns(extraction)
    return storable(columns | {"versions": versions, "is_whole": is_whole(columns)} | layout)
