"""Code for tasks that read archives: turns files into Arrow batches with rows and file reports.

The output has the columns of the step (for example, of `extractions`) and a `report` column. The
last row for a file, or for a span of a file, contains only the report as JSON. Rows and counts
therefore come from the same pass and the same attempt at a task.
"""

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import pyarrow as pa

from dripper.addresses import loggable, loggable_text
from dripper.blocks.profiles.registry import preprocess
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits, Watchdog
from dripper.labels import Labeler
from dripper.labels.chain import chain_of
from dripper.labels.cost import estimate_tokens
from dripper.labels.entry import CountTokens
from dripper.labels.registry import find_entry, labeler_settings, load_from_settings, split_into_stages
from dripper.page.extraction import Extraction, shared_extractor
from dripper.page.rows import Row, extraction_row, grade_confidence, record_columns, storable
from dripper.page.stages import Preprocessed, preprocess_page, preprocessed_columns
from dripper.settings import LabelerSettings, LabelsSettings, Settings
from dripper.spark.ledger.forgotten import NO_RULES, Rules
from dripper.spark.tables.row_keys import page_key
from dripper.spark.workers.parts import FilePart, Tasks, reader_of
from dripper.spark.workers.singleton import WorkerSingleton
from dripper.warc import FileReport, Record
from dripper.warc.read.reader import RecordReader

logger = logging.getLogger(__name__)

REPORT = "report"

_BATCH_ROWS = 64
_BATCH_BYTES = 8 << 20
"""An Arrow batch ends when it reaches one of these limits. A page has up to 32 MiB, and a string
column overflows at 2 GiB."""


@dataclass(frozen=True, slots=True)
class ProgressSink:
    """Spark accumulators to which a task reports its progress."""

    counts: Any
    sentences: Any

    def add(self, counts: dict[str, int]) -> None:
        """Add these counts, such as `files`, `pages` and `failed`, to the counts of all tasks."""
        self.counts.add(counts)

    def warn(self, sentences: Mapping[str, str]) -> None:
        """Show these sentences to the user. The keys are topics; each topic has one sentence."""
        if sentences:
            self.sentences.add(dict(sentences))


PageInput = tuple[bytes, str | None, str | None]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Step(Generic[Result]):
    """The work on each page, and the row that results from it.

    `work` runs in the page process. `result` is the class of its result, and can also create a
    result from an error code. `row` creates a row from a result.
    """

    work: Callable[[PageInput], Result]
    result: Callable[..., Result]
    row: Callable[[Record, Result], Row]


def extracting(settings: Settings, batch: int) -> Step[Extraction]:
    """Return the step that extracts pages completely. It makes rows of `extractions`."""
    extractor = shared_extractor(settings)
    return Step(
        lambda page: extractor.extract(page[0], page[2], page[1]),
        Extraction,
        lambda record, extraction: extraction_row(
            record, extraction, batch, extractor.versions, settings.reading.crawl
        ),
    )


def preprocessing(settings: Settings, batch: int) -> Step[Preprocessed]:
    """Return the step for the `preprocess` stage. Its rows have the columns for `pages` and
    `blocks`."""
    first, last = split_into_stages(settings.labeler)
    sections = settings.labels.model_dump_json()
    count_tokens = _token_counter(chain_of(last.name)[0], sections)
    labeler = _first_labeler(first.model_dump_json(), sections) if first is not None else None
    by = (labeler.name, labeler.version) if labeler is not None else None
    return Step(
        lambda page: preprocess_page(*page, settings, count_tokens, labeler),
        Preprocessed,
        lambda record, page: (
            record_columns(record, batch, settings.reading.crawl) | preprocessed_columns(page, settings.profile, by)
        ),
    )


@WorkerSingleton
def _token_counter(labeler: str, labels: str) -> CountTokens:
    """Return the worker's singleton that counts tokens. `labels` is JSON.

    The counter is separate from the engine, because the `preprocess` stage has no engine.
    """
    sections = LabelsSettings.model_validate_json(labels)
    return find_entry(labeler).count_tokens(labeler_settings(labeler, sections)) or estimate_tokens


@WorkerSingleton
def _first_labeler(labeler: str, labels: str) -> Labeler:
    """Return the worker's singleton of a chain's first labeler. The arguments are JSON.

    The labeler is loaded before any page process is forked.
    """
    return warm_labeler(LabelerSettings.model_validate_json(labeler), LabelsSettings.model_validate_json(labels))


def warm_labeler(labeler: LabelerSettings, labels: LabelsSettings) -> Labeler:
    """Return the labeler after it has labelled a page.

    Everything is then loaded, and processes forked from this one do not load it again.
    """
    loaded = load_from_settings(labeler, labels)
    loaded.label([preprocess("<p>One page, so that nothing is loaded on the first one that counts.</p>")])
    return loaded


