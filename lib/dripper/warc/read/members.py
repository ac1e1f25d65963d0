"""Inflates the compressed members of an archive file (gzip, zstd or lz4) one after the other, and
continues after damage.

The readers of warcio and FastWARC cannot be used: both stop at the first damaged member, and
neither reports a file that ends too early (warcio#138).
"""

import re
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from dripper.decode.budget import CHAIN_BYTES, MAX_GZIP_HEADER, may_doubt, may_inflate
from dripper.decode.compression import (
    DECOMPRESSORS,
    DICTIONARY_FRAME,
    GZIP_MAGIC,
    ZSTD_MAGIC,
    DecompressionError,
    Decompressor,
    GzipDecompressor,
    ZstdDecompressor,
    digest_dictionary,
    measure_skippable,
    read_zstd_dictionary,
    rescue,
)
from dripper.warc.open.base import READ_BYTES, Cursor, Source, read_bites
from dripper.warc.read.headers import RECORD_START, START_BYTES, find_start
from dripper.warc.read.zstd_frames import HEADER_BYTES, needed_dictionary, skip_frame

_MAX_DICTIONARY_BYTES = 1 << 26
"""The maximum size of a `.warc.zst` dictionary. Real dictionaries are no larger than a few MB, so a
larger size means damage."""

_HEAD_BYTES = 2 * MAX_GZIP_HEADER
_CHECK_BYTES = 1024
"""The cost of checking one doubtful member, in bytes. The cost of inflating the member is added."""

_MAGIC = re.compile(b"|".join(re.escape(magic) for magic in DECOMPRESSORS))


@dataclass(slots=True)
class Boundary:
    """A point between inflated bytes.

    If `problem` is "", a member starts at this point. Otherwise, `problem` says which bytes were
    lost, or that the file ends too early.

    stored: The offset in the file at which reading continues: the start of a member, or the end of
    the file.

    n_locked: The number of zstd frames in the lost bytes that need a dictionary missing from the
    file.

    position: The position in the inflated bytes. The `Window` sets it.

    reported: Whether a record or a gap already reports the problem. The `FrameReader` sets it.
    """

    stored: int
    problem: str = ""
    clipped: bool = False
    n_locked: int = 0
    position: int = 0
    reported: bool = False


Piece = bytes | Boundary
"""Inflated bytes, or a boundary between them."""


@dataclass(frozen=True, slots=True)
class _Damage:
    """The damage in a member at which inflating stopped.

    at: The member's stored offset.

    until: The offset after the last stored byte that was consumed.

    why: The reason.

    at_end: Whether the only damage is that the file ends too early.

    resume: An offset at which reading can certainly continue, if known.

    n_locked: See `Boundary`.
    """

    at: int
    until: int
    why: str
    at_end: bool = False
    resume: int | None = None
    n_locked: int = 0


