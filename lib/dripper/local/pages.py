"""Reads the pages in the user's files as `Record`s, and counts pages and problems."""

import hashlib
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

from dripper.errors import LASTING, ErrorCode, FileError
from dripper.extras import needed
from dripper.local.inputs import Input, InputKind
from dripper.local.tables import DEFAULT_COLUMNS, Columns, Table
from dripper.settings import ReadSettings
from dripper.warc import Record
from dripper.warc.open.identity import page_id
from dripper.warc.open.source import LocalFile
from dripper.warc.read.record import ArchiveFault, find_archive_fault


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options for reading pages from files."""

    url_prefix: str = ""
    """A page's URL is this prefix plus the file's path (`Input.below`). If the prefix is empty, the
    URL comes from the page itself, if the page states one."""
    columns: Columns = DEFAULT_COLUMNS
    """The columns to read from tables."""

    def complete(self, below: str) -> str:
        """Return the URL of the page in a file, or "" if there is no prefix."""
        return self.url_prefix + quote(below, safe="/~@:+,;=&$!*'()") if self.url_prefix else ""


DEFAULT_OPTIONS = PageOptions()


@dataclass(slots=True)
class InputCounts:
    """Counts of the pages and problems in the files read so far."""

    files: int = 0
    bytes: int = 0
    """Bytes read from finished files and from the file being read."""
    already_written: int = 0
    """Pages that already have a row."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Number of archive records that are not pages, keyed by reason."""
    faults: dict[str, int] = field(default_factory=dict)
    """Archive → number of faults in it. Reading continued after each fault."""
    bad: dict[str, str] = field(default_factory=dict)
    """File → problem, for files that no later run could read either."""
    unread: list[str] = field(default_factory=list)
    """One sentence per file that could not be read to its end. Another run tries these files
    again."""

    def note_failure(self, path: str, kind: str | None, sentence: str) -> None:
        """Note why a file was not read to its end. `kind` is a `FileErrorKind`."""
        if kind in LASTING:
            self.bad[path] = sentence
        else:
            self.unread.append(sentence)


_FAULTS = {
    ArchiveFault.NO_ARCHIVE: "no WARC or ARC record is in it",
    ArchiveFault.CUT_SHORT: "it is cut short; the pages before the cut are rows",
    ArchiveFault.UNREADABLE: "{unreadable} broken records or archives in it cannot be read: {problems}",
}


def require_reader(files: Sequence[Input]) -> None:
    """Raise MachineError if the files include archives and the `warc` extra is not installed."""
    if any(file.is_archive for file in files):
        with needed("reading archives", "warc"):
            import_module("dripper.warc.read.reader")


def read_pages(
    files: Sequence[Input],
    settings: ReadSettings,
    done_ids: Container[str],
    counts: InputCounts,
    options: PageOptions = DEFAULT_OPTIONS,
) -> Iterator[Record]:
    """Yield the pages with a `page_id` that is not in `done_ids`, and update `counts`."""
    for file in files:
        for record in _read_file(file, settings, counts, options):
            if record.page_id in done_ids:
                counts.already_written += 1
            else:
                yield record
        counts.files += 1


def _read_file(file: Input, settings: ReadSettings, counts: InputCounts, options: PageOptions) -> Iterator[Record]:
    match file.kind:
        case InputKind.ARCHIVE:
            return _read_archive(file, settings, counts)
        case InputKind.TABLE:
            return _read_table(file, settings, counts, options.columns)
        case InputKind.MISSING:
            counts.bad[file.path] = file.problem
            return iter([_make_record(file, 0, b"", error=(ErrorCode.UNREADABLE, file.problem))])
        case InputKind.PAGE:
            return _read_page(file, settings, counts, options.complete(file.below))


def _read_archive(file: Input, settings: ReadSettings, counts: InputCounts) -> Iterator[Record]:
    from dripper.warc import read_records

    before = counts.bytes
    with closing(read_records(file.path, settings)) as reader:
        for record in reader:
            counts.bytes = before + reader.report.bytes_read
            yield record
    report = reader.report
    counts.bytes = before + report.bytes_read
    counts.skipped.update(report.skipped)
    if report.n_problems:
        counts.faults[file.path] = report.n_problems
    if report.error is not None:
        counts.note_failure(file.path, report.error_kind, report.error)
    elif fault := find_archive_fault(report.records, report.skipped, report.clipped):
        counts.bad[file.path] = _FAULTS[fault].format(
            unreadable=report.skipped.get("unreadable"), problems="; ".join(report.problems[:3])
        )


def _read_page(file: Input, settings: ReadSettings, counts: InputCounts, url: str) -> Iterator[Record]:
    path = Path(file.path)
    try:
        size = LocalFile(file.path).size_bytes or 0
        payload = path.read_bytes() if size <= settings.page_bytes else b""
    except FileError as error:
        counts.note_failure(file.path, error.kind, str(error))
        return
    except OSError as error:
        counts.unread.append(f"{file.path}: {error.strerror or error}")
        return
    counts.bytes += size
    too_large = (ErrorCode.PAGE_TOO_LARGE, f"the file has {size} bytes, the limit is {settings.page_bytes}")
    refused = too_large if size > settings.page_bytes else None
    yield _make_record(file, 0, payload, url=url, length=size, error=refused)


def _read_table(file: Input, settings: ReadSettings, counts: InputCounts, columns: Columns) -> Iterator[Record]:
    before, size = counts.bytes, Path(file.path).stat().st_size
    try:
        with closing(Table(file.path, columns, settings.page_bytes)) as table:
            for row in table:
                counts.bytes = before + min(table.bytes_read, size)
                # Text is already decoded, whatever charset its markup declares.
                content_type = None if row.is_raw else "text/html; charset=utf-8"
                yield _make_record(file, row.number, row.html, url=row.url, content_type=content_type, error=row.error)
    except FileError as error:
        counts.unread.append(str(error))
    counts.bytes = before + size


def _make_record(
    file: Input,
    offset: int,
    payload: bytes,
    *,
    url: str = "",
    length: int | None = None,
    content_type: str | None = None,
    error: tuple[ErrorCode, str] | None = None,
) -> Record:
    return Record(
        page_id=page_id(file.address, offset),
        url=url,
        warc_file=file.address,
        offset=offset,
        length=len(payload) if length is None else length,
        fetched_at=None,
        http_status=None,
        content_type=content_type,
        payload=payload,
        payload_digest="sha256:" + hashlib.sha256(payload).hexdigest(),
        error_code=error[0] if error else None,
        error_detail=error[1] if error else None,
    )