def files_mapper(
    tasks: Tasks,
    batch: int,
    settings: Settings,
    schema: pa.Schema,
    progress: ProgressSink | None,
    step: Callable[[Settings, int], Step[Any]] = extracting,
    rules: Rules = NO_RULES,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for `mapInArrow`. Its input column `id` has indexes into `tasks`.

    Args:
        rules: The rules for forgotten pages. These pages are skipped.
    """

    def read_parts(parts: Sequence[FilePart], watchdog: Watchdog) -> Iterator[pa.RecordBatch]:
        with closing(_rows_of_parts(parts, step(settings, batch), settings, progress, watchdog, rules)) as rows:
            yield from in_batches(rows, schema)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for ids in batches:
            for task in ids.column("id").to_pylist():
                watchdog = Watchdog(settings.limits.stall_seconds, "reading archives")
                yield from watchdog.watch(read_parts(tasks[task], watchdog))

    return work


def _rows_of_parts(
    parts: Sequence[FilePart],
    step: Step[Any],
    settings: Settings,
    progress: ProgressSink | None,
    watchdog: Watchdog,
    rules: Rules,
) -> Generator[Row, None, None]:
    guard: Guard[PageInput, Any] = Guard(step.work, GuardLimits.of(settings.limits))
    with closing(guard):
        for part in parts:
            # A task that ends early (because of a LIMIT or a kill) must not leave files or
            # connections open.
            with closing(reader_of(part, settings.reading)) as reader:
                # Let the watchdog follow the reader, because records that are not pages count as
                # progress, too.
                watchdog.follow(partial(_place, reader.report))
                yield from _rows_of_part(part, reader, guard, step, progress, rules)


def _place(report: FileReport) -> tuple[int, int]:
    return report.records, report.bytes_read


def _rows_of_part(
    part: FilePart,
    reader: RecordReader,
    guard: Guard[PageInput, Any],
    step: Step[Any],
    progress: ProgressSink | None,
    rules: Rules,
) -> Iterator[Row]:
    keys, errors, methods, grades = 0, Counter[str](), Counter[str](), Counter[str]()
    stopwatch = Stopwatch()
    for record in _until_fault(reader):
        if rules.forget(record.page_id, record.url):
            reader.report.forget()
            continue
        with stopwatch.page(record.page_id):
            row = step.row(record, _result(record, guard, step))
        errors.update([row["error_code"]] if row["error_code"] is not None else [])
        methods.update([row["method"]] if row.get("method") is not None else [])
        grades.update([grade] if (grade := grade_confidence(row.get("confidence"))) else [])
        keys += page_key(record.page_id)
        yield storable(row)
    counts = {"errors": errors, "methods": methods, "grades": grades, "page_keys": keys}
    span = {"span": [part.span.start, part.span.end]}
    yield {REPORT: json.dumps(asdict(reader.report) | span | counts | stopwatch.times())}
    if progress is not None:
        progress.add({"files": int(part.span.end is None), "pages": reader.report.pages, "failed": errors.total()})


def _until_fault(reader: RecordReader) -> Iterator[Record]:
    """Yield the reader's records. An unexpected exception ends only the file, not the task.

    The error is recorded in the file's report.
    """
    try:
        yield from reader
    except Exception as error:
        logger.exception("reading %s", loggable(reader.report.warc_file))
        reader.report.fail(error)


def _result(record: Record, guard: Guard[PageInput, Result], step: Step[Result]) -> Result:
    if record.error_code is not None:
        return step.result(error_code=record.error_code, error_detail=record.error_detail)
    try:
        return guard.call((record.payload, record.content_type, record.url))
    except PageError as error:
        url, file = loggable(record.url), loggable(record.warc_file)
        logger.warning("%s in %s at %d: %s", url, file, record.offset, loggable_text(str(error)))
        return step.result(error_code=error.code, error_detail=error.detail or None)


class Stopwatch:
    """Measures the time for a file or a span of a file, and finds the slowest page."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._slowest: tuple[float, str] | None = None

    @contextmanager
    def page(self, page_id: str) -> Iterator[None]:
        """Time one page."""
        start = time.monotonic()
        yield
        self._slowest = max(self._slowest or (-1.0, ""), (time.monotonic() - start, page_id))

    def times(self) -> dict[str, Any]:
        """Return the measurements for the ledger: `task_ms` so far, and `slowest_page`."""
        slowest = {"page_id": self._slowest[1], "ms": round(self._slowest[0] * 1000)} if self._slowest else None
        return {"task_ms": round((time.monotonic() - self._started) * 1000), "slowest_page": slowest}


def in_batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows as Arrow batches of at most _BATCH_ROWS rows or about _BATCH_BYTES of text."""
    pending: list[Row] = []
    weight = 0
    for row in rows:
        pending.append(row)
        weight += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(pending) >= _BATCH_ROWS or weight >= _BATCH_BYTES:
            yield _to_arrow(pending, schema)
            pending, weight = [], 0
    if pending:
        yield _to_arrow(pending, schema)


def _to_arrow(rows: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    columns: list[Any] = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
