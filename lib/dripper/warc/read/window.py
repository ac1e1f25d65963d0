"""A moving window over the inflated bytes of an archive. It reads ahead, drops bytes that are no
longer needed, and goes back if a length turns out to be wrong.

A position is a number of inflated bytes from the start of reading. A `Boundary` maps a position to
a stored offset.
"""

import re
from bisect import bisect_left, bisect_right
from operator import attrgetter, itemgetter

from dripper.warc.read.headers import RECORD_START, START_BYTES, find_start
from dripper.warc.read.members import Boundary, Members

_TRIM_BYTES = 1 << 20
"""Minimum number of bytes to drop at once. Moving the rest of the buffer after every record would
cost more."""

_NOT_BLANK = re.compile(rb"[^\r\n]")
_LONG_RUN = 1 << 10
"""Runs of line ends longer than this are remembered, because searching for their end again is
slow."""
_position = attrgetter("position")
_last = itemgetter(1)


class Window:
    """The bytes from `start` to `end` of an archive file, never more than `hold_bytes` plus a few
    MiB.

    at: The stored offset at which reading begins: 0 or the offset of a member. In an uncompressed
    file, any offset is valid.
    """

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
        """Read more bytes or a boundary; return False at the end of the file."""
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
        """Read until position `position`; return False if the file ends first."""
        while self.end < position:
            if not self.pull():
                return False
        return True

    def read(self, start: int, end: int) -> bytes:
        """Return those bytes of [start, end) that are still in the window."""
        with memoryview(self._buffer) as view:
            return bytes(view[max(0, start - self.start) : max(0, end - self.start)])

    def search(self, pattern: re.Pattern[bytes], start: int, end: int) -> int:
        """Return the end position of the first match of `pattern` in [start, end), or -1."""
        match = pattern.search(self._buffer, start - self.start, max(0, end - self.start))
        return match.end() + self.start if match else -1

    def matches(self, pattern: re.Pattern[bytes], position: int) -> bool:
        """Return whether `pattern` matches at `position`. Reads ahead by at most the length of a
        record start."""
        while not pattern.match(self._buffer, position - self.start):
            if self.end >= position + START_BYTES or not self.pull():
                return False
            self.fill(
                min(position + START_BYTES, 2 * self.end - position)
            )  # read twice as much each time, because members may have one byte each
        return True

    def skip_blank(self, position: int) -> int:
        """Return the position of the first byte at or after `position` that is not a line end, or
        `end` at the end of the file."""
        begin, index = position, bisect_right(self._blank_runs, position, key=_last) if self._blank_runs else 0
        match = None
        if index < len(self._blank_runs):  # use the remembered run, because many records may claim to end in it
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
        """Return the boundary of the member that starts at `position`, or None."""
        return next((b for b in reversed(self.between(position, position)) if not b.problem), None)

    def between(self, start: int, end: int) -> list[Boundary]:
        """Return the boundaries between positions `start` and `end`, both inclusive."""
        low = bisect_left(self.boundaries, start, key=_position)
        return self.boundaries[low : bisect_right(self.boundaries, end, key=_position)]

    def reach(self, start: int, target: int) -> int:
        """Read from `start` to `target`. Return `target`, or an earlier position beyond which a
        block cannot extend."""
        position = start
        while True:
            end = self.end
            if (stop := self._find_stop(position, min(end, target - 1))) is not None:
                return stop
            if end >= target:
                return target
            if not self.pull() and self.end == end:  # `_find_stop` may have read more
                return end
            position = end

    def find_next_start(self, start: int, arc: bool | None) -> int:
        """Return the first position at or after `start` at which a record starts or inflating
        stops. If there is none, return the end of the file.

        The start of a member that begins with a record also counts as a record start.
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
            # Read many bytes at once, because the overlap is searched again.
            while self.end < end + START_BYTES and self.pull():
                pass
            searched_to = max(start, end - START_BYTES)

    def _find_stop(self, low: int, high: int) -> int | None:
        """Return the first position between `low` and `high` that no record from before it can
        extend past. Return None if there is no such position.

        Each boundary is checked only once. Otherwise, many blocks that claim to extend over all
        boundaries would make this slow.
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
        """Return the position of the next record start in [start, end), or -1."""
        position = find_start(self._buffer, start - self.start, arc, end - self.start)
        return position + self.start if position >= 0 else -1

    def find_member_before(self, position: int) -> int | None:
        """Return the stored offset of the last member that starts at or before `position`. Return
        None if its boundary was released."""
        boundary = next((b for b in reversed(self.boundaries[-2:]) if b.position <= position), None)
        if boundary is None and (index := bisect_right(self.boundaries, position, key=_position)):
            boundary = self.boundaries[index - 1]
        return boundary.stored if boundary else None

    def find_next_boundary(self, position: int) -> int:
        """Return the first boundary after `position`, or `end` at the end of the file. The bytes
        before the boundary may be dropped."""
        while (index := bisect_right(self.boundaries, position, key=_position)) == len(self.boundaries):
            if not self.pull():
                return self.end
        return self.boundaries[index].position

    def release(self, position: int) -> None:
        """Allow the window to drop the bytes and boundaries before `position`."""
        if position - self.start > _TRIM_BYTES:
            self._drop(position - self.start)
            del self._blank_runs[: bisect_right(self._blank_runs, position, key=_last)]
        if len(self.boundaries) > 64:
            n_gone = bisect_left(self.boundaries, position, key=_position)
            del self.boundaries[:n_gone]
            self._n_checked = max(0, self._n_checked - n_gone)
            del self._stops[: bisect_left(self._stops, position)]

    def rewind(self, position: int) -> None:
        """Make the bytes from `position` onwards available again. If the window has dropped them,
        the file is reopened. `release` must not have been called for a later position."""
        if position >= self.start:
            return
        # Find the boundary from which the bytes at `position` can be read again.
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
