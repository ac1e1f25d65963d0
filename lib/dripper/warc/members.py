"""From stored bytes to inflated bytes: the members of an archive file one after the other, damage
included.

Why not warcio's or FastWARC's reader: both end a file at its first damaged member and end a clipped
file without a word (warcio#138), and neither can be asked to go on. `benchmarks/warc_readers.py`
measures all three side by side.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from dripper.warc.compression import (
    DECOMPRESSORS,
    ZSTD_MAGIC,
    DecompressionError,
    Decompressor,
    ZstdDecompressor,
    skippable_size,
    zstd_dictionary,
)
from dripper.warc.starts import RECORD_START, find_start
from dripper.warc.stored import READ_BYTES, Cursor, Source, bites

_MAX_DICTIONARY_BYTES = 1 << 26
"""64 MiB: a `.warc.zst` dictionary is at most a few MB; a larger claim is damage."""

_MAGIC = re.compile(b"|".join(re.escape(magic) for magic in DECOMPRESSORS))


@dataclass(frozen=True, slots=True)
class Piece:
    """Inflated bytes, or an event between them.

    kind: "data"; "member" (a member starts at stored offset `at`); "hole" (stored bytes were lost,
    reading goes on at `at`, with a member or the end); "clipped" (the file ends, at `at`, inside a
    member). problem: a sentence, of the last two.
    """

    kind: Literal["data", "member", "hole", "clipped"]
    data: bytes = b""
    at: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Damage:
    """Where inflating stopped: the member's stored offset, why, and whether the file simply ended
    there."""

    at: int
    why: str
    at_end: bool = False


class Members:
    """Reads one archive file. `compressed`: known after the first piece. `bytes_read`: how far
    stored bytes were used."""

    def __init__(self, source: Source) -> None:
        self.compressed: bool | None = None
        self.bytes_read = 0
        self._source = source
        self._dictionary: bytes | None = None

    def pieces(self, start: int = 0) -> Iterator[Piece]:
        """Yield the file from stored offset `start` (0, or a member's start; any offset of a file
        not compressed)."""
        yield from self._inflated(start) if self.is_compressed() else self._plain(start)

    def is_compressed(self) -> bool:
        """Tell whether the file consists of compressed members; the first call reads its first
        bytes."""
        if self.compressed is None:
            self.compressed = self._looks_compressed()
        return self.compressed

    def again(self) -> "Members":
        """Return a reader of the same file that knows what its first bytes say and has read
        nothing."""
        self.is_compressed()
        other = Members(self._source)
        other.compressed, other._dictionary = self.compressed, self._dictionary
        return other

    def magic_at(self, start: int) -> bytes | None:
        """Return the first bytes, which name the compression, of the member at stored offset
        `start`."""
        with self._open(start) as cursor:
            found = _MAGIC.match(cursor.stored) if cursor.fill(8) else None
        return found[0] if found else None

    def is_sound(self, start: int, n_bytes: int) -> bool:
        """Tell whether from stored offset `start` on, for more than `n_bytes` or to the file's end,
        members follow one another without damage."""
        chain = self._chain(start)
        while True:
            try:
                piece = next(chain)
            except StopIteration as end:
                return end.value is None
            if piece.kind == "member" and piece.at - start > n_bytes:
                chain.close()
                return True

    def inflated_before(self, start: int) -> int:
        """Return how many inflated bytes come before the member at stored offset `start`; reads all
        of them."""
        size = 0
        for piece in self.pieces():
            if piece.kind == "member" and piece.at == start:
                break
            size += len(piece.data)
        return size

    @contextmanager
    def _open(self, start: int) -> Iterator[Cursor]:
        stream = self._source.open_at(start)
        cursor = Cursor(stream, start)
        try:
            yield cursor
        finally:
            self.bytes_read = max(self.bytes_read, cursor.at)
            stream.close()

    def _looks_compressed(self) -> bool:
        """Decide by the first bytes; where those say nothing (damage), by what can be found further
        on."""
        with self._open(0) as cursor:
            cursor.fill(READ_BYTES)
            head = cursor.stored
            if skippable_size(head):
                self._skip_frame(cursor, skippable_size(head) or 0)  # the dictionary, wherever reading starts
                return True
        if _MAGIC.match(head) or _is_cut_magic(head):
            return True
        if RECORD_START.match(head.lstrip()):
            return False
        start = find_start(head, 0, arc=None)
        member = self._find_member(0, len(head) if start < 0 else start)  # lz4 leaves text readable: the first counts
        return member is not None or (start < 0 and self._find_member(len(head)) is not None)

    def _plain(self, start: int) -> Iterator[Piece]:
        with self._open(start) as cursor:
            while cursor.more():
                piece = Piece("data", cursor.stored)
                cursor.keep(b"")
                self.bytes_read = max(self.bytes_read, cursor.at)
                yield piece

    def _inflated(self, start: int) -> Iterator[Piece]:
        """Yield member after member; after damage, go on at the next member that starts with a
        record."""
        resume: int | None = start
        while resume is not None:
            damage = yield from self._chain(resume)
            if damage is None:
                return
            resume = self._find_member(damage.at + 1)
            if resume is None and damage.at_end:
                yield Piece(
                    "clipped", at=self.bytes_read, problem=f"the file ends inside the member at byte {damage.at}"
                )
                return
            until = self.bytes_read if resume is None else resume
            yield Piece("hole", at=until, problem=f"bytes {damage.at} to {until} are damaged: {damage.why}")

    def _chain(self, start: int) -> Generator[Piece, None, _Damage | None]:
        """Yield the members from `start` on until the file's end (returns None) or damage."""
        with self._open(start) as cursor:
            while cursor.fill(8) or cursor.stored:
                if size := skippable_size(cursor.stored):
                    if damage := self._skip_frame(cursor, size):
                        return damage
                elif decompressor := self._decompressor_of(cursor.stored):
                    if damage := (yield from self._member(decompressor, cursor)):
                        return damage
                elif cursor.stored.strip(b"\0"):
                    cut = _is_cut_magic(cursor.stored)
                    yield Piece("member", at=cursor.at)
                    return _Damage(cursor.at, "no compressed member starts there", at_end=cut)
                else:  # zeros that pad the file to a block of a tape or disk, as gzip(1) allows
                    cursor.keep(b"")
                self.bytes_read = max(self.bytes_read, cursor.at)
        return None

    def _decompressor_of(self, stored: bytes) -> Decompressor | None:
        found = _MAGIC.match(stored)
        if found and found[0] == ZSTD_MAGIC:
            return ZstdDecompressor(self._dictionary)
        return DECOMPRESSORS[found[0]]() if found else None

    def _skip_frame(self, cursor: Cursor, size: int) -> _Damage | None:
        """Skip a skippable frame; the first of a `.warc.zst` file is its dictionary."""
        if size > _MAX_DICTIONARY_BYTES or not cursor.fill(size):
            return _Damage(cursor.at, f"a skippable frame of {size} bytes is not whole", at_end=True)
        if cursor.at == 0:
            try:
                self._dictionary = zstd_dictionary(cursor.stored[:size])
            except DecompressionError as error:
                return _Damage(cursor.at, f"the dictionary cannot be read: {error}")
        cursor.keep(cursor.stored[size:])
        return None

    def _member(self, decompressor: Decompressor, cursor: Cursor) -> Generator[Piece, None, _Damage | None]:
        """Yield one member: its start, then its bytes."""
        start, inflated, n_inflated = cursor.at, b"", 0
        yield Piece("member", at=start)
        while not decompressor.eof:
            if not cursor.stored and not inflated and not cursor.more():
                return _Damage(start, "the file ends inside a member", at_end=True)
            try:
                inflated, rest = decompressor.inflate(cursor.stored)
            except DecompressionError as error:
                yield from self._salvage(start, cursor.at, n_inflated)
                return _Damage(start, str(error))
            cursor.keep(rest)
            n_inflated += len(inflated)
            if inflated:
                yield Piece("data", inflated)
        return None

    def _salvage(self, start: int, good: int, n_inflated: int) -> Iterator[Piece]:
        """Yield what a damaged member has after its first `n_inflated` bytes: zlib drops the output
        of the call that fails.

        Stored bytes before `good` gave no error, those after it go in one by one. The usual damage
        is a wrong checksum at the end, where the dropped output is the whole of a small record.
        """
        with self._open(start) as cursor:
            decompressor = self._decompressor_of(cursor.stored) if cursor.fill(8) else None
            kept = bytearray()  # one piece in the end: a search over the window for every byte would take seconds
            try:
                for bite in bites(cursor, good) if decompressor else ():
                    while bite and decompressor and not decompressor.eof:
                        inflated, bite = decompressor.inflate(bite)
                        kept += inflated[n_inflated:]
                        n_inflated = max(0, n_inflated - len(inflated))
            except DecompressionError:
                pass
            yield Piece("data", bytes(kept))

    def starts(self, start: int, end: int | None = None) -> Iterator[int]:
        """Yield the stored offsets, from `start` up to `end`, of members that begin with a
        record."""
        with self._open(start) as cursor:
            while cursor.fill(8):
                for found in _MAGIC.finditer(cursor.stored):
                    at = cursor.at + found.start()
                    if end is not None and at >= end:
                        return
                    if self._starts_record(at):
                        yield at
                cursor.keep(cursor.stored[-3:])
                if not cursor.more():
                    cursor.keep(b"")

    def _find_member(self, start: int, end: int | None = None) -> int | None:
        return next(self.starts(start, end), None)

    def _starts_record(self, at: int) -> bool:
        """Tell whether a member starts at `at` and a record with it: three bytes alone may be
        chance."""
        with self._open(at) as cursor:
            cursor.fill(READ_BYTES)
            decompressor, inflated = self._decompressor_of(cursor.stored), b""
            try:
                while decompressor and not inflated.strip() and cursor.stored and not decompressor.eof:
                    inflated, rest = decompressor.inflate(cursor.stored)
                    cursor.keep(rest)
            except DecompressionError:
                return False
        return RECORD_START.match(inflated.lstrip()) is not None


def _is_cut_magic(stored: bytes) -> bool:
    """Tell whether the last bytes of a file are the first of a member."""
    return len(stored) < 4 and any(magic.startswith(stored) for magic in DECOMPRESSORS) and bool(stored)
