"""Finds the start and end of a span's records in a file, so that the readers of all its spans
together read the same records as one reader.

Reading can begin at members (gzip, zstd, lz4). Bytes that look like a member may also lie inside
another, such as an archive that is a page of this one. So a part begins only at a seam: a member
that starts with a record, in a chain of undamaged members that is too long to be held by another
(`Members.is_sound`). Whether there is a seam at an offset depends on the file alone, so that the
reader of a span begins at the first seam in it, the one before ends there, and no record is read
twice or missed, whatever is damaged. A file without seams is read as a whole by the task of its
first span.

In an uncompressed file, only the lengths of all records before it distinguish a record from one
that is quoted in a page. So every task reads the headers from the start, and hands on the records
of its own span.
"""

from functools import cached_property

from dripper.decode.compression import RUN_BYTES
from dripper.warc.read.frames import FrameReader, Part
from dripper.warc.read.members import Members
from dripper.warc.read.record import Span


def find_part(members: Members, span: Span, hold_bytes: int) -> Part | None:
    """Return the part of a file that belongs to `span`; None if there is none.

    Of a compressed file, about as much is read as the longest run that a member can hold, 128 KiB.

    Args:
        hold_bytes: As of `FrameReader`.
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
    """Return the start and the end of the bytes of a file that are usually needed to find and read
    a span's part; None: the file's end."""
    return max(0, span.start - LINK_BYTES), None if span.end is None else span.end + _AHEAD_BYTES


LINK_BYTES = 1 << 16
"""Distance before a seam within which another member must lead to it, if one starts with a record
there."""

_AHEAD_BYTES = 3 << 16
"""Bytes that are read behind the end of a span, to see that the next one may begin there: the
longest run that gzip can hold, and the members around it."""


class _Seams:
    """Finds the members of a compressed file at which a part may begin."""

    def __init__(self, members: Members, hold_bytes: int) -> None:
        self._members = members.reopen()
        self._hold_bytes = hold_bytes
        self._last: int | None = None
        self._until = 0

    @cached_property
    def _magic(self) -> bytes | None:
        """How the file's members start. Others are no seams: a member of lz4 may hold whole ones of
        gzip unchanged."""
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
        """Return whether there is a seam at stored offset `offset`. If it is asked for ever later
        offsets, it looks at the bytes before them once."""
        if offset < self._until:
            self._last = None
        begin = max(0, offset - LINK_BYTES, self._until if self._last else 0)
        for at in self._members.find_starts(begin, offset):
            self._last = at
        self._until = offset
        starts_here = next(self._members.find_starts(offset, offset + 1), None) is not None
        return starts_here and self._follows(self._last, offset) and self._begins_chain(offset)

    def _follows(self, before: int | None, at: int) -> bool:
        """Return whether the member at `before`, which comes last before `at`, leads to it. Members
        that lie inside each other do not, and it would take long to see whether these are sound."""
        return before is None or at - before > LINK_BYTES or self._members.leads_to(before, at)

    def _begins_chain(self, at: int) -> bool:
        if self._magic is None or self._members.read_magic(at) != self._magic:
            return False
        begins_well = FrameReader(self._members.reopen(), self._hold_bytes, Part(at)).begins_well()
        return begins_well and self._members.is_sound(at, RUN_BYTES[self._magic])
