"""From stored bytes to inflated bytes, damage included."""

import gzip
import struct
from collections.abc import Iterable

import lz4.frame
import pytest
import zstandard

from dripper.warc.open.base import READ_BYTES
from dripper.warc.read.frames import Frame, FrameReader
from dripper.warc.read.members import Boundary, Members, Piece
from support.archives import Bytes, http, page, warc

RECORDS = [warc(f"http://e.org/{i}", http(page(i, 2000))) for i in range(4)]
WHOLE = b"".join(RECORDS)


def pieces(data: bytes, start: int = 0) -> list[Piece]:
    return list(Members(Bytes(data)).pieces(start))


def join(found: Iterable[Piece]) -> bytes:
    return b"".join(piece for piece in found if isinstance(piece, bytes))


def inflated(data: bytes) -> bytes:
    return join(pieces(data))


def boundaries(data: bytes) -> list[Boundary]:
    return [piece for piece in pieces(data) if isinstance(piece, Boundary)]


def holes(data: bytes) -> list[Boundary]:
    return [boundary for boundary in boundaries(data) if boundary.problem]


def kinds(data: bytes) -> list[str]:
    return ["clipped" if one.clipped else "hole" if one.problem else "member" for one in boundaries(data)]


def urls(data: bytes) -> list[str]:
    return [item.head.url for item in FrameReader(Members(Bytes(data)), 1 << 20) if isinstance(item, Frame)]


def skippable(content: bytes, kind: int = 0) -> bytes:
    return struct.pack("<II", 0x184D2A50 + kind, len(content)) + content


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, lz4.frame.compress])
def test_members_and_where_they_start(compress: object) -> None:
    stored = [compress(record) for record in RECORDS]  # type: ignore[operator]
    assert inflated(b"".join(stored)) == WHOLE
    assert [one.stored for one in boundaries(b"".join(stored))] == [sum(map(len, stored[:i])) for i in range(4)]


def test_a_file_that_is_not_compressed_has_no_members() -> None:
    assert (inflated(WHOLE), kinds(WHOLE)) == (WHOLE, [])


def test_reading_can_start_at_any_member() -> None:
    first = gzip.compress(RECORDS[0])
    members = Members(Bytes(first + gzip.compress(RECORDS[1])))
    list(members.pieces())
    assert join(members.pieces(len(first))) == RECORDS[1]


def test_records_may_span_members() -> None:
    """As `bgzip` and `pigz -i` cut a file: at fixed intervals."""
    blocks = b"".join(gzip.compress(WHOLE[at : at + 900]) for at in range(0, len(WHOLE), 900))
    assert inflated(blocks) == WHOLE
    assert urls(blocks) == [f"http://e.org/{i}" for i in range(4)]


@pytest.mark.parametrize("zipped", [True, False])
def test_a_zstd_file_may_begin_with_its_dictionary(zipped: bool) -> None:
    samples = [warc(f"http://e.org/{i}", http(page(i, 500))) for i in range(300)]
    dictionary = zstandard.train_dictionary(20_000, samples)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    content = zstandard.compress(dictionary.as_bytes()) if zipped else dictionary.as_bytes()
    stored = skippable(content, 0xD) + b"".join(compressor.compress(record) for record in RECORDS)
    assert inflated(stored) == WHOLE


def dictionary_of(number: int) -> zstandard.ZstdCompressionDict:
    samples = [warc(f"http://e.org/{i}", http(page(i, 500))) for i in range(300)]
    return zstandard.train_dictionary(20_000, samples, dict_id=number)


def zstd_file(records: list[bytes], dictionary: zstandard.ZstdCompressionDict, gives: bool = True) -> bytes:
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    frames = b"".join(compressor.compress(record) for record in records)
    return (skippable(dictionary.as_bytes(), 0xD) if gives else b"") + frames