class Members:
    """Reads the members of one archive file.

    compressed: Whether the file is compressed; None until this is known.

    bytes_read: The offset after the last stored byte that was consumed.
    """

    def __init__(self, source: Source) -> None:
        self.compressed: bool | None = None
        self.bytes_read = 0
        self._source = source
        self._dictionaries: dict[int, bytes | None] = {}
        self._n_doubtful = 0
        self._first_start = sys.maxsize
        self._unsound: set[int] = set()

    def pieces(self, start: int = 0) -> Iterator[Piece]:
        """Yield the contents of the file from stored offset `start`, which must be 0 or the start
        of a member. In an uncompressed file, any offset is valid."""
        yield from self._read_inflated(start) if self.is_compressed() else self._read_plain(start)

    def is_compressed(self) -> bool:
        """Return whether the file consists of compressed members. The first call reads the start of
        the file."""
        if self.compressed is None:
            self.compressed = self._looks_compressed()
        return self.compressed

    def reopen(self) -> "Members":
        """Return a new reader for the same file. The new reader knows whether the file is
        compressed, and the dictionary at the start of the file, but has read nothing else."""
        self.is_compressed()
        other = Members(self._source)
        other.compressed = self.compressed
        if 0 in self._dictionaries:
            other._dictionaries[0] = self._dictionaries[0]
        return other

    def read_magic(self, start: int) -> bytes | None:
        """Return the magic bytes of the member at stored offset `start`, or None. Magic bytes
        identify the compression."""
        with self._open(start) as cursor:
            match = _MAGIC.match(cursor.stored) if cursor.fill(8) else None
        return match[0] if match else None

    def is_sound(self, start: int, n_bytes: int) -> bool:
        """Return whether a chain of undamaged members starts at stored offset `start`. The chain
        must extend over more than `n_bytes` or to the end of the file, and must not inflate to more
        than CHAIN_BYTES."""
        chain, size, starts = self._read_chain(start), 0, [start]
        while size <= CHAIN_BYTES and start not in self._unsound:
            try:
                piece = next(chain)
            except StopIteration as end:
                if end.value is not None:  # every chain through these members meets this damage
                    self._unsound.update(starts)
                return end.value is None
            if isinstance(piece, bytes):
                size += len(piece)
                continue
            starts.append(piece.stored)
            if piece.stored - start > n_bytes:
                break
        chain.close()
        return size <= CHAIN_BYTES and start not in self._unsound

    def leads_to(self, start: int, target: int) -> bool:
        """Return whether a chain of members leads from stored offset `start` to a member at
        `target`."""
        chain, size = self._read_chain(start), 0
        for piece in chain:
            if isinstance(piece, bytes):
                size += len(piece)
            if size > CHAIN_BYTES or (isinstance(piece, Boundary) and piece.stored >= target):
                chain.close()
                return isinstance(piece, Boundary) and piece.stored == target
        return False

    def reaches(self, start: int, n_bytes: int) -> bool:
        """Return whether the member at stored offset `start` has at least `n_bytes` stored bytes.
        Reads little more than `n_bytes`."""
        return any(at - start >= n_bytes for _, at, _ in self._walk_member(start))

    def _walk_member(self, start: int) -> Iterator[tuple[int, int, bool]]:
        """Inflate the member at stored offset `start` step by step, until it ends or is damaged.
        For each step, yield the number of inflated bytes, the stored offset after the step, and
        whether the member is complete."""
        inflated = b""
        with self._open(start) as cursor, suppress(DecompressionError):
            decompressor = self._make_decompressor(cursor.stored, start) if cursor.fill(8) else None
            while decompressor and not decompressor.eof and (cursor.stored or inflated or cursor.read_more()):
                inflated, rest = decompressor.inflate(cursor.stored)
                cursor.keep(rest)
                yield len(inflated), cursor.at, decompressor.eof

    def count_inflated_before(self, start: int) -> int:
        """Return the number of inflated bytes before the member at stored offset `start`. This is
        slow, because it inflates everything before the member."""
        size = 0
        for piece in self.pieces():
            if isinstance(piece, bytes):
                size += len(piece)
            elif piece.stored == start and not piece.problem:
                break
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
        """Guess from the first bytes whether the file is compressed. If these bytes are damaged,
        search for members or records after them."""
        with self._open(0) as cursor:
            cursor.fill(_HEAD_BYTES)
            if not _MAGIC.match(cursor.stored) and not RECORD_START.match(cursor.stored.lstrip()):
                cursor.fill(READ_BYTES)
            head = cursor.stored
            if measure_skippable(head):
                # This also keeps the dictionary, which is needed whatever offset is read first.
                self._skip_skippable(cursor, measure_skippable(head) or 0)
                return True
        if _MAGIC.match(head) or _is_cut_magic(head):
            return True
        if RECORD_START.match(head.lstrip()):
            return False
        start = find_start(head, 0, arc=None)
        # lz4 leaves text readable, so the first record start may lie inside a member before it.
        member = self._find_member(0, len(head) if start < 0 else start)
        return member is not None or (start < 0 and self._find_member(len(head)) is not None)

    def _read_plain(self, start: int) -> Iterator[Piece]:
        with self._open(start) as cursor:
            while cursor.read_more():
                piece = cursor.stored
                cursor.keep(b"")
                self.bytes_read = max(self.bytes_read, cursor.at)
                yield piece

    def _read_inflated(self, start: int) -> Iterator[Piece]:
        """Yield all members. After damage, continue at the next member that starts with a record.

        The next member may lie within the bytes that the damaged member consumed. Within these
        bytes, only complete members count, because a crafted file could otherwise make every part
        of it inflate in many ways.
        """
        self._first_start = min(start, self._first_start)
        resume: int | None = start
        doubtful = start  # a damaged member has consumed the bytes before this offset
        while resume is not None:
            damage = yield from self._read_chain(resume, doubtful, learns=True)
            if damage is None:
                return
            if damage.resume is not None and damage.at >= doubtful:
                resume = damage.resume
                yield self._make_hole(damage, resume)
                continue
            resume = damage.at + 1
            if damage.at >= doubtful:
                resume, doubtful = self._find_end_of_records(damage), damage.until
            resume = self._find_next_member(resume, doubtful)
            if resume is None and damage.at_end:
                problem = f"the file ends inside the member at byte {damage.at}"
                yield Boundary(self.bytes_read, problem, clipped=True)
                return
            yield self._make_hole(damage, self.bytes_read if resume is None else resume)

    def _make_hole(self, damage: _Damage, until: int) -> Boundary:
        says = "" if damage.n_locked else "are damaged: "
        return Boundary(until, f"bytes {damage.at} to {until} {says}{damage.why}", n_locked=damage.n_locked)

    def _find_next_member(self, start: int, doubtful: int) -> int | None:
        """Return the stored offset of the first member at or after `start` that begins with a
        record. Before `doubtful`, only complete members count."""
        for at in self.find_starts(start, doubtful):
            if self._is_whole(at):
                return at
            if not self._may_spend(_CHECK_BYTES):
                break
        return self._find_member(max(start, doubtful))

    def _may_spend(self, n_bytes: int) -> bool:
        self._n_doubtful += n_bytes
        return may_doubt(self._n_doubtful, self.bytes_read - self._first_start)

    def _is_whole(self, at: int) -> bool:
        is_whole = False
        for n_bytes, _, is_whole in self._walk_member(at):  # noqa: B007
            if not self._may_spend(n_bytes):
                return False
        return is_whole

    def _find_end_of_records(self, damage: _Damage) -> int:
        """Return the stored offset after which a damaged member may have swallowed other members.
        Records that were already read from the damaged member must not be read again. Therefore,
        the offset is after the start of the last such record, not counting the record at the start
        of the member.

        Only gzip is handled this way. When a damaged gzip member inflates to text of a swallowed
        member, the swallowed member is complete. Damaged lz4 and zstd members may inflate to text
        of an incomplete member.
        """
        after = damage.at + 1
        if next(self.find_starts(after, damage.until), None) is None:
            return after
        with self._open(damage.at) as cursor:
            if not cursor.fill(8) or not cursor.stored.startswith(GZIP_MAGIC):
                return after
            decompressor, text, n_before = GzipDecompressor(), b"", 0
            while cursor.at < damage.until and not decompressor.eof and (cursor.stored or cursor.read_more()):
                n_here = min(_CHECK_BYTES, damage.until - cursor.at, len(cursor.stored))
                rest = cursor.stored[:n_here]
                try:
                    while rest and not decompressor.eof:
                        inflated, rest = decompressor.inflate(rest)
                        if not self._may_spend(len(inflated)):
                            return damage.until
                        text, n_before = text[-START_BYTES:] + inflated, n_before + len(text[:-START_BYTES])
                        at = find_start(text, max(0, len(text) - len(inflated) - START_BYTES, not n_before), arc=None)
                        if at >= 0:
                            after = cursor.at + n_here
                            text, n_before = text[at + 1 :], n_before + at + 1
                except DecompressionError:
                    break
                cursor.keep(cursor.stored[n_here:])
        return after

    def _read_chain(
        self, start: int, doubtful: int = 0, learns: bool = False
    ) -> Generator[Piece, None, _Damage | None]:
        """Yield the members from `start` to the end of the file, and return None. At damage, stop
        and return the damage. An incomplete member before stored offset `doubtful` counts as
        damage.

        learns: Whether later calls are allowed to use the dictionaries found by this call. Must be
        false if the caller only checks something, because checks must not depend on previous
        checks.
        """
        passed = self._dictionaries if learns else dict(self._dictionaries)
        with self._open(start) as cursor:
            while cursor.fill(8) or cursor.stored:
                if size := measure_skippable(cursor.stored):
                    if damage := self._skip_skippable(cursor, size, passed):
                        return damage
                elif decompressor := self._make_decompressor(cursor.stored, cursor.at, passed):
                    if start < cursor.at < doubtful and not self._is_whole(cursor.at):
                        yield Boundary(cursor.at)
                        return _Damage(cursor.at, doubtful, "the member there is not whole")
                    if self._is_locked(cursor, passed):
                        yield Boundary(cursor.at)
                        return self._skip_locked(cursor, passed)
                    if damage := (yield from self._read_member(decompressor, cursor)):
                        return damage
                elif cursor.stored.strip(b"\0"):
                    cut = _is_cut_magic(cursor.stored)
                    yield Boundary(cursor.at)
                    return _Damage(cursor.at, cursor.at + 1, "no compressed member starts there", at_end=cut)
                else:  # zeros that fill the last tape or disk block, which gzip(1) allows
                    cursor.keep(b"")
                self.bytes_read = max(self.bytes_read, cursor.at)
        return None

    def _make_decompressor(
        self, stored: bytes, at: int, passed: dict[int, bytes | None] | None = None
    ) -> Decompressor | None:
        """Return the decompressor for the member at offset `at`. `stored` contains the member's
        first bytes."""
        match = _MAGIC.match(stored)
        if match and match[0] == ZSTD_MAGIC:
            return ZstdDecompressor(_last_before(at, self._dictionaries if passed is None else passed))
        return DECOMPRESSORS[match[0]]() if match else None

    def _is_locked(self, cursor: Cursor, passed: dict[int, bytes | None]) -> bool:
        """Return whether a zstd frame needs a dictionary other than the most recent one before
        it."""
        if not cursor.stored.startswith(ZSTD_MAGIC):
            return False
        cursor.fill(HEADER_BYTES)
        dictionary = _last_before(cursor.at, passed)
        given = digest_dictionary(dictionary).dict_id() if dictionary else 0
        return needed_dictionary(cursor.stored) not in (0, given)

    def _skip_locked(self, cursor: Cursor, passed: dict[int, bytes | None]) -> _Damage:
        """Skip the frames at the cursor that need the same missing dictionary. Only their headers
        are read."""
        start, number, resume, n_locked = cursor.at, needed_dictionary(cursor.stored), cursor.at, 0
        while self._is_locked(cursor, passed) and needed_dictionary(cursor.stored) == number and skip_frame(cursor):
            resume, n_locked = cursor.at, n_locked + 1
        why = f"need the zstd dictionary {number}, which does not come before them; frames: {n_locked}"
        if not n_locked:
            return _Damage(start, start + 1, f"the zstd dictionary {number} is missing, and the frame is not whole")
        return _Damage(start, resume, why, resume=resume, n_locked=n_locked)

    def _skip_skippable(
        self, cursor: Cursor, size: int, passed: dict[int, bytes | None] | None = None
    ) -> _Damage | None:
        """Skip a skippable frame. If the frame contains a dictionary, keep the dictionary for later
        frames. In a `.warc.zst` file, the dictionary precedes all frames. If two files were joined,
        the second dictionary precedes the frames of the second file."""
        at, after = cursor.at, cursor.at + 1
        if size > _MAX_DICTIONARY_BYTES or not cursor.fill(size):
            return _Damage(at, after, f"a skippable frame of {size} bytes is not whole", at_end=True)
        frame = cursor.stored[:size]
        cursor.keep(cursor.stored[size:])
        if frame[0] == DICTIONARY_FRAME:
            passed = self._dictionaries if passed is None else passed
            passed[at] = None
            try:
                passed[at] = read_zstd_dictionary(frame)
            except DecompressionError as error:
                return _Damage(at, after, f"the dictionary cannot be read: {error}", resume=at + size)
        return None

    def _read_member(self, decompressor: Decompressor, cursor: Cursor) -> Generator[Piece, None, _Damage | None]:
        """Yield the boundary at the start of a member, then the member's inflated bytes."""
        start, inflated, n_inflated = cursor.at, b"", 0
        yield Boundary(start)
        while not decompressor.eof:
            if not cursor.stored and not inflated and not cursor.read_more():
                return _Damage(start, cursor.at, "the file ends inside a member", at_end=True)
            try:
                inflated, rest = decompressor.inflate(cursor.stored)
            except DecompressionError as error:
                until = yield from self._salvage(start, cursor.at, n_inflated)
                return _Damage(start, until, str(error), resume=self._find_end_of_frame(start))
            cursor.keep(rest)
            n_inflated += len(inflated)
            if n_inflated > may_inflate(cursor.at - start):
                return _Damage(start, cursor.at, f"over budget, {cursor.at - start} bytes inflate to {n_inflated}")
            if inflated:
                yield inflated
        return None

    def _find_end_of_frame(self, start: int) -> int | None:
        """Return the end of the zstd frame at stored offset `start`, or None if the headers of the
        frame are damaged."""
        with self._open(start) as cursor:
            return cursor.at if skip_frame(cursor) else None

    def _salvage(self, start: int, good: int, n_inflated: int) -> Generator[Piece, None, int]:
        """Yield the output of a damaged member after its first `n_inflated` bytes, and return the
        stored offset at which inflating fails.

        zlib discards the output of a failed call. The most common damage is a wrong checksum at the
        end, and the discarded output may be an entire small record. The stored bytes before `good`
        caused no error, so only the bytes after it are inflated one by one.
        """
        with self._open(start) as cursor:
            decompressor = self._make_decompressor(cursor.stored, start) if cursor.fill(8) else None
            # Yield all output at once. If every byte were a piece of its own, searching the window
            # would take seconds.
            rescued, n_stored = rescue(decompressor, read_bites(cursor, good), n_inflated) if decompressor else (b"", 0)
        yield rescued
        return start + n_stored

    def find_starts(self, start: int, end: int | None = None) -> Iterator[int]:
        """Yield the stored offsets in [start, end) at which a member begins with a record."""
        with self._open(start) as cursor:
            more, n_wanted = end is None or start < end, _HEAD_BYTES
            while more:
                more, n_wanted = cursor.fill(n_wanted), READ_BYTES
                n_here = len(cursor.stored) - 3 if more else len(cursor.stored)
                for match in _MAGIC.finditer(cursor.stored):
                    at = cursor.at + match.start()
                    if match.start() >= n_here:
                        break
                    if end is not None and at >= end:
                        return
                    if self._starts_record(cursor, match.start()):
                        yield at
                cursor.keep(cursor.stored[n_here:])
                more &= end is None or cursor.at < end

    def _find_member(self, start: int, end: int | None = None) -> int | None:
        return next(self.find_starts(start, end), None)

    def _starts_record(self, cursor: Cursor, at: int) -> bool:
        """Return whether a member that begins with a record starts at index `at` of the cursor's
        bytes. Magic bytes alone prove nothing, because they may be a coincidence. Reads at most
        READ_BYTES, and inflates only the beginning."""
        cursor.fill(at + _HEAD_BYTES)
        if cursor.stored.startswith(GZIP_MAGIC, at) and not _is_gzip_header(cursor.stored, at):
            return False
        decompressor = self._make_decompressor(cursor.stored[at : at + 8], cursor.at + at)
        size, end, n_blank = 64, at + READ_BYTES, 0
        text = inflated = b""
        try:
            while decompressor and not decompressor.eof and n_blank < READ_BYTES:
                size = min(4096, 2 * size, end - at)
                if not inflated and (size <= 0 or not cursor.fill(at + 1)):
                    return False
                bite = cursor.stored[at : at + size]
                inflated, rest = decompressor.inflate(bite, START_BYTES)
                at += len(bite) - len(rest)
                text += inflated
                if not text.strip():
                    n_blank, text = n_blank + len(text), b""
                elif RECORD_START.match(text.lstrip()):
                    return True
                elif len(text) > START_BYTES:
                    return False
        except DecompressionError:
            return False
        return False


def _last_before(at: int, dictionaries: dict[int, bytes | None]) -> bytes | None:
    """Return the last dictionary before stored offset `at`, or None."""
    if len(dictionaries) < 2:
        return dictionaries.get(0)
    return dictionaries[max((offset for offset in dictionaries if offset < at), default=0)]


def _is_gzip_header(stored: bytes, at: int) -> bool:
    """Return whether the gzip magic at `at` is followed by the rest of a valid header (RFC 1952
    2.3), at most MAX_GZIP_HEADER bytes long."""
    if len(stored) < at + 10:
        return False
    flags, until = stored[at + 3], at + MAX_GZIP_HEADER
    if flags & 0xE0:
        return False
    at += 10
    if flags & 4:
        at += 2 + int.from_bytes(stored[at : at + 2], "little")
    for flag in (8, 16):
        if flags & flag:
            at = stored.find(b"\0", at, until) + 1
            if not at:
                return False
    return at <= until


def _is_cut_magic(stored: bytes) -> bool:
    """Return whether `stored`, the last bytes of a file, is a truncated magic number."""
    return len(stored) < 4 and any(magic.startswith(stored) for magic in DECOMPRESSORS) and bool(stored)
