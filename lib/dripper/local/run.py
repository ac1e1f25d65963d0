"""Runs an extraction of many files on this machine: every page becomes exactly one row, in guarded
processes that one thread drives.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from tqdm import tqdm  # type: ignore[import-untyped]

from dripper.config import Settings
from dripper.errors import PageError, UsageError
from dripper.guard import Again, Guard, GuardLimits
from dripper.labels.entry import Use
from dripper.labels.registry import check_use
from dripper.local.output import ParquetFile, RowLines, format_row
from dripper.local.pages import Input, InputCounts, expand_inputs, read_pages, require_reader
from dripper.page.extraction import Extraction, Extractor, shared_extractor
from dripper.warc import Record


class Bar:
    """A progress bar: how far the files are read, in bytes, and the number of pages. A context
    manager."""

    def __init__(self, files: Sequence[Input], counts: InputCounts, is_shown: bool) -> None:
        self._counts = counts
        self._started = time.monotonic()
        size = sum(path.stat().st_size for file in files if (path := Path(file.path)).is_file()) if is_shown else 0
        self._bar = tqdm(
            total=size or None,
            disable=not is_shown,
            leave=False,
            bar_format="{percentage:3.0f}%|{bar:30}| {desc} [{elapsed}<{remaining}]",
        )

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.close()

    def show(self, pages: int, failed: int) -> None:
        """Show how many pages are done, and how many of them have no extraction."""
        if self._bar.disable:
            return
        rate = pages / max(time.monotonic() - self._started, 0.001)
        self._bar.set_description_str(f"{pages:,} pages, {failed:,} without extraction, {rate:.0f} a second", False)
        self._bar.update(self._counts.bytes - self._bar.n)


Item = TypeVar("Item")
Result = TypeVar("Result")


class Pool(Generic[Item, Result]):
    """Calls `work` on items in `jobs` processes, each with the limits of a `Guard`. A context
    manager."""

    def __init__(self, work: Callable[[Item], Result], limits: GuardLimits, jobs: int) -> None:
        self._guards = [Guard(work, limits) for _ in range(jobs)]

    def __enter__(self) -> "Pool[Item, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        for guard in self._guards:
            guard.close()

    def map(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PageError]]:
        """Yield every item once with its result or its error, in the order in which they finish.

        Takes one item more from `items` than there are processes.

        Raises:
            UsageError: `work` raised it.
        """
        waiting = iter(items)
        at_work: dict[Guard[Item, Result], Item] = {}
        for guard in self._guards:
            _give_next(guard, waiting, at_work)
        while at_work:
            for guard in _wait_for_ready(at_work):
                outcome = _take_outcome(guard)
                if outcome is not Again.AGAIN:
                    item = at_work.pop(guard)
                    _give_next(guard, waiting, at_work)
                    yield item, outcome


def _give_next(guard: Guard[Item, Result], waiting: Iterator[Item], at_work: dict[Guard[Item, Result], Item]) -> None:
    for item in waiting:
        guard.start(item)
        at_work[guard] = item
        return


def _wait_for_ready(at_work: Iterable[Guard[Item, Result]]) -> list[Guard[Item, Result]]:
    """Wait, then return the guards whose children have answered, ended or run out of time."""
    awaited = {guard: guard.ready_at() for guard in at_work}
    first = min(deadline for _, deadline in awaited.values())
    answered = set(wait([pipe for pipe, _ in awaited.values()], max(0.0, first - time.monotonic())))
    now = time.monotonic()
    return [guard for guard, (pipe, deadline) in awaited.items() if pipe in answered or deadline <= now]


def _take_outcome(guard: Guard[Item, Result]) -> Result | PageError | Again:
    try:
        return guard.result()
    except PageError as error:
        return error


logger = logging.getLogger(__name__)

FORMATS = (".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The counts of a run."""

    pages: int
    """New rows."""
    errors: Mapping[str, int]
    """New rows without an extraction, by error code."""
    inputs: InputCounts
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every page of the inputs has its row."""
        return not self.inputs.unread


def extract_files(
    names: Sequence[str], out: Path, settings: Settings, jobs: int, show_progress: bool = False
) -> RunResult:
    """Write a row for each page that has none in `out` yet, as in the table `extractions`.

    It may be killed at any time: the same call continues.

    Args:
        names: See `expand_inputs`.
        out: A file whose name ends in one of FORMATS.
        settings: As for a job.
        jobs: The number of page processes.
        show_progress: Whether to show a progress bar.

    Raises:
        UsageError: Or a subclass: an input or a setting is wrong. Raised before any work.
    """
    if out.suffix not in FORMATS:
        raise UsageError(f"--out {out}: the name must end in .jsonl or .parquet")
    for warning in check_use(settings.labeler, settings.labels, Use(settings.profile)):
        logger.warning("%s", warning)
    files = expand_inputs(names, settings.reading)
    require_reader(files)
    extractor = shared_extractor(settings)
    parquet = ParquetFile(out, extractor.versions) if out.suffix == ".parquet" else None
    done_ids = parquet.read_page_ids() if parquet else set()
    started, counts, errors, pages = time.monotonic(), InputCounts(), Counter[str](), 0
    lines = out.with_name(out.name + ".jsonl") if parquet else out
    with ExitStack() as stack:
        rows = stack.enter_context(RowLines(lines, extractor.versions))
        pool = stack.enter_context(Pool(_make_worker(extractor), GuardLimits.of(settings.limits), jobs))
        bar = stack.enter_context(Bar(files, counts, show_progress))
        done_ids |= rows.page_ids
        for record, done in pool.map(read_pages(files, settings.reading, done_ids, counts)):
            line, code = done if isinstance(done, tuple) else _format_failure(record, done, extractor.versions)
            rows.append(line, record.page_id, code)
            pages += 1
            errors.update([code] if code else [])
            bar.show(pages, errors.total())
        if parquet and (rows.page_ids or not out.exists()):
            parquet.add(lines)
        if parquet:
            lines.unlink()
    return RunResult(pages, errors, counts, time.monotonic() - started)


Line = tuple[bytes, str | None]
"""A row as bytes to write, and its error code."""


def _make_worker(extractor: Extractor) -> Callable[[Record], Line]:
    """Return the function of page processes: it builds rows, so this process only reads and
    writes."""

    def work(record: Record) -> Line:
        if record.error_code is not None:
            return _format_failure(record, PageError(record.error_code, record.error_detail or ""), extractor.versions)
        extraction = extractor.extract(record.payload, record.url or None, record.content_type)
        return format_row(record, extraction, extractor.versions), extraction.error_code

    return work


def _format_failure(record: Record, error: PageError, versions: Mapping[str, str]) -> Line:
    extraction = Extraction(error_code=error.code, error_detail=error.detail or None)
    return format_row(record, extraction, versions), error.code
