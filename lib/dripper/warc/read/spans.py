"""Finds the start and end of a span's records in a file, so that the readers of all spans of the
file together read the same records as a single reader.

Reading can begin at members (gzip, zstd, lz4). Bytes that look like a member may also be inside
another member, for example if an archive was itself archived as a page. So a part begins only at a
seam: a member that starts with a record, in a chain of undamaged members that is too long to fit
inside another member (`Members.is_sound`). Whether there is a seam at an offset depends only on the
file. So the reader of a span begins at the first seam in the span, the reader of the span before
ends there, and no record is read twice or missed, whatever is damaged. The task for the first span
reads a file without seams completely.

In an uncompressed file, a record can only be distinguished from a record quoted in a page by the
lengths of all records before it. So every task reads the headers from the start, and returns only
the records in its own span.
"""

from functools import cached_property

from dripper.decode.compression import RUN_BYTES
from dripper.warc.read.frames import FrameReader, Part
from dripper.warc.read.members import Members
from dripper.warc.read.record import Span


def find_part(members: Members, span: Span, hold_bytes: int) -> Part | None:
    """Return the part of a file that belongs to `span`, or None if there is none.

    In a compressed file, this reads about 128 KiB, the longest run that a member can contain.

    Args:
        hold_bytes: As for `FrameReader`.
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
    """Return the start and end of the byte range that is usually needed to find and read a span's
    part. An end of None means the file's end."""
    return max(0, span.start - LINK_BYTES), None if span.end is None else span.end + _AHEAD_BYTES


LINK_BYTES = 1 << 16
"""Distance before a seam: if a member that starts with a record is within this distance, the chain
of members from there must lead to the seam."""

_AHEAD_BYTES = 3 << 16
"""Bytes that are read after the end of a span to check that the next span may begin there: the
longest run that a gzip member can contain, and the members around it."""


class _Seams:
    """Finds the members of a compressed file at which a part may begin."""

    def __init__(self, members: Members, hold_bytes: int) -> None:
        self._members = members.reopen()
        self._hold_bytes = hold_bytes
        self._last: int | None = None
        self._until = 0

    @cached_property
    def _magic(self) -> bytes | None:
        """The first bytes of the file's members. A member that starts otherwise is not a seam: an
        lz4 member may contain complete gzip members unchanged."""
        first = next(self._members.find_starts(0), None)
        return None if first is None else self._members.read_magic(first)

    def find_first(self, start: int, end: int | None) -> int | None:
        """Return the stored offset of the first seam from `start` up to `end`, or None."""
        before = None
        for at in self._members.find_starts(max(0, start - LINK_BYTES), end):
            if at >= start and self._follows(before, at) and self._begins_chain(at):
                return at
            before = at
        return None

    def is_at(self, offset: int) -> bool:
        """Return whether there is a seam at stored offset `offset`. If the offsets increase from
        call to call, the bytes before them are searched only once."""
        if offset < self._until:
            self._last = None
        begin = max(0, offset - LINK_BYTES, self._until if self._last else 0)
        for at in self._members.find_starts(begin, offset):
            self._last = at
        self._until = offset
        starts_here = next(self._members.find_starts(offset, offset + 1), None) is not None
        return starts_here and self._follows(self._last, offset) and self._begins_chain(offset)

    def _follows(self, before: int | None, at: int) -> bool:
        """Return whether the chain from the member at `before`, the last one before `at`, leads to
        `at`. Members that are inside each other do not lead to each other; checking whether they
        are sound would take too long."""
        return before is None or at - before > LINK_BYTES or self._members.leads_to(before, at)

    def _begins_chain(self, at: int) -> bool:
        if self._magic is None or self._members.read_magic(at) != self._magic:
            return False
        begins_well = FrameReader(self._members.reopen(), self._hold_bytes, Part(at)).begins_well()
        return begins_well and self._members.is_sound(at, RUN_BYTES[self._magic])
