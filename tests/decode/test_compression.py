"""Every member format by itself: the output, the end of the member, and the rest of a damaged
one."""

import bz2
import gzip
import random
import zlib
from collections.abc import Callable

import brotli
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dripper.decode.compression import (
    DECOMPRESSORS,
    MAX_OUTPUT,
    ZSTD_MAGIC,
    BrotliDecompressor,
    Bzip2Decompressor,
    Decompressor,
    GzipDecompressor,
    Lz4Decompressor,
    ZstdDecompressor,
    inflate_member,
    measure_skippable,
    read_zstd_dictionary,
)

Pack = Callable[[bytes], bytes]
FORMATS: dict[str, tuple[Callable[[], Decompressor], Pack]] = {
    "gzip": (GzipDecompressor, gzip.compress),
    "zlib": (lambda: GzipDecompressor(15), zlib.compress),
    "zstd": (ZstdDecompressor, zstandard.ZstdCompressor(write_checksum=True).compress),
    "lz4": (Lz4Decompressor, lambda data: lz4.frame.compress(data, content_checksum=True)),
    "brotli": (BrotliDecompressor, brotli.compress),
    "bzip2": (Bzip2Decompressor, bz2.compress),
}
CHAINED = ("gzip", "zstd", "lz4")
# Some 300 kB that do not shrink much, so that a member takes several bites.
NOISE = random.Random(1).randbytes(200_000) + b"a line of text\n" * 7_000


def inflated(new: Callable[[], Decompressor], stored: bytes) -> tuple[bytes, bytes, str]:
    """The output of `inflate_member`, the bytes after it, and the problem."""
    data, end, problem = inflate_member(new, stored)
    return data, stored[end:], problem


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("data", [b"", b"x", b"words and words " * 9, NOISE], ids=len)
def test_a_member_comes_back(name: str, data: bytes) -> None:
    new, pack = FORMATS[name]
    assert inflated(new, pack(data)) == (data, b"", "")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("limit", [10_000, MAX_OUTPUT])
def test_stored_bytes_may_be_given_while_inflated_ones_are_held(name: str, limit: int) -> None:
    new, pack = FORMATS[name]
    data = bytes(3_000_000) + NOISE
    decompressor, parts, rest, at = new(), [b"-"], b"", 0
    stored = pack(data)
    while not decompressor.eof and (parts[-1] or rest or at < len(stored)):
        inflated, rest = decompressor.inflate(rest + stored[at : at + 500], limit)
        at += 500
        parts.append(inflated)
    assert b"".join(parts[1:]) == data


@pytest.mark.parametrize("name", CHAINED)
@given(data=st.binary(max_size=300), after=st.binary(max_size=300))
def test_what_follows_a_member_is_given_back(name: str, data: bytes, after: bytes) -> None:
    new, pack = FORMATS[name]
    assert inflated(new, pack(data) + after) == (data, after, "")


@pytest.mark.parametrize("name", CHAINED)
def test_a_chain_of_large_members(name: str) -> None:
    new, pack = FORMATS[name]
    rest, found = pack(NOISE) + pack(b"") + pack(b"last"), []
    while rest:
        data, rest, problem = inflated(new, rest)
        assert problem == ""
        found.append(data)
    assert found == [NOISE, b"", b"last"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_clipped_member_gives_its_start_and_says_so(name: str) -> None:
    new, pack = FORMATS[name]
    stored = pack(NOISE)
    data, rest, problem = inflated(new, stored[: len(stored) // 2])
    # All except the last block: up to 128 KiB for zstd, 64 for lz4, 900 for bzip2.
    assert NOISE.startswith(data)
    assert len(data) > {"zstd": 0, "lz4": -1, "bzip2": -1}.get(name, 20_000)
    assert (rest, problem) == (b"", "it ends too early")


@pytest.mark.parametrize("name", ["gzip", "zlib", "zstd", "lz4"])
def test_a_wrong_checksum_is_told_and_costs_no_byte(name: str) -> None:
    new, pack = FORMATS[name]
    stored = bytearray(pack(b"every byte is good " * 500))
    stored[-8 if name == "gzip" else -1] ^= 0xFF
    data, _, problem = inflated(new, bytes(stored))
    assert data == (b"every byte is good " * 500 if name in ("gzip", "zlib") else data)
    assert problem


def test_damage_within_a_member_costs_only_what_comes_after() -> None:
    text = b"".join(b"line %d of a text that goes on\n" % i for i in range(20_000))
    stored = bytearray(gzip.compress(text, 6))
    at = len(stored) // 2
    stored[at : at + 40] = bytes(40)
    data, rest, problem = inflated(GzipDecompressor, bytes(stored))
    good = (
        next(i for i, (a, b) in enumerate(zip(data, text, strict=False)) if a != b) if not text.startswith(data) else 0
    )
    assert (good or len(data)) > len(text) * 0.45
    assert rest == b""
    assert problem


@pytest.mark.parametrize("name", FORMATS)
def test_a_bomb_is_left_soon_after_the_limit(name: str) -> None:
    new, pack = FORMATS[name]
    assert 100 < len(inflate_member(new, pack(bytes(30_000_000)), limit=100)[0]) <= 100 + 4 * MAX_OUTPUT


def test_members_are_told_apart_by_their_first_bytes() -> None:
    for name in CHAINED:
        new, pack = FORMATS[name]
        assert [decompressor for magic, decompressor in DECOMPRESSORS.items() if pack(b"x").startswith(magic)] == [new]


def test_skippable_frames() -> None:
    frame = b"\x5d\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"
    assert measure_skippable(frame + b"more") == len(frame)
    assert measure_skippable(b"\x50" + frame[1:]) == len(frame)
    assert measure_skippable(b"\x60" + frame[1:]) is None
    assert measure_skippable(frame[:7]) is None
    assert measure_skippable(ZSTD_MAGIC + bytes(8)) is None


def test_a_dictionary_is_found_and_used() -> None:
    records = [b"WARC/1.0\r\nWARC-Type: response\r\nnumber %d of many alike\r\n" % i * 5 for i in range(500)]
    dictionary = zstandard.train_dictionary(4096, records).as_bytes()
    packed = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(dictionary)).compress(records[7])
    for content in (dictionary, zstandard.compress(dictionary)):
        frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
        found = read_zstd_dictionary(frame)
        assert found == dictionary
        assert inflated(lambda known=found: ZstdDecompressor(known), packed) == (records[7], b"", "")
    assert inflated(ZstdDecompressor, packed)[2]
