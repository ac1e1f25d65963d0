"""Defines the interface to stored archive files, and a cursor over their bytes."""

import gzip
import io
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

READ_BYTES = 1 << 16
"""Bytes per read. Reading a page of 180 kB (three records) took 1.15 ms of CPU time with 64 KiB,
and 1.19, 1.20 and 1.13 ms with 8, 16 and 32 KiB. Larger reads would copy more bytes at the end of
each member."""

_MOST_BYTES = 1 << 20
"""The maximum number of bytes per read. With this limit, a file that claims a huge length cannot
make the reader allocate memory before the bytes arrive."""


class Readable(Protocol):
    """The methods of a binary file that the reader needs."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        ...

    def close(self) -> None:
        """Close the file or connection."""
        ...


class Source(Protocol):
    """An archive file that can be opened at any byte offset, any number of times.

    size_bytes: The size of the file; None if unknown.

    version: A string that changes whenever the content changes: `etag:…` or `mtime:…`
    (nanoseconds). None if the storage reports neither.
    """

    size_bytes: int | None
    version: str | None

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """Open a stream of the file's bytes that starts at `offset`. Raises InputError or OSError.

        Args:
            end: The stream is allowed to end at this offset. If the caller reads up to `end`, the
                connection is reused for the next request.
        """
        ...

    def close(self) -> None:
        """Close the source's own connections and files. Streams from `open_at` must be closed
        separately."""
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
    """Return the rest of a stream as a file. If the stream is gzip (one or several members), the
    file is decompressed. Reading damaged gzip raises EOFError, OSError or zlib.error."""
    file = io.BufferedReader(_Raw(stream), READ_BYTES)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if file.peek(2).startswith(b"\x1f\x8b") else file)


class Cursor:
    """A position in a file's stored bytes.

    stored: The bytes that have been read but not yet consumed.

    at: The offset of the first byte in `stored`.
    """

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
        """Read until `stored` has at least `size` bytes; return False if the file ends first."""
        while len(self.stored) < size:
            if not self.read_more(max(READ_BYTES, size - len(self.stored))):
                return False
        return True

    def keep(self, rest: bytes) -> None:
        """Consume `stored` except for its tail `rest`, and move `at` to the start of `rest`."""
        self.at += len(self.stored) - len(rest)
        self.stored = rest


def read_bites(cursor: Cursor, good: int) -> Iterator[bytes]:
    """Yield the stored bytes, in large pieces up to offset `good` and then byte by byte."""
    while cursor.stored or cursor.read_more():
        bite = cursor.stored[: max(0, good - cursor.at)]
        if bite:
            yield bite
        else:
            yield from (bytes((byte,)) for byte in cursor.stored)
        cursor.keep(cursor.stored[len(bite) :] if bite else b"")


_NUMBER_DIGITS = 18
"""The maximum number of digits in a size; no real file is larger. Python itself raises an error for
more than 4,300 digits."""


def parse_whole_number(text: str | None) -> int | None:
    """Parse the number in a header. Return None if the text contains anything but digits, or too
    many digits for a size. Never raises.

    >>> [parse_whole_number(text) for text in (" 680 ", "-1", "²", "9" * 5000)]
    [680, None, None, None]
    """
    digits = (text or "").strip()
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _NUMBER_DIGITS else None