def test_zstd_files_that_were_put_together_have_a_dictionary_each() -> None:
    raw = zstandard.ZstdCompressionDict(WHOLE, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    parts = [
        zstd_file(RECORDS[:2], dictionary_of(7)),
        zstd_file(RECORDS[2:3], dictionary_of(8)),
        zstd_file(RECORDS[3:], raw),
    ]
    stored = b"".join(parts)
    assert inflated(stored) == WHOLE
    members = Members(Bytes(stored))
    list(members.pieces())
    start = len(parts[0]) + parts[1].index(b"\x28\xb5\x2f\xfd", 20_000)
    assert join(members.pieces(start)) == b"".join(RECORDS[2:])


def test_frames_of_a_missing_dictionary_are_counted_and_the_rest_is_read() -> None:
    good = [zstandard.compress(record) for record in RECORDS]
    locked = zstd_file(RECORDS * 5, dictionary_of(9), gives=False)
    stored = good[0] + good[1] + locked + good[2] + locked + good[3]
    found = holes(stored)
    assert [hole.n_locked for hole in found] == [20, 20]
    assert found[0].problem == (
        f"bytes {len(good[0] + good[1])} to {len(good[0] + good[1] + locked)} need the zstd dictionary 9, which does not come "
        "before them; frames: 20"
    )
    assert urls(stored) == [f"http://e.org/{i}" for i in range(4)]


def test_a_cut_frame_of_a_missing_dictionary_is_no_whole_one() -> None:
    locked = zstd_file(RECORDS[:2], dictionary_of(9), gives=False)
    assert kinds(locked[:-5]) == ["member", "hole", "member", "hole"]
    assert [hole.n_locked for hole in holes(locked[:-5])] == [1, 0]


def test_behind_a_damaged_dictionary_all_frames_are_counted() -> None:
    dictionary = dictionary_of(5)
    damaged = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(dictionary.as_bytes()))
    damaged[-1] ^= 1
    stored = skippable(bytes(damaged), 0xD) + zstd_file(RECORDS, dictionary, gives=False)
    assert [hole.n_locked for hole in holes(stored)] == [0, 4]


def test_each_damaged_frame_of_zstd_is_one_hole() -> None:
    frames = [bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(record)) for record in RECORDS]
    for frame in frames[1:3]:
        frame[-1] ^= 1
    assert len(holes(b"".join(frames))) == 2


def test_skippable_frames_in_between_are_skipped() -> None:
    stored = b"".join(skippable(b"note") + zstandard.compress(record) for record in RECORDS)
    assert inflated(stored) == WHOLE


def test_zeros_at_the_end_are_padding() -> None:
    stored = gzip.compress(RECORDS[0])
    assert kinds(stored + bytes(10_000)) == ["member"]


def test_garbage_between_members_is_a_hole() -> None:
    first, second = gzip.compress(RECORDS[0]), gzip.compress(RECORDS[1])
    stored = first + b"garbage" * 3 + second
    assert kinds(stored) == ["member", "member", "hole", "member"]
    (hole,) = holes(stored)
    assert hole.stored == len(first) + 21
    assert f"bytes {len(first)} to {len(first) + 21}" in hole.problem


@pytest.mark.parametrize("n_bytes", [1, 2, 3, 8, 20])
def test_the_first_bytes_of_a_member_at_the_end_are_a_clip(n_bytes: int) -> None:
    first, second = gzip.compress(RECORDS[0]), gzip.compress(RECORDS[1])
    assert kinds(first + second[:n_bytes])[-1] == "clipped"
    assert kinds(second[:n_bytes])[-1] == "clipped"


def test_a_member_without_its_checksum_is_clipped_but_whole() -> None:
    stored = gzip.compress(RECORDS[0])
    for n_missing in range(1, 9):
        assert inflated(stored[:-n_missing]) == RECORDS[0]
        assert kinds(stored[:-n_missing]) == ["member", "clipped"]


def test_what_a_failing_call_drops_is_inflated_again() -> None:
    stored = bytearray(gzip.compress(WHOLE))
    stored[-8] ^= 1
    assert inflated(bytes(stored)) == WHOLE
    assert kinds(bytes(stored)) == ["member", "hole"]


def test_damage_that_swallows_the_members_behind_it_is_found_out() -> None:
    """A stored block's length grows, so the next members' bytes become this one's content."""
    stored = bytearray(gzip.compress(RECORDS[0], 0) + gzip.compress(RECORDS[1]) + gzip.compress(RECORDS[2]))
    stored[11:15] = struct.pack("<HH", 0xFFFF, 0)
    assert urls(bytes(stored))[-2:] == ["http://e.org/1", "http://e.org/2"]


def test_one_call_inflates_to_little_whatever_the_ratio() -> None:
    zeros = bytes(80 << 20)
    for stored in (gzip.compress(zeros), zstandard.compress(zeros), lz4.frame.compress(zeros)):
        found = pieces(stored)
        sizes = [len(piece) for piece in found if isinstance(piece, bytes)]
        assert max(sizes) <= 1 << 20
        assert sum(sizes) == len(zeros)


def test_reads_are_bounded_and_counted() -> None:
    class Counting(Bytes):
        sizes: list[int] = []  # noqa: RUF012

        def read(self, size: int | None = -1, /) -> bytes:
            self.sizes.append(size or 0)
            return super().read(size)

        def open_at(self, offset: int) -> "Counting":
            return Counting(self.getvalue()[offset:])

    stored = b"".join(gzip.compress(record) for record in RECORDS * 20)
    members = Members(Counting(stored))
    list(members.pieces())
    assert members.bytes_read == len(stored)
    assert max(Counting.sizes) <= READ_BYTES
