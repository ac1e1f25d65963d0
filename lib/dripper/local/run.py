"""Extracts many pages on this machine, in parallel processes with limits. Every page becomes
exactly one row or file.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from dripper.guard import GuardLimits
from dripper.labels.entry import Use
from dripper.labels.registry import check_use
from dripper.local.inputs import Input, InputKind, expand_inputs
from dripper.local.pages import DEFAULT_OPTIONS, InputCounts, PageOptions, read_pages, require_reader
from dripper.local.pool import map_guarded
from dripper.local.sinks import Destination, PageRow
from dripper.local.tables import check_table
from dripper.page.extraction import make_failed, shared_extractor
from dripper.settings import Settings
from dripper.warc import Record


class Bar:
    """A progress bar that shows the fraction of bytes read and the number of pages."""

    def __init__(self, files: Sequence[Input], counts: InputCounts, is_shown: bool) -> None:
        self._counts = counts
        self._started = time.monotonic()
        size = sum(path.stat().st_size for file in files if (path := Path(file.path)).is_file()) if is_shown else 0
        from tqdm import tqdm  # type: ignore[import-untyped]

        self._bar = tqdm(
            total=size or None,
            disable=not is_shown,
            leave=False,
            bar_format="{percentage:3.0f}%|{bar:30}| {desc} [{elapsed}<{remaining}]",
        )

    def close(self) -> None:
        """Remove the bar from the screen."""
        self._bar.close()

    def show(self, pages: int, failed: int) -> None:
        """Show the number of finished pages, and the number of pages without an extraction."""
        if self._bar.disable:
            return
        rate = pages / max(time.monotonic() - self._started, 0.001)
        self._bar.set_description_str(f"{pages:,} pages, {failed:,} without extraction, {rate:.0f} a second", False)
        self._bar.update(self._counts.bytes - self._bar.n)


logger = logging.getLogger(__name__)

MOST_NAMED = 10
"""The maximum number of pages in `RunResult.failed`. All failed pages are counted."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The counts of a run."""

    pages: int
    """New rows."""
    errors: Mapping[str, int]
    """Number of new rows without an extraction, keyed by error code."""
    inputs: InputCounts
    seconds: float
    failed: Sequence[str] = ()
    """The first MOST_NAMED pages without an extraction, each with a reason."""
    ignored_files: Sequence[str] = ()
    """Files in the named folders that are neither pages nor archives."""

    @property
    def is_complete(self) -> bool:
        """Whether all inputs were read to their end, except files that no later run could read
        either."""
        return not self.inputs.unread


def extract_files(
    names: Sequence[str],
    out: Path | Destination,
    settings: Settings,
    jobs: int,
    show_progress: bool = False,
    options: PageOptions = DEFAULT_OPTIONS,
) -> RunResult:
    """Write a row or a file for each page that is not in `out` yet.

    After a kill, rerunning the same call resumes the work, unless `out` is standard output.

    Args:
        names: See `expand_inputs`.
        out: A file for rows as in the `extractions` table, or another destination.
        settings: The same settings as for a Spark job.
        jobs: The number of processes that extract pages.

    Raises:
        UsageError: An input or a setting is wrong. Raised before any work.
    """
    destination = out if isinstance(out, Destination) else Destination(out)
    for warning in check_use(settings.labeler, settings.labels, Use(settings.profile)):
        logger.warning("%s", warning)
    files, ignored_files = _find_files(names, destination, settings, options)
    extractor = shared_extractor(settings)
    started, counts, errors, pages, failed = time.monotonic(), InputCounts(), Counter[str](), 0, list[str]()
    with ExitStack() as stack:
        sink = stack.enter_context(destination.open(extractor.versions, files, sys.stdout.buffer))
        bar = stack.enter_context(closing(Bar(files, counts, show_progress)))
        records = read_pages(files, settings.reading, sink.page_ids, counts, options)

        def work(record: Record) -> PageRow:
            # Build rows in the child processes, so that this process only reads and writes.
            return sink.make(record, extractor.extract_record(record))

        done_pages = map_guarded(work, records, GuardLimits.of(settings.limits), jobs)
        for record, done in stack.enter_context(closing(done_pages)):
            row = done if isinstance(done, PageRow) else sink.make(record, make_failed(done))
            sink.write(record, row)
            pages += 1
            errors.update([row.error_code] if row.error_code else [])
            if row.error_code and len(failed) < MOST_NAMED:
                failed.append(_explain(record, row))
            bar.show(pages, errors.total())
    return RunResult(pages, errors, counts, time.monotonic() - started, failed, ignored_files)


def _find_files(
    names: Sequence[str], destination: Destination, settings: Settings, options: PageOptions
) -> tuple[list[Input], list[str]]:
    """Return the files to read, and the ignored files in folders. Raises UsageError if archive
    support is not installed or a table lacks a column."""
    ignored_files: list[str] = []
    # A pattern may match the output of an earlier run, which must not be read as input.
    own = destination.path.resolve()
    found = expand_inputs(names, settings.reading, ignored_files)
    files = [file for file in found if file.kind is not InputKind.TABLE or Path(file.path).resolve() != own]
    require_reader(files)
    for file in files:
        if file.kind is InputKind.TABLE:
            check_table(file.path, options.columns, settings.reading.page_bytes)
    return files, ignored_files


def _explain(record: Record, row: PageRow) -> str:
    place = record.url or (f"{record.warc_file}, row {record.offset}" if record.offset else record.warc_file)
    return f"{place}: {row.error_code}" + (f" ({row.error_detail})" if row.error_detail else "")
