"""Runs in tasks of the stage `label`: rows of `blocks` in, rows of `labels` out, one engine per
Python worker.

An engine's start costs seconds to minutes, so it is a module's singleton, kept from batch to batch
as long as Spark keeps the worker (it ends workers that are idle for a minute).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import pyarrow as pa

from dripper.guard import Watchdog
from dripper.labels import SimplifiedPage
from dripper.labels.engine import Engine, Loader, environment, groups
from dripper.labels.registry import check_blocks
from dripper.page.rows import Row, outcome_columns, read_first_labels, storable
from dripper.settings import Settings
from dripper.spark.workers.devices import hold_devices
from dripper.spark.workers.read import ProgressSink, in_batches
from dripper.spark.workers.singleton import WorkerSingleton


def labels_mapper(
    loader: Loader, settings: Settings, schema: pa.Schema, progress: ProgressSink | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow` over (page_id, batch, simplified_html, n_blocks, tokens,
    profile, first_labels), pages of like length next to each other."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        watchdog = Watchdog(settings.stages.stall_seconds, f"the labeler {settings.labeler.name} labels")
        return watchdog.watch(label_batches(watchdog.rest(batches)))

    def label_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        for group in groups(rows, settings.stages):
            # Only now: a task without rows starts no engine.
            for profile in {row["profile"] for row in group}:
                # The checkpoint may be on this machine alone.
                _check_blocks(settings.model_dump_json(), profile)
            try:
                os.environ.update(hold_devices())
                engine = _engine(loader, settings.model_dump_json())
                answers = _label_rows(engine, group)
            except Exception:
                # Spark tries the task again, maybe in this worker: with an engine of its own.
                _engine.forget()
                raise
            yield from in_batches(answers, schema)
            if progress is not None:
                progress.add({"labelled": len(group)})
                progress.warn(engine.warnings)

    return work


@cache
def _check_blocks(settings: str, profile: str) -> None:
    parsed = Settings.model_validate_json(settings)
    check_blocks(parsed.labeler, parsed.labels, profile)


@WorkerSingleton
def _engine(loader: Loader, settings: str) -> Engine:
    """The worker's engine singleton. settings: as JSON, which unlike them can be compared and
    hashed."""
    parsed = Settings.model_validate_json(settings)
    os.environ.update(environment(parsed))
    return Engine(lambda: loader(parsed))


def _label_rows(engine: Engine, rows: Sequence[Row]) -> list[Row]:
    outcomes = engine.label([_read_page(row) for row in rows])
    by = {"labeler": engine.labeler.name, "labeler_version": engine.labeler.version}
    return [
        storable({"page_id": row["page_id"], "batch": row["batch"]} | by | outcome_columns(outcome))
        for row, outcome in zip(rows, outcomes, strict=True)
    ]


def _read_page(row: Row) -> SimplifiedPage:
    first = row["first_labels"]
    draft = None if first is None else read_first_labels(first)
    return SimplifiedPage(row["simplified_html"], row["n_blocks"], draft)
