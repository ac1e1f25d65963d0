"""Reads the pages of an archive file, or of a span of the file, and reports on every record. Also
reads a single page at a known offset."""

from collections.abc import Generator, Iterator
from contextlib import closing

from dripper.errors import ErrorCode, InputError, PageError
from dripper.settings import ReadSettings
from dripper.warc.open.base import READ_BYTES, Source
from dripper.warc.open.identity import canonical_address
from dripper.warc.open.shared import open_shared, share_slice
from dripper.warc.open.source import check_unchanged
from dripper.warc.open.wacz import Member, ZipError, find_archive_at, is_zip, list_archives, open_member
from dripper.warc.read.frames import HEAD_BYTES, Frame, FrameReader, Gap, Part
from dripper.warc.read.members import Members
from dripper.warc.read.offered import Offered
from dripper.warc.read.pages import build_failed_record, note_dictionary, to_record
from dripper.warc.read.record import FileReport, Record, Span
from dripper.warc.read.spans import find_part, find_reach


class RecordReader(Iterator[Record]):
    """The pages of an archive file, or of a span of the file. `report` is updated during iteration,
    and complete when the iterator is exhausted."""

    def __init__(self, path: str, settings: ReadSettings, span: Span | None = None, address: str | None = None) -> None:
        self.report = FileReport(address or canonical_address(path))
        self._path = path
        self._settings = settings
        self._span = span or Span()
        self._name = ""
        self._base = 0
        self._n_read = 0
        self._offered: Offered | None = None
        self._records = self._read()

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        return next(self._records)

    def close(self) -> None:
        """Stop reading and close the file. The report keeps its current state."""
        self._records.close()

    def _read(self) -> Generator[Record, None, None]:
        report = self.report
        try:
            with closing(open_shared(self._path, self._settings, *find_reach(self._span))) as source:
                report.size_bytes, report.version = source.size_bytes, source.version
                if is_zip(source):
                    yield from self._read_zip(source)
                else:
                    yield from self._read_archive(source, self._span)
                check_unchanged(source)
        except (InputError, OSError) as error:
            report.fail(error)

    def _read_zip(self, source: Source) -> Generator[Record, None, None]:
        """Read the archives in a WACZ that overlap with the span."""
        start, end = self._span.start, self._span.end
        try:
            archives = list_archives(source)
        except ZipError as error:
            archives = []
            if not start:
                self._skip_archive(str(error))
        else:
            if not archives and not start:
                self.report.add_problem("it is a ZIP without archives: no name in it ends in .warc or .warc.gz")
        for archive in archives:
            if archive.problem and start <= archive.at and (end is None or archive.at < end):
                self._skip_archive(archive.problem)
            elif not archive.problem and start < archive.limit and (end is None or archive.at < end):
                yield from self._read_member(source, archive)

    def _read_member(self, source: Source, archive: Member) -> Generator[Record, None, None]:
        start, end = self._span.start, self._span.end
        try:
            inner = open_member(source, archive)
        except ZipError as error:
            if start <= archive.at:
                self._skip_archive(str(error))
            return
        size = inner.size
        part = Span(
            max(0, start - inner.start), None if end is None or end >= inner.start + size else max(0, end - inner.start)
        )
        if part.end == 0 or 0 < size <= part.start:
            return
        self._name, self._base = f"{inner.name}: ", inner.start
        with closing(share_slice(inner, *find_reach(part))) as shared:
            yield from self._read_archive(shared, part)
        self._n_read = self.report.bytes_read

    def _skip_archive(self, problem: str) -> None:
        self.report.skip("unreadable")
        self.report.add_problem(problem)

    def _read_archive(self, source: Source, span: Span) -> Generator[Record, None, None]:
        members = Members(source)
        hold_bytes = self._settings.page_bytes + HEAD_BYTES
        if part := find_part(members, span, hold_bytes):
            members = members.reopen()  # use a new reader, which has not read other parts of the file
            yield from self._read_part(members, FrameReader(members, hold_bytes, part), part, span)

    def _read_part(
        self, members: Members, frames: FrameReader, part: Part, span: Span
    ) -> Generator[Record, None, None]:
        report, before = self.report, max(part.at, part.skip)
        self._offered = offer_dictionaries(members, self._settings, reads_all=not before)
        try:
            for item in frames:
                report.bytes_read = self._n_read + max(0, members.bytes_read - before)
                if record := self._take(item):
                    yield record
            if not frames.n_starts and frames.ended_at is None and not before:
                # A problem, not an error, because another attempt would have the same result.
                self._add_problem("no WARC or ARC record in it" if members.bytes_read else "the file is empty")
        finally:
            until = members.bytes_read if frames.ended_at is None else frames.ended_at
            if not members.compressed and span.end is not None:
                until = min(members.bytes_read, span.end)
            report.bytes_read = self._n_read + max(0, until - before)

    def _add_problem(self, sentence: str) -> None:
        self.report.add_problem(self._name + sentence)

    def _take(self, item: Frame | Gap) -> Record | None:
        """Count a record or gap, and return the record's page if it has one."""
        report = self.report
        if isinstance(item, Gap):
            reason = "over budget" if item.over_budget else "unreadable" if item.n_locked else "broken record"
            report.skip(reason, max(1, item.n_locked))
            self._add_problem(item.problem)
            report.clipped |= item.clipped
            return None
        if item.fault:
            self._add_problem(f"{item.problem} ({item.fault})")
            report.clipped |= item.fault == "clipped"
        try:
            page = to_record(item, report.warc_file, self._settings, self._base, self._offered)
        except Exception as error:  # a bug in this program must neither lose the rest of the file nor stay hidden
            page = build_failed_record(
                item, report.warc_file, PageError(ErrorCode.INTERNAL, f"{type(error).__name__}: {error}"), self._base
            )
        if isinstance(page, str):
            report.skip(page)
            return None
        report.records += 1
        report.pages += 1
        return page


