"""The pages of the files, one after the other, each as a `Record`; and what became of the files."""

import hashlib
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from dripper.config import ReadSettings
from dripper.errors import ErrorCode, FileError
from dripper.local.inputs import Input
from dripper.optional import needed
from dripper.warc import Record
from dripper.warc.identity import page_id
from dripper.warc.record import ArchiveFault, archive_fault
from dripper.warc.source import LocalFile


@dataclass(slots=True)
class Seen:
    """What was seen of the files so far."""

    files: int = 0
    bytes: int = 0
    """Read, of files that are finished and of the archive at hand."""
    known: int = 0
    """Pages that have a row already."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Records of archives that are no pages, by reason."""
    faults: dict[str, int] = field(default_factory=dict)
    """Of archives, how many were found in which; what could be read was read."""
    bad: dict[str, ArchiveFault] = field(default_factory=dict)
    """Archives that were read to their end and are no whole ones."""
    unread: list[str] = field(default_factory=list)
    """A sentence for each file that could not be read to its end: another run tries it again."""


def require_reader(files: Sequence[Input]) -> None:
    """Raise MachineError where archives are among the files and what reads them is not
    installed."""
    if any(file.is_archive for file in files):
        with needed("reading archives", "warc"):
            import_module("dripper.warc.reader")


def records_of(files: Sequence[Input], settings: ReadSettings, known: Container[str], seen: Seen) -> Iterator[Record]:
    """Yield the pages that are not `known` by their `page_id`, and count in `seen`."""
    for file in files:
        records = _of_archive(file, settings, seen) if file.is_archive else _of_page(file, settings, seen)
        for record in records:
            if record.page_id in known:
                seen.known += 1
            else:
                yield record
        seen.files += 1


def _of_archive(file: Input, settings: ReadSettings, seen: Seen) -> Iterator[Record]:
    from dripper.warc import read_records

    before = seen.bytes
    with closing(read_records(file.path, settings)) as reader:
        for record in reader:
            seen.bytes = before + reader.report.bytes_read
            yield record
    report = reader.report
    seen.bytes = before + report.bytes_read
    seen.skipped.update(report.skipped)
    if report.n_problems:
        seen.faults[file.path] = report.n_problems
    if report.error is not None:
        seen.unread.append(report.error)
    elif fault := archive_fault(report.records, report.skipped, report.clipped):
        seen.bad[file.path] = fault


def _of_page(file: Input, settings: ReadSettings, seen: Seen) -> Iterator[Record]:
    path = Path(file.path)
    try:
        size = LocalFile(file.path).size_bytes or 0
        payload = path.read_bytes() if size <= settings.page_bytes else b""
    except (OSError, FileError) as error:
        seen.unread.append(str(error) if isinstance(error, FileError) else f"{file.path}: {error.strerror or error}")
        return
    seen.bytes += size
    too_large = f"the file has {size} bytes, the limit is {settings.page_bytes}"
    yield Record(
        page_id=page_id(file.address, 0),
        url="",
        warc_file=file.address,
        offset=0,
        length=size,
        fetched_at=None,
        http_status=None,
        content_type=None,
        payload=payload,
        payload_digest="sha256:" + hashlib.sha256(payload).hexdigest(),
        error_code=ErrorCode.PAGE_TOO_LARGE if size > settings.page_bytes else None,
        error_detail=too_large if size > settings.page_bytes else None,
    )
