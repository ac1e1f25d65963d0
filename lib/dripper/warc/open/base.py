"""Defines the interface of stored archive files, and a cursor over their bytes."""

import gzip
import io
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

READ_BYTES = 1 << 16
"""Bytes a read: 1.15 CPU ms a page of 180 kB (three records); with 8, 16 and 32 KiB 1.19, 1.20 and
1.13. Not more, because the rest of a read is copied at the end of each member."""

_MOST_BYTES = 1 << 20
"""Bytes of one read at most, so that a length claimed by a file costs no memory before the bytes
arrive."""


class Readable(Protocol):
    """The part of a binary file that the reader needs."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        ...

    def close(self) -> None:
        """Close the file or connection."""
        ...


class Source(Protocol):
    """An archive file that can be opened at any byte, as often as needed. `size_bytes`: None if
    unknown.

    version: changes with the file's content: `etag:…` or `mtime:…` (nanoseconds), None if the
    storage has neither.
    """

    size_bytes: int | None
    version: str | None

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """Return a stream of the file's bytes from `offset` on; raises InputError or OSError.

        Args:
            end: The stream may end there. A connection that is read to its end serves the next
                request too.
        """
        ...

    def close(self) -> None:
        """Close the open connections and files; a stream of `open_at` is closed separately."""
        ...


class Limited:
    """The first `size` bytes of a stream."""

    def __init__(self, stream: Readable, size: int) -> None:
        self._stream = stream
        self._size = size

    def read(self, size: int, /) -> bytes:
        """See `Readable`."""
        data = self._stream.read(min(size, self._size)) if self._size else b""
        self._size -= len(data)
        return data

    def close(self) -> None:
        """See `Readable`."""
        self._stream.close()


def read_up_to(stream: Readable, size: int) -> bytes:
    """Return the next `size` bytes of a stream, or fewer at its end."""
    parts = []
    while size and (data := stream.read(min(size, _MOST_BYTES))):
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


class _Raw(io.RawIOBase):
    """A stream as the standard library reads it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def unzip(stream: Readable) -> BinaryIO:
    """Return the rest of a stream as a file; gzip is inflated, also of several members. Reading it
    raises EOFError, OSError or zlib.error for damaged gzip."""
    file = io.BufferedReader(_Raw(stream), READ_BYTES)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if file.peek(2).startswith(b"\x1f\x8b") else file)


class Cursor:
    """Stored bytes from an offset on. stored: the bytes that are read and not used yet. at: the
    offset of the first of them."""

    def __init__(self, stream: Readable, at: int) -> None:
        self.at = at
        self.stored = b""
        self._stream = stream

    def read_more(self, size: int = READ_BYTES) -> bool:
        """Read up to `size` bytes more; False at the end of the file."""
        data = self._stream.read(size)
        self.stored = self.stored + data if self.stored else data
        return bool(data)

    def fill(self, size: int) -> bool:
        """Read until there are at least `size` bytes; return False if the file ends before that."""
        while len(self.stored) < size:
            if not self.read_more(max(READ_BYTES, size - len(self.stored))):
                return False
        return True

    def keep(self, rest: bytes) -> None:
        """Go on to `rest`, the tail of `stored`."""
        self.at += len(self.stored) - len(rest)
        self.stored = rest


def read_bites(cursor: Cursor, good: int) -> Iterator[bytes]:
    """Yield stored bytes as read up to offset `good`, one by one from there."""
    while cursor.stored or cursor.read_more():
        bite = cursor.stored[: max(0, good - cursor.at)]
        if bite:
            yield bite
        else:
            yield from (bytes((byte,)) for byte in cursor.stored)
        cursor.keep(cursor.stored[len(bite) :] if bite else b"")


_NUMBER_DIGITS = 18
"""More digits than the size of any file has; Python refuses to read numbers of more than 4,300
digits."""


def parse_whole_number(text: str | None) -> int | None:
    """Return the number that a header gives, or None if it cannot be a size or a code: no digits,
    or more digits than any size has. Never raises.

    >>> [parse_whole_number(text) for text in (" 680 ", "-1", "²", "9" * 5000)]
    [680, None, None, None]
    """
    digits = (text or "").strip()
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _NUMBER_DIGITS else None
