"""Holds a moving window over an archive's inflated bytes: it looks ahead, drops bytes, and goes
back when a length turns out to be wrong.

Positions count inflated bytes from where reading began; a `Boundary` ties a position to a stored
offset.
"""

import re
from bisect import bisect_left, bisect_right
from operator import attrgetter, itemgetter

from dripper.warc.read.headers import RECORD_START, START_BYTES, find_start
from dripper.warc.read.members import Boundary, Members

_TRIM_BYTES = 1 << 20
"""Bytes dropped at once: moving the remaining bytes for every record would cost more."""

_NOT_BLANK = re.compile(rb"[^\r\n]")
_LONG_RUN = 1 << 10
"""Line ends in a row that are remembered, as looking for their end once more would take longer."""
_position = attrgetter("position")
_last = itemgetter(1)


class Window:
    """The bytes from `start` to `end` of one archive file, never more than `hold_bytes` and a few
    MiB. at: the stored offset at which reading begins: 0, the offset of a member, or any offset in
    an uncompressed file."""

    def __init__(self, members: Members, hold_bytes: int, at: int = 0) -> None:
        self.boundaries: list[Boundary] = []
        self.start = 0
        self._hold_bytes = hold_bytes
        self._at = at
        self._members = members
        self._pieces = members.pieces(at)
        self._buffer = bytearray()
        self._blank_runs: list[tuple[int, int]] = []
        self._stops: list[int] = []
        self._n_checked = 0

    @property
    def end(self) -> int:
        """The position after the last byte read."""
        return self.start + len(self._buffer)

    def pull(self) -> bool:
        """Read on: more bytes, or a boundary; False at the end of the file."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        if isinstance(piece, bytes):
            self._buffer += piece
            if len(self._buffer) > self._hold_bytes + _TRIM_BYTES:
                self._drop(len(self._buffer) - self._hold_bytes)
        else:
            piece.position = self.end
            self.boundaries.append(piece)
        return True

    def fill(self, position: int) -> bool:
        """Read the bytes up to `position`; return False if the file ends before it."""
        while self.end < position:
            if not self.pull():
                return False
        return True

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes of [start, end) that the window holds."""
        with memoryview(self._buffer) as view:
            return bytes(view[max(0, start - self.start) : max(0, end - self.start)])

    def search(self, pattern: re.Pattern[bytes], start: int, end: int) -> int:
        """Return the position after the first match of `pattern` in [start, end), or -1."""
        match = pattern.search(self._buffer, start - self.start, max(0, end - self.start))
        return match.end() + self.start if match else -1

    def matches(self, pattern: re.Pattern[bytes], position: int) -> bool:
        """Return whether `pattern` matches at `position`; reads on as far as a record's first line
        may reach."""
        while not pattern.match(self._buffer, position - self.start):
            if self.end >= position + START_BYTES or not self.pull():
                return False
            self.fill(
                min(position + START_BYTES, 2 * self.end - position)
            )  # twice as much: members may give a byte each
        return True

    def skip_blank(self, position: int) -> int:
        """Return the position of the first byte at or after `position` that is no line end, or
        `end` at the file's end."""
        begin, index = position, bisect_right(self._blank_runs, position, key=_last) if self._blank_runs else 0
        match = None
        if index < len(self._blank_runs):  # many records may claim to end in the same run of line ends
            first, last = self._blank_runs[index]
            if first > position:
                match = _NOT_BLANK.search(self._buffer, position - self.start, first - self.start)
            if not match:
                begin, position = min(begin, first), last
        while not (match := match or _NOT_BLANK.search(self._buffer, position - self.start)):
            position = self.end
            if not self.pull():
                break
        end = match.start() + self.start if match else self.end
        if end - begin > _LONG_RUN:
            self._blank_runs[index : index + (position == end)] = [(begin, end)]
        return end

    def find_member_at(self, position: int) -> Boundary | None:
        """Return the member with its first inflated byte at `position`."""
        return next((b for b in reversed(self.between(position, position)) if not b.problem), None)

    def between(self, start: int, end: int) -> list[Boundary]:
        """Return the boundaries at positions `start` to `end`, both included."""
        low = bisect_left(self.boundaries, start, key=_position)
        return self.boundaries[low : bisect_right(self.boundaries, end, key=_position)]

    def reach(self, start: int, target: int) -> int:
        """Read from `start` to `target`; return `target`, or an earlier position at which a block
        cannot go on."""
        position = start
        while True:
            end = self.end
            if (stop := self._find_stop(position, min(end, target - 1))) is not None:
                return stop
            if end >= target:
                return target
            if not self.pull() and self.end == end:  # `_stop` may have read on
                return end
            position = end

    def find_next_start(self, start: int, arc: bool | None) -> int:
        """Return the position, at or after `start`, at which the next record starts or inflating
        stops; else the file's end.

        A member that starts with a record ends another one too.
        """
        searched_to = start
        while True:
            end = self.end
            stop = self._find_stop(searched_to, end)
            position = find_start(
                self._buffer, searched_to - self.start, arc, (end if stop is None else stop) - self.start
            )
            if position >= 0:
                return position + self.start
            if stop is not None:
                return stop
            if not self.pull() and self.end == end:
                return end
            while self.end < end + START_BYTES and self.pull():  # searched again below: never a few bytes at a time
                pass
            searched_to = max(start, end - START_BYTES)

    def _find_stop(self, low: int, high: int) -> int | None:
        """Return the first position in low..high at which no record that began before can go on.

        Each boundary is looked at once: the blocks of many records may claim to reach over all of
        them.
        """
        while self._n_checked < len(self.boundaries) and self.boundaries[self._n_checked].position <= high:
            boundary = self.boundaries[self._n_checked]
            self._n_checked += 1
            at = boundary.position
            if boundary.problem or (at >= self.start and self.matches(RECORD_START, at)):
                self._stops.append(at)
        index = bisect_left(self._stops, low)
        return self._stops[index] if index < len(self._stops) and self._stops[index] <= high else None

    def find_start(self, start: int, end: int, arc: bool | None) -> int:
        """Return the position in [start, end) at which the next record starts, or -1."""
        position = find_start(self._buffer, start - self.start, arc, end - self.start)
        return position + self.start if position >= 0 else -1

    def find_member_before(self, position: int) -> int | None:
        """Return the stored offset of the last member that starts at or before `position`, if its
        boundary is not released."""
        boundary = next((b for b in reversed(self.boundaries[-2:]) if b.position <= position), None)
        if boundary is None and (index := bisect_right(self.boundaries, position, key=_position)):
            boundary = self.boundaries[index - 1]
        return boundary.stored if boundary else None

    def find_next_boundary(self, position: int) -> int:
        """Return the first position after `position` at which a member starts or bytes are lost, or
        `end` at the file's end; drops all bytes before it."""
        while (index := bisect_right(self.boundaries, position, key=_position)) == len(self.boundaries):
            if not self.pull():
                return self.end
        return self.boundaries[index].position

    def release(self, position: int) -> None:
        """Drop the bytes and boundaries before `position`; they are not needed again."""
        if position - self.start > _TRIM_BYTES:
            self._drop(position - self.start)
            del self._blank_runs[: bisect_right(self._blank_runs, position, key=_last)]
        if len(self.boundaries) > 64:
            n_gone = bisect_left(self.boundaries, position, key=_position)
            del self.boundaries[:n_gone]
            self._n_checked = max(0, self._n_checked - n_gone)
            del self._stops[: bisect_left(self._stops, position)]

    def rewind(self, position: int) -> None:
        """Make the bytes from `position` on available again; they must not be released. Opens the
        file once more if they were dropped."""
        if position >= self.start:
            return
        # The bytes at `position` can be inflated from there.
        boundary = Boundary(self._at + position, position=position)
        if self._members.compressed:
            boundary = [b for b in self.boundaries if b.position <= position and not b.problem][-1]
        self.boundaries = [b for b in self.boundaries if b.position < boundary.position]
        self._n_checked = min(self._n_checked, len(self.boundaries))
        self._stops = [at for at in self._stops if at < boundary.position]
        self._blank_runs.clear()
        self._pieces = self._members.pieces(boundary.stored)
        self._buffer.clear()
        self.start = boundary.position
        while self.end < position:
            self.pull()
        self._drop(position - self.start)

    def _drop(self, size: int) -> None:
        del self._buffer[:size]
        self.start += size
