"""Code for tasks of the `label` stage: turns rows of `blocks` into rows of `labels`.

Each Python worker has one engine. An engine takes seconds to minutes to start, so the module keeps
it as a singleton until Spark ends the worker after an idle minute.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa

from dripper.errors import ErrorCode
from dripper.guard import Watchdog
from dripper.labels import Labels, SimplifiedPage
from dripper.labels.cost import estimate_tokens
from dripper.labels.engine import Engine, Loader, environment, groups
from dripper.labels.registry import check_blocks
from dripper.page.rows import Row, outcome_columns, storable
from dripper.page.stages import read_first_labels
from dripper.settings import Settings
from dripper.spark.workers.devices import hold_devices
from dripper.spark.workers.read import ProgressSink, in_batches
from dripper.spark.workers.singleton import WorkerSingleton

In = TypeVar("In")
Out = TypeVar("Out")


def labels_mapper(
    loader: Loader, settings: Settings, schema: pa.Schema, progress: ProgressSink | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow`.

    Its input columns are page_id, batch, simplified_html, n_blocks, tokens, profile and
    first_labels. Pages of similar length should be next to each other. `mapInArrow` is the
    DataFrame form of `mapPartitions`, and accepts a resource profile.
    """

    def label_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        for group in groups(rows):
            engine, outcomes = _label_rows(loader, settings.model_dump_json(), group)
            by = {"labeler": engine.labeler.name, "labeler_version": engine.labeler.version}
            pairs = zip(group, outcomes, strict=True)
            keys = ("page_id", "batch")
            answers = ({key: row[key] for key in keys} | by | outcome_columns(outcome) for row, outcome in pairs)
            yield from in_batches(map(storable, answers), schema)
            if progress is not None:
                progress.add({"labelled": len(group)})
                progress.warn(engine.warnings)

    return lambda batches: _watched(settings, label_batches, batches)


ANSWER = ("main", "probability", "confidence", "error_code", "error_detail")
"""Columns of `labels` that `label_function` returns."""


def label_function(
    loader: Loader, settings: Settings
) -> Callable[[Iterator[tuple[pd.Series, pd.Series]]], Iterator[pd.DataFrame]]:
    """Return the function for an iterator pandas UDF.

    The function takes (simplified_html, n_blocks) and returns the columns ANSWER. Like the stage,
    the UDF keeps one engine per worker and builds its own batches.
    """

    def label_batches(batches: Iterable[tuple[pd.Series, pd.Series]]) -> Iterator[pd.DataFrame]:
        # The stage runs only as many tasks as it has engines. A UDF runs on all cores, with an
        # engine in each task. If every engine used all cores, the threads would mostly wait for
        # each other. Spark sets OMP_NUM_THREADS to the number of cores per task.
        cores = os.environ.get("OMP_NUM_THREADS", "")
        threads = int(cores) if cores.isdigit() else 1
        dumped = settings.model_dump_json()
        rows = (_row(html, n) for htmls, counts in batches for html, n in zip(htmls, counts, strict=True))
        for group in groups(rows):
            pages = [row for row in group if row["n_blocks"]]
            outcomes = iter(_label_rows(loader, dumped, pages, threads)[1] if pages else ())
            answers = [outcome_columns(next(outcomes)) if row["n_blocks"] else _NO_PAGE for row in group]
            values = [[answer.get(name) for name in ANSWER] for answer in map(storable, answers)]
            # dtype=object, because pandas would turn None into NaN.
            yield pd.DataFrame(values, columns=ANSWER, dtype=object)

    def _row(html: Any, n_blocks: Any) -> Row:
        # Null is None in pandas 2 and NaN in pandas 3.
        n = 0 if pd.isna(html) or pd.isna(n_blocks) else int(n_blocks)
        row = {"simplified_html": html, "n_blocks": n, "tokens": estimate_tokens(html) if n else 0}
        return row | {"profile": settings.profile, "first_labels": None}

    def label(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.DataFrame]:
        return _watched(settings, label_batches, batches)

    return label


STALL_SECONDS = 7200.0
"""Maximum seconds for an engine to start and label the pages of one call. The largest checkpoints
take minutes to load. After this time, the engine is considered hung, and the worker ends itself so
that Spark tries the task again."""

_NO_PAGE: Row = {"error_code": ErrorCode.EMPTY_PAGE.value, "error_detail": "there is no block"}


def _watched(settings: Settings, work: Callable[[Iterable[In]], Iterator[Out]], batches: Iterable[In]) -> Iterator[Out]:
    watchdog = Watchdog(STALL_SECONDS, f"the labeler {settings.labeler.name} labels")
    return watchdog.watch(work(watchdog.rest(batches)))


def _label_rows(
    loader: Loader, settings: str, rows: Sequence[Row], threads: int | None = None
) -> tuple[Engine, list[Labels | str]]:
    """Return the worker's engine, and labels or an error message for each page. `settings` is
    JSON."""
    # Callers pass at least one row, because a task without rows must not start an engine.
    for profile in {row["profile"] for row in rows}:
        # The driver cannot check this if the checkpoint is only on the executor's machine.
        _check_blocks(settings, profile)
    try:
        os.environ.update(hold_devices())
        engine = _engine(loader, settings, threads)
        return engine, engine.label([_read_page(row) for row in rows])
    except Exception:
        # Spark retries the task, maybe in this worker, which must then start a new engine.
        _engine.forget()
        raise


@cache
def _check_blocks(settings: str, profile: str) -> None:
    parsed = Settings.model_validate_json(settings)
    check_blocks(parsed.labeler, parsed.labels, profile)


@WorkerSingleton
def _engine(loader: Loader, settings: str, threads: int | None) -> Engine:
    """Return the worker's engine singleton. `settings` is JSON, because it must be hashable."""
    parsed = Settings.model_validate_json(settings)
    os.environ.update(environment(parsed, threads))
    return Engine(lambda: loader(parsed))


def _read_page(row: Row) -> SimplifiedPage:
    first = row["first_labels"]
    draft = None if first is None else read_first_labels(first)
    return SimplifiedPage(row["simplified_html"], row["n_blocks"], draft)
