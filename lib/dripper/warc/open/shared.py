"""Shares one connection among all readers of a remote file.

Reading a file, or a span of it, needs the same bytes several times: to detect the file type, to
check whether the span starts and ends at member boundaries, and to read the records. If each of
these reads opened its own connection, it would cost a request, plus the bytes still in transit when
the connection is closed. Therefore, this module keeps recent bytes and serves later reads from
memory.
"""

from collections.abc import Sequence

from dripper.settings import ReadSettings
from dripper.warc.open.base import Readable, Source
from dripper.warc.open.source import LocalFile, open_source
from dripper.warc.open.wacz import WACZ_NAME, Slice

FIRST_BYTES = 1 << 13
"""Number of bytes kept from the start of a file, enough to detect the file type."""

_PULL_BYTES = 1 << 15
"""Bytes per read from a connection. With twice as many, reads would go too far past the end of a
span."""

_BEHIND_BYTES = 1 << 18
"""Number of bytes kept before the position of the slowest stream. The search for the end of a span
reads a member and the 64 KiB before it a second time."""

_HELD_BYTES = 1 << 23
"""The maximum number of bytes kept. A chain of lz4 members may have to be followed for 4 MiB
(`RUN_BYTES`)."""

_FIRST_STEP, _STEP_RATIO = 1 << 16, 4
"""The size of the first request after the expected end, and the factor by which each further
request grows. A read that goes little beyond the expected end therefore wastes few bytes, and a
read that goes far beyond it takes few requests."""


def open_shared(path: str, settings: ReadSettings, begin: int, until: int | None) -> Source:
    """Open the file at `path`, which will probably be read from `begin` to `until` (None: to its
    end). Raises FileError if the file cannot be opened.

    For remote files, the request that determines size and version also returns the first bytes.
    """
    if WACZ_NAME.search(path):  # only the directory at the end of the WACZ shows which bytes will be read
        begin, until = 0, FIRST_BYTES
    source = open_source(path, settings, until if begin <= FIRST_BYTES else FIRST_BYTES)
    return source if isinstance(source, LocalFile) else SharedSource(source, begin, until)


def share_slice(inner: Slice, begin: int, until: int | None) -> Source:
    """Open an archive inside a file that is already open, like `open_shared`. The archive gets its
    own connection."""
    return inner if isinstance(inner.source, LocalFile) else SharedSource(inner, begin, until)


class SharedSource:
    """A `Source` with streams that share the bytes they read.

    begin, until: The range that will probably be read. Other bytes can be read at the cost of extra
    requests.
    """

    def __init__(self, source: Source, begin: int, until: int | None) -> None:
        self.size_bytes, self.version = source.size_bytes, source.version
        self._source = source
        if begin <= FIRST_BYTES:
            self._stretches = [_Stretch(source, 0, [until])]
        else:  # if the file is not compressed, it is read from its start
            head = _Stretch(source, 0, [FIRST_BYTES, FIRST_BYTES + _FIRST_STEP, until])
            self._stretches = [head, _Stretch(source, begin, [until])]

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """See `Source`."""
        return _View(self._source, self._stretches, offset, end)

    def close(self) -> None:
        """See `Source`."""
        for stretch in self._stretches:
            stretch.close()
        self._source.close()


class _Ranges:
    """Reads a file from an offset onwards. One range request goes up to each of `bounds`, and later
    requests grow in size."""

    def __init__(self, source: Source, at: int, bounds: Sequence[int | None]) -> None:
        self.at = at
        self._source = source
        # If the file size is unknown, the end of a range cannot be distinguished from the end of
        # the file.
        self._until, *self._bounds = bounds if source.size_bytes is not None else [None]
        self._step = _FIRST_STEP
        self._stream: Readable | None = None

    def read(self, size: int, /) -> bytes:
        """See `Readable`."""
        if self.at == self._until:
            self.close()
            self._until = self._find_next_bound()
        if self._source.size_bytes is not None and self.at >= self._source.size_bytes:
            return b""
        if self._stream is None:
            self._stream = self._source.open_at(self.at, self._until)
        data = self._stream.read(size if self._until is None else min(size, self._until - self.at))
        self.at += len(data)
        return data

    def _find_next_bound(self) -> int | None:
        if self._bounds:
            return self._bounds.pop(0)
        step, self._step = self._step, self._step * _STEP_RATIO
        return self.at + step

    def close(self) -> None:
        """See `Readable`."""
        if self._stream:
            self._stream.close()
        self._stream = None


class _Stretch:
    """The most recent bytes of a stream that starts at `begin`, and the connection that provides
    the next bytes."""

    def __init__(self, source: Source, begin: int, bounds: Sequence[int | None]) -> None:
        self.views: list[_View] = []
        self._begin = self._start = begin
        self._first = b""
        self._held = bytearray()
        self._ranges = _Ranges(source, begin, bounds)

    def read(self, at: int, size: int) -> bytes | None:
        """Return up to `size` bytes at `at`, or b"" at the end of the file. Return None if these
        bytes are neither held nor the next ones in the stream."""
        if self._begin <= at < self._begin + len(self._first):
            return self._first[at - self._begin :][:size]
        if not self._start <= at <= self._ranges.at:
            return None
        if at == self._ranges.at:
            self._trim()
            self._held += self._ranges.read(min(size, _PULL_BYTES))
        begin = at - self._start
        with memoryview(self._held) as view:
            return bytes(view[begin : begin + size])

    def _trim(self) -> None:
        """Drop the bytes that no open stream will read again."""
        first = min(view.at for view in self.views) - _BEHIND_BYTES
        n_gone = max(first, self._ranges.at - _HELD_BYTES) - self._start
        if n_gone > _BEHIND_BYTES:
            self._first = self._first or bytes(self._held[:FIRST_BYTES])
            del self._held[:n_gone]
            self._start += n_gone

    def close(self) -> None:
        """Close the connection and drop all held bytes."""
        self._ranges.close()
        self._held.clear()
        self._start = self._ranges.at


class _View:
    """A stream over the bytes that the stretches hold. For other bytes, the stream opens its own
    connection."""

    def __init__(self, source: Source, stretches: list[_Stretch], at: int, end: int | None) -> None:
        self.at = at
        self._source = source
        self._end = end
        self._own: _Ranges | None = None
        self._stretches = stretches
        for stretch in stretches:
            stretch.views.append(self)

    def read(self, size: int, /) -> bytes:
        """See `Readable`."""
        data = self._own.read(size) if self._own else self._read_held(size)
        self.at += len(data)
        return data

    def _read_held(self, size: int) -> bytes:
        for stretch in reversed(self._stretches):
            data = stretch.read(self.at, size)
            if data is not None:
                return data
        self._leave()
        self._own = _Ranges(self._source, self.at, [self._end or self.at + _FIRST_STEP])
        return self._own.read(size)

    def _leave(self) -> None:
        for stretch in self._stretches:
            if self in stretch.views:
                stretch.views.remove(self)

    def close(self) -> None:
        """See `Readable`."""
        self._leave()
        if self._own:
            self._own.close()