def offer_dictionaries(members: Members, settings: ReadSettings, reads_all: bool = False) -> Offered:
    """Return the dictionaries that the records of an archive offer.

    Args:
        reads_all: Whether the caller reads all records from the beginning of the archive.
    """
    if reads_all:
        return Offered(note_dictionary)
    return Offered(note_dictionary, lambda: iter(FrameReader(members.reopen(), settings.page_bytes + HEAD_BYTES)))


def read_records(
    path: str, settings: ReadSettings | None = None, span: Span | None = None, address: str | None = None
) -> RecordReader:
    """Iterate over the pages of a WARC, ARC or WACZ file. The iterator's `report` accounts for
    every record.

    The content of the file never causes an exception: damage is skipped and counted. If the file
    cannot be opened, there are no pages, and `report.error` is set. Memory use is bounded for files
    of any size.

    Args:
        path: A path in any storage system that `open_source` supports.
        settings: The settings for reading; None means the defaults.
        span: Only records that begin in this span are returned. For any division of a file into
            consecutive spans, the pages of all spans together are the pages of the file.
            `merge_reports` merges the reports.
        address: The canonical address for records and report; None means the address of `path`.
    """
    return RecordReader(path, settings or ReadSettings(), span, address)


def read_record_at(path: str, offset: int, page_id: str, settings: ReadSettings | None = None) -> Record:
    """Return the page with this id at `offset` in an archive file.

    Only this record is read if possible. If several records share a compressed member, the file is
    read up to the page.

    Raises:
        InputError: The file cannot be opened, or this page is not at `offset`.
    """
    settings = settings or ReadSettings()
    if (page := _read_alone(path, offset, settings)) is not None and page.page_id == page_id:
        return page
    with closing(read_records(path, settings)) as reader:
        for record in reader:
            if record.page_id == page_id:
                return record
    raise InputError(reader.report.error or f"{path} has no such page at byte {offset}: is it another file by now?")


def _read_alone(path: str, offset: int, settings: ReadSettings) -> Record | None:
    """Return the page at `offset`, or None if there is no page. The archive may be inside a
    WACZ."""
    try:
        with closing(open_shared(path, settings, offset, offset + READ_BYTES)) as source:
            base, archive = 0, source
            if is_zip(source):
                inner = find_archive_at(source, offset)
                base, archive = inner.start, share_slice(inner, offset - inner.start, offset - inner.start + READ_BYTES)
            with closing(archive):
                members = Members(archive)
                frames = FrameReader(members, settings.page_bytes + HEAD_BYTES, Part(offset - base))
                item = next(iter(frames), None)
                offered = offer_dictionaries(members, settings)
                page = (
                    to_record(item, canonical_address(path), settings, base, offered)
                    if isinstance(item, Frame)
                    else None
                )
    except ZipError:
        return None
    except OSError as error:
        raise InputError(f"{path}: {error}") from error
    return page if isinstance(page, Record) else None
