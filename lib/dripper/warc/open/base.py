"""Defines the interface to stored archive files, and a cursor over their bytes."""

import gzip
import io
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

READ_BYTES = 1 << 16
"""Bytes per read. This size costs 1.15 CPU ms per page of 180 kB (three records); 8, 16 and 32 KiB
cost 1.19, 1.20 and 1.13 ms. The size is not larger, because the rest of a read is copied at the end
of each member."""

_MOST_BYTES = 1 << 20
"""The maximum number of bytes per read, so that a length claimed by a file costs no memory before
the bytes arrive."""


class Readable(Protocol):
    """The methods of a binary file that the reader needs."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        ...

    def close(self) -> None:
        """Close the file or connection."""
        ...


class Source(Protocol):
    """An archive file that can be opened at any byte, any number of times. size_bytes: None if
    unknown.

    version: A string that changes with the file's content: `etag:…` or `mtime:…` (nanoseconds).
    None if the storage has neither.
    """

    size_bytes: int | None
    version: str | None

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """Return a stream of the file's bytes, starting at `offset`. Raises InputError or OSError.

        Args:
            end: The offset at which the stream may end. A connection that is read to its end is
                reused for the next request.
        """
        ...

    def close(self) -> None:
        """Close the open connections and files. Streams from `open_at` are closed separately."""
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
    """Adapts a `Readable` to the `io` classes of the standard library."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def unzip(stream: Readable) -> BinaryIO:
    """Return the rest of a stream as a file. If it is gzip, it is inflated, even if it has several
    members. Reading damaged gzip raises EOFError, OSError or zlib.error."""
    file = io.BufferedReader(_Raw(stream), READ_BYTES)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if file.peek(2).startswith(b"\x1f\x8b") else file)


class Cursor:
    """A position in a file's stored bytes. stored: The bytes that have been read but not yet used.
    at: The offset of the first byte in `stored`."""

    def __init__(self, stream: Readable, at: int) -> None:
        self.at = at
        self.stored = b""
        self._stream = stream

    def read_more(self, size: int = READ_BYTES) -> bool:
        """Read up to `size` more bytes; return False at the end of the file."""
        data = self._stream.read(size)
        self.stored = self.stored + data if self.stored else data
        return bool(data)

    def fill(self, size: int) -> bool:
        """Read until `stored` has at least `size` bytes; return False if the file ends before
        that."""
        while len(self.stored) < size:
            if not self.read_more(max(READ_BYTES, size - len(self.stored))):
                return False
        return True

    def keep(self, rest: bytes) -> None:
        """Keep only `rest`, the tail of `stored`, and move `at` accordingly."""
        self.at += len(self.stored) - len(rest)
        self.stored = rest


def read_bites(cursor: Cursor, good: int) -> Iterator[bytes]:
    """Yield the stored bytes: in pieces up to offset `good`, then one byte at a time."""
    while cursor.stored or cursor.read_more():
        bite = cursor.stored[: max(0, good - cursor.at)]
        if bite:
            yield bite
        else:
            yield from (bytes((byte,)) for byte in cursor.stored)
        cursor.keep(cursor.stored[len(bite) :] if bite else b"")


_NUMBER_DIGITS = 18
"""The maximum number of digits; no file size has more. Python refuses to parse numbers of more than
4,300 digits."""


def parse_whole_number(text: str | None) -> int | None:
    """Return the number in a header, or None if it cannot be a size or a code because it is not all
    digits, or has too many digits. Never raises.

    >>> [parse_whole_number(text) for text in (" 680 ", "-1", "²", "9" * 5000)]
    [680, None, None, None]
    """
    digits = (text or "").strip()
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _NUMBER_DIGITS else None
