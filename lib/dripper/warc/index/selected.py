"""Reads single records from an archive file. An index gives their byte ranges."""

import io
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from dripper.errors import FileError, FileErrorKind, InputError
from dripper.settings import ReadSettings
from dripper.warc.index.select import Place
from dripper.warc.open.base import Limited, Readable, Source, read_up_to
from dripper.warc.open.shared import FIRST_BYTES, open_shared
from dripper.warc.open.source import check_unchanged
from dripper.warc.open.wacz import Slice, ZipError, is_zip, list_archives, open_member
from dripper.warc.read.frames import HEAD_BYTES, Frame, FrameReader, Gap, Part
from dripper.warc.read.headers import clean_url
from dripper.warc.read.members import Members
from dripper.warc.read.offered import Offered
from dripper.warc.read.reader import RecordReader, offer_dictionaries
from dripper.warc.read.record import Record

GAP_BYTES = 1 << 18
"""The maximum gap between records that are read together. Reading 256 KiB more in an open request
takes about as long as a new request."""

_HELD_BYTES = 16 << 20
"""The maximum number of bytes for records that are read together. A record with more stored bytes
is not kept in memory, because the index may overstate its length. Such a record is read from the
file whenever it is needed."""


class _Excerpt:
    """A view of a file, as a `Source`. The view ends after the current record, so that no later
    bytes are read."""

    def __init__(self, source: Source) -> None:
        self.size_bytes = source.size_bytes
        self.version = source.version
        self._source = source
        self._at = 0
        self._data = b""
        self._start = 0
        self._end: int | None = None

    def read_group(self, group: Sequence[Place]) -> None:
        """Read the bytes of neighbouring records together."""
        self._at, end = group[0].offset, group[-1].offset + group[-1].length
        self._data = b""
        if _is_held(group[0]):
            with closing(self._source.open_at(self._at, end)) as stream:
                self._data = read_up_to(stream, end - self._at)

    def show(self, place: Place) -> None:
        """Make the record at `place` the current one. The record must belong to the group that was
        read last."""
        self._start, self._end = place.offset, place.offset + place.length

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """See `Source`."""
        if self._end is None or offset < self._start:  # the first bytes of the file, to detect its type
            return self._source.open_at(offset, end)
        if self._data:
            return io.BytesIO(self._data[offset - self._at : self._end - self._at])
        return Limited(self._source.open_at(offset, self._end), max(0, self._end - offset))

    def close(self) -> None:
        """See `Source`."""
        self._source.close()


class _Archives:
    """The members of a file, or of each archive inside a WACZ. All of them are prepared before any
    record is read."""

    def __init__(self, source: Source, settings: ReadSettings) -> None:
        inner: list[Slice] = []
        if is_zip(source):
            try:
                inner = [open_member(source, member) for member in list_archives(source) if not member.problem]
            except ZipError as error:
                raise FileError(FileErrorKind.UNREADABLE, str(error)) from error
        self._ends = [one.start + one.size for one in inner]
        self._archives: list[tuple[Members, int, Offered]] = []
        for start, archive in list[tuple[int, Source]]((one.start, one) for one in inner) or [(0, source)]:
            members = Members(archive)
            members.is_compressed()
            self._archives.append((members, start, offer_dictionaries(members, settings)))

    def find(self, offset: int) -> tuple[Members, int, Offered]:
        """Return the members, start offset and dictionaries of the archive that contains the byte
        at `offset`."""
        return self._archives[min(bisect_right(self._ends, offset), len(self._archives) - 1)]


class SelectedReader(RecordReader):
    """The pages among the records at `places`. In the report, `records` also counts the `n_before`
    records that already have rows."""

    def __init__(
        self,
        path: str,
        places: Sequence[Place],
        settings: ReadSettings,
        address: str | None = None,
        n_before: int = 0,
    ) -> None:
        super().__init__(path, settings, address=address)
        self._places = sorted(places)
        self._n_before = n_before

    def _read(self) -> Generator[Record, None, None]:
        report = self.report
        for _ in range(self._n_before):
            report.skip("read before")
        if not self._places:
            return
        try:
            source = open_shared(self._path, self._settings, 0, FIRST_BYTES)
            with closing(_Excerpt(source)) as excerpt:
                report.size_bytes, report.version = source.size_bytes, source.version
                archives = _Archives(excerpt, self._settings)
                for group in group_neighbours(self._places):
                    excerpt.read_group(group)
                    for place in group:
                        excerpt.show(place)
                        members, self._base, self._offered = archives.find(place.offset)
                        if record := self._record_at(place, members.reopen()):
                            yield record
                        report.bytes_read += place.length
                check_unchanged(source)
        except (InputError, OSError) as error:
            report.fail(error)

    def _record_at(self, place: Place, members: Members) -> Record | None:
        """Count the record at `place`, and return its page if it has one."""
        frames = FrameReader(members, self._settings.page_bytes + HEAD_BYTES, Part(max(0, place.offset - self._base)))
        item = next(iter(frames), None)
        why = self._find_mismatch(place, item)
        if why is None and isinstance(item, Frame):
            return self._take(item)
        self.report.skip("not as indexed")
        self.report.add_problem(f"the index has {place.url} at byte {place.offset}, but {why}")
        return None

    def _find_mismatch(self, place: Place, item: Frame | Gap | None) -> str | None:
        """Describe how a record differs from its index entry, or return None if it matches."""
        inside = place.offset + place.length < (self.report.size_bytes or 0)
        if not isinstance(item, Frame) or (item.fault == "clipped" and inside):
            return f"no whole record is in the {place.length} bytes there"
        if item.head.url != clean_url(place.url):
            return f"the record there is of {item.head.url or 'no address'}"
        return None


def read_selected(
    path: str,
    places: Sequence[Place],
    settings: ReadSettings | None = None,
    address: str | None = None,
    n_before: int = 0,
) -> SelectedReader:
    """Iterate over the pages at `places` in an archive file, reading little more than these byte
    ranges. See `read_records`.

    Each record is the same, with the same `page_id`, as if the whole file were read. A byte range
    without a record for its URL counts as a problem, and is skipped as "not as indexed".

    Args:
        address: The canonical address for records and report; None means the address of `path`.
        n_before: The number of selected records that already have rows. These records are not read,
            but counted as skipped.
    """
    return SelectedReader(path, places, settings or ReadSettings(), address, n_before)


def group_neighbours(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Group neighbouring byte ranges, in order. Within a group, gaps are at most GAP_BYTES, and the
    total is at most _HELD_BYTES. A larger range forms its own group."""
    group: list[Place] = []
    for place in places:
        if group and (
            place.offset + place.length - group[0].offset > _HELD_BYTES
            or not 0 <= place.offset - (group[-1].offset + group[-1].length) <= GAP_BYTES
        ):
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _is_held(place: Place) -> bool:
    return place.length <= _HELD_BYTES
