"""Finds the records of a span. The readers of all spans of a file together return the same records
as a single reader of the whole file.

Reading can begin at a member (gzip, zstd, lz4). However, bytes that look like a member may be part
of another member, for example if a crawler archived an archive. Therefore, a part begins only at a
seam: a member that starts with a record, in a chain of undamaged members. The chain must be too
long to be part of another member (`Members.is_sound`). Whether an offset is a seam depends only on
the file. The reader of a span begins at the first seam in the span, and the reader of the previous
span ends at the same seam. Even in a damaged file, no record is read twice or missed. A file
without seams is read completely by the task for the first span.

In an uncompressed file, only the lengths of all earlier records distinguish a record from a record
quoted in a page. Therefore, the task for each span reads the headers from the beginning of the
file, but returns only the records in its span.
"""

from functools import cached_property

from dripper.decode.compression import RUN_BYTES
from dripper.warc.read.frames import FrameReader, Part
from dripper.warc.read.members import Members
from dripper.warc.read.record import Span


def find_part(members: Members, span: Span, hold_bytes: int) -> Part | None:
    """Return the part of a file that belongs to `span`, or None if there is none.

    In a compressed file, this reads about 128 KiB, the maximum length of uncompressed bytes inside
    a gzip or zstd member (`RUN_BYTES`).

    Args:
        hold_bytes: See `FrameReader`.
    """
    end = span.end
    if end == 0:
        return None
    if not members.is_compressed():
        return Part(0, span.start, lambda offset: end is not None and offset >= end)
    seams = _Seams(members, hold_bytes)
    at = seams.find_first(span.start, end) if span.start else 0
    return None if at is None else Part(at, 0, lambda offset: end is not None and offset >= end and seams.is_at(offset))


def find_reach(span: Span) -> tuple[int, int | None]:
    """Return the byte range that is usually needed to find and read a span's part. An end of None
    means the end of the file."""
    return max(0, span.start - LINK_BYTES), None if span.end is None else span.end + _AHEAD_BYTES


LINK_BYTES = 1 << 16
"""Number of bytes before a seam to search for members that start with a record. The chain from the
last such member must lead to the seam."""

_AHEAD_BYTES = 3 << 16
"""Bytes read after the end of a span to check whether the next span can begin there. They cover the
longest run of uncompressed bytes that a gzip member can contain, and the members around it."""


class _Seams:
    """Finds the members of a compressed file at which a part can begin."""

    def __init__(self, members: Members, hold_bytes: int) -> None:
        self._members = members.reopen()
        self._hold_bytes = hold_bytes
        self._last: int | None = None
        self._until = 0

    @cached_property
    def _magic(self) -> bytes | None:
        """The magic bytes of the file's members. A member with other magic bytes is not a seam,
        because an lz4 member may contain complete gzip members verbatim."""
        first = next(self._members.find_starts(0), None)
        return None if first is None else self._members.read_magic(first)

    def find_first(self, start: int, end: int | None) -> int | None:
        """Return the stored offset of the first seam in [start, end), or None."""
        before = None
        for at in self._members.find_starts(max(0, start - LINK_BYTES), end):
            if at >= start and self._follows(before, at) and self._begins_chain(at):
                return at
            before = at
        return None

    def is_at(self, offset: int) -> bool:
        """Return whether there is a seam at stored offset `offset`. If the offsets increase from
        call to call, no bytes are searched twice."""
        if offset < self._until:
            self._last = None
        begin = max(0, offset - LINK_BYTES, self._until if self._last else 0)
        for at in self._members.find_starts(begin, offset):
            self._last = at
        self._until = offset
        starts_here = next(self._members.find_starts(offset, offset + 1), None) is not None
        return starts_here and self._follows(self._last, offset) and self._begins_chain(offset)

    def _follows(self, before: int | None, at: int) -> bool:
        """Return whether the chain from the member at `before` leads to the member at `at`.
        `before` is the last member before `at`. If the chain does not, one of the two may be nested
        in another member. (Checking whether `before` is sound would take too long.)"""
        return before is None or at - before > LINK_BYTES or self._members.leads_to(before, at)

    def _begins_chain(self, at: int) -> bool:
        if self._magic is None or self._members.read_magic(at) != self._magic:
            return False
        begins_well = FrameReader(self._members.reopen(), self._hold_bytes, Part(at)).begins_well()
        return begins_well and self._members.is_sound(at, RUN_BYTES[self._magic])
