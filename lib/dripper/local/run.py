"""A run: every page of the inputs becomes exactly one row, whatever was killed before."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from dripper.config import Settings
from dripper.errors import PageError, UsageError
from dripper.extraction import Extraction, Extractor, shared_extractor
from dripper.guard import GuardLimits
from dripper.labels.entry import Use
from dripper.labels.registry import check_use
from dripper.local.inputs import expand_inputs
from dripper.local.lines import RowLines, row_line
from dripper.local.pages import Seen, records_of, require_reader
from dripper.local.parquet import ParquetFile
from dripper.local.pool import Pool
from dripper.local.progress import Bar
from dripper.warc import Record

logger = logging.getLogger(__name__)

FORMATS = (".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class Written:
    """What a run did. pages: new rows. errors: of these, how many have no extraction, by code."""

    pages: int
    errors: Mapping[str, int]
    seen: Seen
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every page of the inputs has its row."""
        return not self.seen.unread


def extract_files(
    given: Sequence[str], out: Path, settings: Settings, jobs: int, show_progress: bool = False
) -> Written:
    """Write a row for each page of what is given that has none in `out` yet, with `jobs` page
    processes.

    given: see `expand_inputs`. out: a name that ends as FORMATS say. Rows are as those of the table
    `extractions`. To be killed at any time: the same call goes on. Raises UsageError, or one of its
    family, before any work.
    """
    if out.suffix not in FORMATS:
        raise UsageError(f"--out {out}: the name must end in .jsonl or .parquet")
    for warning in check_use(settings.labeler, settings.labels, Use(settings.profile)):
        logger.warning("%s", warning)
    files = expand_inputs(given, settings.reading)
    require_reader(files)
    extractor = shared_extractor(settings)
    parquet = ParquetFile(out, extractor.versions) if out.suffix == ".parquet" else None
    known = parquet.page_ids() if parquet else set()
    started, seen, errors, pages = time.monotonic(), Seen(), Counter[str](), 0
    lines = out.with_name(out.name + ".jsonl") if parquet else out
    with ExitStack() as stack:
        rows = stack.enter_context(RowLines(lines, extractor.versions))
        pool = stack.enter_context(Pool(_work(extractor), GuardLimits.of(settings.limits), jobs))
        bar = stack.enter_context(Bar(files, seen, show_progress))
        known |= rows.page_ids
        for record, done in pool.map(records_of(files, settings.reading, known, seen)):
            line, code = done if isinstance(done, tuple) else _failed(record, done, extractor.versions)
            rows.append(line, record.page_id, code)
            pages += 1
            errors.update([code] if code else [])
            bar.tell(pages, errors.total())
        if parquet and (rows.page_ids or not out.exists()):
            parquet.add(lines)
        if parquet:
            lines.unlink()
    return Written(pages, errors, seen, time.monotonic() - started)


Line = tuple[bytes, str | None]
"""A row as it is written, and its error code."""


def _work(extractor: Extractor) -> Callable[[Record], Line]:
    """Return what a page process does: all of a row, so that this process only reads and writes."""

    def work(record: Record) -> Line:
        if record.error_code is not None:
            return _failed(record, PageError(record.error_code, record.error_detail or ""), extractor.versions)
        extraction = extractor.extract(record.payload, record.url or None, record.content_type)
        return row_line(record, extraction, extractor.versions), extraction.error_code

    return work


def _failed(record: Record, error: PageError, versions: Mapping[str, str]) -> Line:
    extraction = Extraction(error_code=error.code, error_detail=error.detail or None)
    return row_line(record, extraction, versions), error.code
