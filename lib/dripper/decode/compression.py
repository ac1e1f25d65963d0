"""Decompression behind one small interface, for archive files (gzip, zstd, lz4) and HTTP bodies
(gzip, deflate, br, zstd).

Archives are chains of members (RFC 1952 section 2.2; zstd and lz4 say frames): usually one a
record. A decompressor inflates one member and reports its end, so that the bytes after it can be
given to the next one.
"""

import bz2
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Protocol

from dripper.extras import needed

MAX_OUTPUT = 1 << 20
"""Most bytes one call inflates to: a gzip bomb (1:1000) then costs time, never memory."""

_BITE = 1 << 16
_FIRST_BITE = 1 << 10
"""The first bite is small: of a body of many short members, each would copy a whole bite."""

_ZSTD_INPUT = 2048
"""zstandard's decompressor has no output limit and a block of 4 stored bytes may inflate to 128
KiB: 64 MiB at the worst."""

_ZSTD_WINDOW_BYTES = 1 << 27
"""128 MiB: the window of `zstd --long`, and the most memory that a damaged frame header can ask
for."""


MAX_DICTIONARY = 1 << 24
"""16 MiB: the dictionary of a `.warc.zst` file has a few MB at most. 16 KB of zstd may inflate to
1.5 GB."""


class DecompressionError(Exception):
    """Damaged data, whichever library found it."""


@cache
def _import(kind: str, module: str) -> Any:
    with needed(kind, "warc"):
        return import_module(module)


def import_zstd() -> Any:
    """Return the module zstandard. Raises MachineError if it is not installed."""
    return _import("zstd", "zstandard")


@lru_cache(maxsize=2)
def digest_dictionary(content: bytes, is_raw: bool = False) -> Any:
    """Return a dictionary ready for use; made once for a file, not for each of its frames."""
    zstd = import_zstd()
    return zstd.ZstdCompressionDict(content, dict_type=zstd.DICT_TYPE_RAWCONTENT if is_raw else zstd.DICT_TYPE_AUTO)


class Decompressor(Protocol):
    """Inflates one member. `eof`: the member, its checksum included, is complete."""

    eof: bool

    def inflate(self, stored: bytes, limit: int = MAX_OUTPUT) -> tuple[bytes, bytes]:
        """Return (at most `limit` inflated bytes, stored bytes not used yet); raises
        DecompressionError on damage.

        Call again with the rest while it is not empty or inflated bytes came, until `eof`.
        """
        ...


class GzipDecompressor:
    """One gzip member; zlib checks its CRC and length. wbits: 15 for a zlib stream, -15 for bare
    deflate, as in zlib."""

    def __init__(self, wbits: int = 31) -> None:
        self.eof = False
        self._decompressor = zlib.decompressobj(wbits)

    def inflate(self, stored: bytes, limit: int = MAX_OUTPUT) -> tuple[bytes, bytes]:
        """See `Decompressor`."""
        decompressor = self._decompressor
        try:
            inflated = decompressor.decompress(stored, limit)
        except zlib.error as error:
            raise DecompressionError(str(error)) from None
        self.eof = decompressor.eof
        return inflated, decompressor.unused_data if self.eof else decompressor.unconsumed_tail


class ZstdDecompressor:
    """One zstd frame (RFC 8878). is_raw: the dictionary is plain content, whatever its first bytes
    look like."""

    def __init__(self, dictionary: bytes | None = None, is_raw: bool = False) -> None:
        self.eof = False
        self._pending = b""
        zstd = import_zstd()
        digested = digest_dictionary(dictionary, is_raw) if dictionary else None
        decompressor = zstd.ZstdDecompressor(dict_data=digested, max_window_size=_ZSTD_WINDOW_BYTES)
        self._decompressor = decompressor.decompressobj()
        self._error: type[Exception] = zstd.ZstdError

    def inflate(self, stored: bytes, limit: int = MAX_OUTPUT) -> tuple[bytes, bytes]:
        """See `Decompressor`."""
        rest = stored
        if not self._pending and not self._decompressor.eof:
            try:
                self._pending = self._decompressor.decompress(stored[:_ZSTD_INPUT])
            except self._error as error:
                raise DecompressionError(str(error)) from None
            rest = self._decompressor.unused_data + stored[_ZSTD_INPUT:]
        inflated, self._pending = self._pending[:limit], self._pending[limit:]
        self.eof = self._decompressor.eof and not self._pending
        return inflated, rest


class Bzip2Decompressor:
    """One bzip2 stream. People keep pages in it; no archive format uses it.

    The library takes all bytes of a call, and may need several calls to return their inflated
    bytes. Until then it gets no more bytes, because brotli takes them for damage.
    """

    _errors: tuple[type[Exception], ...] = (OSError, EOFError)

    def __init__(self) -> None:
        self.eof = False
        self._decompressor: Any = bz2.BZ2Decompressor()

    def inflate(self, stored: bytes, limit: int = MAX_OUTPUT) -> tuple[bytes, bytes]:
        """See `Decompressor`."""
        decompressor = self._decompressor
        given, rest = (stored, b"") if decompressor.needs_input else (b"", stored)
        try:
            inflated: bytes = decompressor.decompress(given, limit)
        except self._errors as error:
            raise DecompressionError(str(error)) from None
        self.eof = decompressor.eof
        return inflated, (decompressor.unused_data or b"") + rest if self.eof else rest


class Lz4Decompressor(Bzip2Decompressor):
    """One lz4 frame."""

    _errors = (RuntimeError, EOFError)

    def __init__(self) -> None:
        super().__init__()
        self._decompressor = _import("lz4", "lz4.frame").LZ4FrameDecompressor()


