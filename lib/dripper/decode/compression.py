"""Decompresses archive files (gzip, zstd, lz4) and HTTP bodies (gzip, deflate, br, zstd, bzip2)
through one small interface.

An archive is a chain of members (RFC 1952 section 2.2; zstd and lz4 call them frames), usually one
per record. A decompressor inflates one member and reports its end, so that another decompressor can
continue there.
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
"""Maximum number of bytes that one call of `inflate` returns. It limits the memory that a gzip bomb
(1:1000) can take."""

_BITE = 1 << 16
_FIRST_BITE = 1 << 10
"""Number of bytes passed in the first call for a member. It is small, because each call copies its
input, and a body may have many short members."""

_ZSTD_INPUT = 2048
"""Maximum number of stored bytes passed to zstandard in one call, because its output cannot be
limited. A 4-byte block can inflate to 128 KiB, so one call can return 64 MiB."""

_ZSTD_WINDOW_BYTES = 1 << 27
"""128 MiB: the window of `zstd --long`, and the maximum memory that a damaged frame header can
request."""


MAX_DICTIONARY = 1 << 24
"""Maximum size of a dictionary: 16 MiB. In `.warc.zst` files, dictionaries are no larger than a few
MB, but 16 KB of zstd can inflate to 1.5 GB."""


class DecompressionError(Exception):
    """Raised for damaged data, whichever library detects the damage."""


@cache
def _import(kind: str, module: str) -> Any:
    with needed(kind, "warc"):
        return import_module(module)


def import_zstd() -> Any:
    """Return the module zstandard. Raises MachineError if it is not installed."""
    return _import("zstd", "zstandard")


@lru_cache(maxsize=2)
def digest_dictionary(content: bytes, is_raw: bool = False) -> Any:
    """Prepare a zstd dictionary for decompression. Cached, because all frames of a file use the
    same dictionary."""
    zstd = import_zstd()
    return zstd.ZstdCompressionDict(content, dict_type=zstd.DICT_TYPE_RAWCONTENT if is_raw else zstd.DICT_TYPE_AUTO)


class Decompressor(Protocol):
    """Inflates one member."""

    eof: bool
    """Whether the member is complete, including its checksum."""

    def inflate(self, stored: bytes, limit: int = MAX_OUTPUT) -> tuple[bytes, bytes]:
        """Return at most `limit` inflated bytes, and the stored bytes not used yet; raises
        DecompressionError on damage.

        Call again with the unused bytes until `eof` is set, or until a call returns neither
        inflated nor unused bytes.
        """
        ...


class GzipDecompressor:
    """Inflates one gzip member; zlib checks the CRC and the length.

    Args:
        wbits: As in zlib: 15 for a zlib stream, -15 for raw deflate.
    """

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
    """Inflates one zstd frame (RFC 8878).

    Args:
        is_raw: Whether to use the dictionary as plain content even if its first bytes are the magic
            of a zstd dictionary.
    """

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
    """Inflates one bzip2 stream. Some saved pages use bzip2, but no archive format does.

    The library consumes all stored bytes at once, but may need several calls to return the inflated
    bytes. In between, it must get no more stored bytes: brotli, which a subclass uses, would treat
    them as damage.
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
    """Inflates one lz4 frame."""

    _errors = (RuntimeError, EOFError)

    def __init__(self) -> None:
        super().__init__()
        self._decompressor = _import("lz4", "lz4.frame").LZ4FrameDecompressor()


class BrotliDecompressor(Bzip2Decompressor):
    """Inflates one brotli stream (RFC 7932)."""

    def __init__(self) -> None:
        super().__init__()
        self._errors = (_import("brotli", "brotli").error,)
        self._decompressor = _BrotliStream()


class _BrotliStream:
    """Gives brotli's decompressor the interface of bzip2's decompressor. Brotli treats bytes after
    the end of a stream as damage."""

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
"""Magic bytes of a member → the class that inflates it."""

RUN_BYTES = {GZIP_MAGIC: 1 << 17, ZSTD_MAGIC: 1 << 17, LZ4_MAGIC: 1 << 22}
"""Magic bytes of a member → the maximum length of an uncompressed block in it. A stored
deflate block has at most 65,535 bytes (RFC 1951 3.2.4), a zstd block 128 KiB (RFC 8878 3.1.1.2.4),
and an lz4 block 4 MiB."""


def inflate_member(
    new: Callable[[], Decompressor], stored: bytes, start: int = 0, limit: int = sys.maxsize
) -> tuple[bytes, int, str]:
    """Inflate the member at `start` in `stored`. Return the inflated bytes, the position of the
    member's end, and the member's problem ("" if none).

    If the member is damaged, every byte before the damage is returned, and nothing after the damage
    is read. A second try feeds the decompressor byte by byte, because libraries drop the output of
    a failed call. If the member inflates to more than `limit` bytes, the returned end and problem
    are meaningless.
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
        # If the decompressor reached the end, the member is complete. The error came from bytes
        # after it, on which brotli fails.
        return b"".join(parts), len(stored), "" if decompressor.eof else str(error)
    return b"".join(parts), at, "" if decompressor.eof else "it ends too early"


def rescue(
    decompressor: Decompressor, bites: Iterable[bytes], skip: int, limit: int = sys.maxsize
) -> tuple[bytes, int]:
    """Inflate pieces of a damaged member until a piece fails or more than `limit` bytes are
    inflated. Return the inflated bytes without the first `skip` bytes, and the number of stored
    bytes tried."""
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
    """Yield inflated bytes and the stored bytes not used yet, until `stored` is used up or the
    member ends; raises DecompressionError."""
    inflated, rest = decompressor.inflate(stored)
    yield inflated, rest
    while not decompressor.eof and (rest or inflated):
        inflated, rest = decompressor.inflate(rest)
        yield inflated, rest


def measure_skippable(stored: bytes) -> int | None:
    """Return the size of the skippable frame at the start of `stored`, or None if there is none
    (RFC 8878 3.1.2; the same in lz4)."""
    if len(stored) < 8 or stored[1:4] != b"\x2a\x4d\x18" or not 0x50 <= stored[0] <= 0x5F:
        return None
    return 8 + int.from_bytes(stored[4:8], "little")


DICTIONARY_FRAME = 0x5D
"""First byte of the skippable frame that holds a dictionary."""


def read_zstd_dictionary(frame: bytes) -> bytes:
    """Return the dictionary in a `.warc.zst` frame (IIPC "WARC and Zstandard" 1.0).

    Args:
        frame: A whole skippable frame with magic 0x184D2A5D; its content is the dictionary,
            zstd-compressed or not.

    Raises:
        DecompressionError: The dictionary is compressed and damaged, or inflates to more than
            MAX_DICTIONARY bytes.
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
