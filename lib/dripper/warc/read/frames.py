"""Reads the records of a file one after the other, to its end, even if the file is damaged. Bytes
that contain no readable record become a `Gap`.

The format requires that a record's block (the bytes after its header) is followed by an empty line,
another record or the end of a member. If this is the case, the reader trusts the length in the
header. Otherwise, the block ends at the next record start that can be found. A wrong byte therefore
costs one record, never the rest of the file.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from dripper.decode.budget import MEMBER_RECORDS, RECORD_BYTES
from dripper.warc.read.headers import RECORD_START, START_BYTES, RecordHead, parse_arc_head, parse_warc_head
from dripper.warc.read.members import Boundary, Members
from dripper.warc.read.window import Window

Fault = Literal["clipped", "length mismatch", "damaged"]

HEAD_BYTES = 1 << 16
"""The number of bytes kept from an oversized block, enough for its HTTP header and for sniffing."""

_MAX_HEADER_BYTES = 1 << 20
"""The maximum size of a header. A few crawlers write whole JSON documents into header fields, but
an endless header must not consume the file."""

_SLACK_BYTES = 4 << 20
"""Bytes that the window holds in addition to one block: up to 1 MiB each of bytes not yet dropped,
of a header, and of the piece after the block."""

_FAR_REWINDS = 8
"""Maximum number of times that a file is reopened because the length of a huge block was wrong.
Counting starts again at each member that starts with a record. After this many times, a huge block
ends at the next record start. Without a limit, a file with n false lengths would be read n
times."""

_HEADER_END = re.compile(rb"\n\r?\n")
_HEADER_END_BYTES = 2
"""The number of bytes to search again when more bytes arrive: one less than the longest match of
`_HEADER_END`."""
_LINE_END = re.compile(rb"\n")
_LINE_ENDS = (b"\r\n\r\n", b"\n\n", b"\n")
_KEPT_TYPES = frozenset({"response", "resource", "continuation"})


@dataclass(frozen=True, slots=True)
class Frame:
    """One record: its header, its block, and its location in the file.

    offset, length: The byte range in the file. If no member contains only this record, `inflated`
    is set, and the range counts the bytes of the inflated file.

    block: b"" for record types that are never pages. Only the first `HEAD_BYTES` if the block is
    too large.

    block_bytes: The full size of the block.

    fault: The reason to suspect that the block does not equal the original block.
    """

    head: RecordHead
    offset: int
    length: int
    inflated: bool
    block: bytes
    block_bytes: int
    fault: Fault | None = None
    problem: str = ""

    @property
    def whole(self) -> bool:
        """Whether the block is as long as the header says."""
        return self.block_bytes == self.head.length


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that contain no readable record; `problem` names the offset.

    over_budget: Whether the bytes were skipped because their member contains too many records.

    n_locked: The number of zstd frames in the gap that need a dictionary missing from the file.
    """

    problem: str
    clipped: bool = False
    over_budget: bool = False
    n_locked: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a file to read.

    at: The stored offset at which reading begins: 0, or the offset of a member or record.

    skip: In an uncompressed file, records that start before this position are read but not yielded.

    ends: Takes the stored offset of a member, and returns whether the part ends before the first
    record of this member. In an uncompressed file, takes the offset of a record, and returns
    whether the part ends before this record.
    """

    at: int = 0
    skip: int = 0
    ends: Callable[[int], bool] = lambda _: False


class FrameReader:
    """Iterates over the records and gaps of an archive file, or of a part of the file.

    n_starts: The number of records with a readable header. If it is 0 at the end of the file, the
    file is not an archive.

    ended_at: The stored offset at which the part ended; None means the end of the file.
    """

    def __init__(self, members: Members, hold_bytes: int, part: Part | None = None) -> None:
        self.n_starts = 0
        self.ended_at: int | None = None
        self._members = members
        self._hold_bytes = hold_bytes
        self._part = part or Part()
        self._n_before = None if self._part.at else 0
        self._window = Window(members, hold_bytes + _SLACK_BYTES, self._part.at)
        self._position = 0
        self._arc: bool | None = None
        self._rewinds_left = _FAR_REWINDS
        self._header_end = (0, 0, -1)
        self._member: int | None = None
        self._n_of_member = 0

    def __iter__(self) -> Iterator[Frame | Gap]:
        window = self._window
        while True:
            start = window.skip_blank(self._position)
            for boundary in window.between(self._position, start):
                if boundary.problem and not boundary.reported:
                    boundary.reported = True
                    yield Gap(boundary.problem, boundary.clipped, n_locked=boundary.n_locked)
            if start == window.end or self._ends_part(start):
                return
            item = self._check_budget(start) or self._read_frame(start)
            items = self._join_segments(item) if isinstance(item, Frame) and item.head.segment else [item]
            if start >= self._part.skip:
                yield from items
            window.release(self._position)

    def begins_well(self) -> bool:
        """Return whether reading begins at a record that has a readable header and is not a
        continuation record. If a chain of undamaged members also starts there (`Members.is_sound`),
        neither this record nor later records depend on earlier bytes."""
        head = self._read_head(0)[0] if self._window.matches(RECORD_START, 0) else None
        return head is not None and head.record_type != "continuation"

    def _join_segments(self, first: Frame) -> list[Frame | Gap]:
        """Append the blocks of the continuation records directly after `first` to the block of
        `first`. These records are read even if they are after the end of the part.

        If the last segment is missing, the record is marked as truncated (`segmented`).
        """
        if first.head.record_type == "continuation":
            return [first]
        segments, block, items = [first], first.block, list[Frame | Gap]([first])
        while self._continues(segments[-1]):
            start = self._window.skip_blank(self._position)
            item = self._check_budget(start) or self._read_frame(start)
            if isinstance(item, Frame):
                segments.append(item)
                block += item.block if len(block) + len(item.block) <= self._hold_bytes else b""
            items.append(item)
        last, size = segments[-1].head.segment, sum(one.block_bytes for one in segments)
        is_whole = last is not None and last.total == size
        lengths = [one.head.length for one in segments]
        head = replace(
            first.head,
            length=None if None in lengths else sum(filter(None, lengths)),
            truncated=first.head.truncated or (None if is_whole else "segmented"),
        )
        faulty = next((one for one in segments if one.fault), first)
        items[0] = replace(first, head=head, block=block, block_bytes=size, fault=faulty.fault, problem=faulty.problem)
        return items

    def _continues(self, before: Frame) -> bool:
        """Return whether the next record is the segment after `before`."""
        start = self._window.skip_blank(self._position)
        if start == self._window.end or any(
            boundary.problem and not boundary.reported for boundary in self._window.between(self._position, start)
        ):
            return False
        head, last = self._read_head(start)[0], before.head.segment
        return (
            head is not None
            and head.record_type == "continuation"
            and head.segment is not None
            and last is not None
            and (head.segment.number, head.segment.origin) == (last.number + 1, last.origin)
        )

    def _ends_part(self, start: int) -> bool:
        """Return whether the part ends before the record at `start`."""
        offset: int | None = start
        if self._members.compressed:
            member = self._window.find_member_at(start)
            offset = member.stored if member else None
        if offset is None or not self._part.ends(offset):
            return False
        self.ended_at = offset
        return True

    def _check_budget(self, start: int) -> Gap | None:
        """Count the records in the current member. If the member has too many records for its size,
        skip the rest of the member and return a gap."""
        member = self._window.find_member_before(start)
        if member is not None and member != self._member:
            self._member, self._n_of_member = member, 0
        self._n_of_member += 1
        if self._member is None or self._n_of_member % MEMBER_RECORDS:
            return None
        least = self._n_of_member * RECORD_BYTES
        if self._members.reaches(self._member, least):
            return None
        self._position = self._window.find_next_boundary(start)
        return Gap(
            f"the member at byte {self._member} holds more than {self._n_of_member - 1} records in fewer than {least} "
            "bytes; what follows in it is not read",
            over_budget=True,
        )

    def _blame(self, start: int, end: int) -> Boundary | None:
        """If the first boundary from `start` to `end` has a problem, mark the problem as reported
        and return the boundary. Such a problem affects the bytes before the boundary."""
        boundary = next(iter(self._window.between(start, end)), None)
        # A problem after the start of a member belongs to that member.
        if boundary is None or not boundary.problem:
            return None
        boundary.reported = True
        return boundary

    def _read_frame(self, start: int) -> Frame | Gap:
        """Read the record at `start` and move to its end. If there is no record, read a gap."""
        head, at = self._read_head(start)
        if head is None:
            return self._skip_gap(start)
        if self._window.find_member_at(start) and self._window.matches(RECORD_START, start):
            # Reset the count. The file cannot be reread forever, because even a block with a false
            # length ends at such a member.
            self._rewinds_left = _FAR_REWINDS
        self.n_starts += 1
        first = self._read_first_bytes(head, at)
        end, trusted = self._find_end_of_block(at, head.length)
        after = self._window.skip_blank(end)
        offset, length, inflated = self._locate(start, end, after)
        fault, problem = self._find_fault(head, at, end, after, trusted)
        self._position = end
        block = b""
        if head.record_type in _KEPT_TYPES:
            block = self._window.read(at, end) if at >= self._window.start else first[: end - at]
        return Frame(head, offset, length, inflated, block, end - at, fault, problem)

    def _read_head(self, start: int) -> tuple[RecordHead | None, int]:
        """Return the header at `start` and the position of its block, or (None, start) if there is
        no header."""
        window = self._window
        if not window.matches(RECORD_START, start) and not self._arc:  # the date in an ARC line may be invalid
            return None, start
        is_warc = window.read(start, start + 5).upper() == b"WARC/"
        at = self._find_end_of_header(start) if is_warc else self._find_end_of_line(start)
        if at < 0:
            return None, start
        if window.find_start(start + 1, at, arc=False) >= 0 or any(
            b.problem or window.matches(RECORD_START, b.position) for b in window.between(start + 1, at - 1)
        ):
            return None, start
        block = window.read(start, at)
        head = parse_warc_head(block) if is_warc else parse_arc_head(block)
        if head:
            self._arc = not is_warc
        return head, at

    def _find_end_of_line(self, start: int) -> int:
        window, limit = self._window, start + START_BYTES
        while (at := window.search(_LINE_END, start, min(window.end, limit))) < 0:
            if window.end >= limit or not window.pull():
                return -1
        return at

    def _find_end_of_header(self, start: int) -> int:
        """Return the position after the empty line that ends the header at `start`, or -1.

        Bytes that were searched for the end of one header are not searched again for the next
        header. Otherwise, 1 MiB with 60,000 record starts and no empty line would be searched
        60,000 times.
        """
        window, limit = self._window, start + _MAX_HEADER_BYTES
        first, searched, at = self._header_end
        if not first <= start < searched:
            first, searched, at = start, start, -1
        while at < 0 and searched < limit:
            begin, searched = max(start, searched - _HEADER_END_BYTES), min(window.end, limit)
            at = window.search(_HEADER_END, begin, searched)
            if at < 0 and searched == window.end < limit and not window.pull():
                break
        self._header_end = first, searched if at < 0 else at - _HEADER_END_BYTES, at
        return at

    def _skip_gap(self, start: int) -> Gap:
        """Skip to the next record start."""
        window = self._window
        first = window.read(start, start + 5)
        end = window.find_next_start(start + 1, self._arc)
        offset, _, inflated = self._locate(start, end, end)
        boundary = self._blame(end, end)
        clipped = boundary.clipped if boundary else end == window.end and b"WARC/".startswith(first)
        self._position = end
        reason = f" ({boundary.problem})" if boundary else ""
        return Gap(
            f"no record can be read in the {end - start} bytes from {'inflated ' if inflated else ''}byte {offset}{reason}",
            clipped,
        )

    def _read_first_bytes(self, head: RecordHead, at: int) -> bytes:
        """If a block could be too large for the window, return the block's first bytes; otherwise,
        return b""."""
        if (head.length is not None and head.length <= self._hold_bytes) or head.record_type not in _KEPT_TYPES:
            return b""
        self._window.fill(at + HEAD_BYTES)
        return self._window.read(at, at + HEAD_BYTES)

    def _find_end_of_block(self, at: int, length: int | None) -> tuple[int, bool]:
        """Return the end of the block that starts at `at`, and whether the length in the header is
        right."""
        window, target, blank = self._window, at + (length or 0), False
        if length is not None and (length <= self._hold_bytes or self._rewinds_left):
            if window.reach(at, target) == target:
                if self._ends_well(target):
                    return target, True
                blank = window.read(target, target + 4).startswith(b"\n" if self._arc else (b"\r\n\r\n", b"\n\n"))
            self._rewinds_left -= window.start > at
        window.rewind(at)
        end = window.find_next_start(at, self._arc)
        # No record starts inside, and an empty line follows, so any damage comes after this record.
        if blank and end >= target:
            window.rewind(target)
            return target, True
        # The file ends inside the block, so no line ends follow the block.
        if end == window.end and length is not None and end < target:
            return end, False
        tail = window.read(max(at, end - 4), end)
        return end - next((len(line_ends) for line_ends in _LINE_ENDS if tail.endswith(line_ends)), 0), False

    def _ends_well(self, end: int) -> bool:
        """Return whether a record, another member or the end of the file follows a block that ends
        at `end`."""
        after = self._window.skip_blank(end)
        followed = self._window.between(end, after) or after == self._window.end
        return bool(followed) or self._window.matches(RECORD_START, after)

    def _locate(self, start: int, end: int, after: int) -> tuple[int, int, bool]:
        """Return (offset, length, inflated) of the record from `start` to `end`; see `Frame`.

        after: The position after the line ends that follow the record.
        """
        if not self._members.compressed:
            return self._part.at + start, end - start, False
        first = [b.stored for b in self._window.between(self._position, start) if not b.problem]
        last = [b.stored for b in self._window.between(max(end, start + 1), after)]
        if not last and after == self._window.end:
            last = [self._members.bytes_read]
        if first and last:
            return first[-1], last[0] - first[-1], False
        if self._n_before is None:
            self._n_before = self._members.count_inflated_before(self._part.at)
        return self._n_before + start, end - start, True

    def _find_fault(self, head: RecordHead, at: int, end: int, after: int, trusted: bool) -> tuple[Fault | None, str]:
        """Return the fault of the block from `at` to `end`, and a message about it."""
        if boundary := self._blame(end, after):
            return "clipped" if boundary.clipped else "damaged", boundary.problem
        if trusted:
            return None, ""
        says = "no length" if head.length is None else f"{head.length} bytes"
        clipped = (
            after == self._window.end
            and head.length is not None
            and not self._members.compressed
            and head.length > end - at
        )
        return "clipped" if clipped else "length mismatch", f"a record of {end - at} bytes whose header says {says}"