class BrotliDecompressor(Bzip2Decompressor):
    """One brotli stream (RFC 7932)."""

    def __init__(self) -> None:
        super().__init__()
        self._errors = (_import("brotli", "brotli").error,)
        self._decompressor = _BrotliStream()


class _BrotliStream:
    """Brotli's decompressor with the interface of bzip2's. It takes bytes after a stream for
    damage."""

    eof = False
    unused_data = b""

    def __init__(self) -> None:
        self._decompressor = _import("brotli", "brotli").Decompressor()

    @property
    def needs_input(self) -> bool:
        return bool(self._decompressor.can_accept_more_data())

    def decompress(self, stored: bytes, limit: int) -> bytes:
        inflated: bytes = self._decompressor.process(stored, output_buffer_limit=limit)
        self.eof = self._decompressor.is_finished()
        return inflated


BZIP2_MAGIC = b"BZh"
GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
LZ4_MAGIC = b"\x04\x22\x4d\x18"

DECOMPRESSORS: dict[bytes, Callable[[], Decompressor]] = {
    GZIP_MAGIC: GzipDecompressor,
    ZSTD_MAGIC: ZstdDecompressor,
    LZ4_MAGIC: Lz4Decompressor,
}
"""Start of a member → class that inflates it."""

RUN_BYTES = {GZIP_MAGIC: 1 << 17, ZSTD_MAGIC: 1 << 17, LZ4_MAGIC: 1 << 22}
"""Start of a file's members → the longest run of bytes that one can hold as they were: a stored
block of deflate has at most 65,535 (RFC 1951 3.2.4), a block of zstd 128 KiB (RFC 8878 3.1.1.2.4),
one of lz4 4 MiB."""


def inflate_member(
    new: Callable[[], Decompressor], stored: bytes, start: int = 0, limit: int = sys.maxsize
) -> tuple[bytes, int, str]:
    """Return the inflated bytes of the member at `start` in `stored`, its end, and its problem or
    "".

    Damage ends the member, and nothing behind it is read. All bytes before the damage are returned,
    to the last one: a second try goes byte by byte, because libraries drop the output of a failed
    call. With more than `limit` bytes the end and the problem say nothing.
    """
    decompressor, parts, n_inflated, at, size = new(), list[bytes](), 0, start, _FIRST_BITE
    try:
        while not decompressor.eof and at < len(stored):
            bite = stored[at : at + size]
            for inflated, rest in use_up(decompressor, bite):  # noqa: B007
                parts.append(inflated)
                n_inflated += len(inflated)
                if n_inflated > limit:
                    return b"".join(parts), at, ""
            at += len(bite) - len(rest)
            size = min(_BITE, 4 * size)
    except DecompressionError as error:
        bites = [stored[begin : min(begin + _BITE, at)] for begin in range(start, at, _BITE)]
        bites += [stored[begin : begin + 1] for begin in range(at, min(at + _BITE, len(stored)))]
        decompressor = new()
        parts.append(rescue(decompressor, bites, n_inflated, limit)[0])
        # At its end it was whole: brotli fails at bytes behind a stream.
        return b"".join(parts), len(stored), "" if decompressor.eof else str(error)
    return b"".join(parts), at, "" if decompressor.eof else "it ends too early"


def rescue(
    decompressor: Decompressor, bites: Iterable[bytes], skip: int, limit: int = sys.maxsize
) -> tuple[bytes, int]:
    """Inflate bites of a damaged member until one fails, or more than `limit` bytes come. Return
    the inflated bytes after the first `skip`, and how many stored bytes went in."""
    rescued, n_stored = bytearray(), 0
    with suppress(DecompressionError):
        for bite in bites:
            n_stored += len(bite)
            for inflated, _ in use_up(decompressor, bite) if not decompressor.eof else ():
                rescued += inflated[skip:]
                skip = max(0, skip - len(inflated))
                if len(rescued) > limit:
                    return bytes(rescued), n_stored
    return bytes(rescued), n_stored


def use_up(decompressor: Decompressor, stored: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (inflated bytes, stored bytes not used yet) until all of `stored` has come out, or the
    member ends; raises DecompressionError."""
    inflated, rest = decompressor.inflate(stored)
    yield inflated, rest
    while not decompressor.eof and (rest or inflated):
        inflated, rest = decompressor.inflate(rest)
        yield inflated, rest


def measure_skippable(stored: bytes) -> int | None:
    """Return the bytes of the skippable frame that `stored` starts with (RFC 8878 3.1.2; lz4 has
    the same), else None."""
    if len(stored) < 8 or stored[1:4] != b"\x2a\x4d\x18" or not 0x50 <= stored[0] <= 0x5F:
        return None
    return 8 + int.from_bytes(stored[4:8], "little")


DICTIONARY_FRAME = 0x5D
"""First byte of the skippable frame that holds a dictionary."""


def read_zstd_dictionary(frame: bytes) -> bytes:
    """Return the dictionary in a frame of a `.warc.zst` (IIPC "WARC and Zstandard" 1.0).

    Args:
        frame: A whole skippable frame with magic 0x184D2A5D; its content is the dictionary,
            zstd-compressed or not.

    Raises:
        DecompressionError: If it is compressed and damaged, or has more than MAX_DICTIONARY
            bytes.
    """
    content = frame[8:]
    if not content.startswith(ZSTD_MAGIC):
        return content
    dictionary, _, problem = inflate_member(ZstdDecompressor, content, limit=MAX_DICTIONARY)
    if len(dictionary) > MAX_DICTIONARY:
        problem = f"it inflates to more than {MAX_DICTIONARY} bytes"
    if problem:
        raise DecompressionError(problem)
    return dictionary
