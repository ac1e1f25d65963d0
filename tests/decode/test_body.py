"""Bodies in every state that servers and crawlers leave them in."""

import bz2
import contextlib
import gzip
import random
import zlib
from collections.abc import Callable
from functools import cache

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.decode.body import Body, decode_body
from dripper.decode.compression import GZIP_MAGIC
from dripper.errors import ErrorCode, PageError
from support.archives import page

LIMIT = 1 << 20
PAGE = page(1, 3000)
ENCODED = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.compress(PAGE),
}


def bare_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def chunked(data: bytes, size: int = 700, trailer: bytes = b"") -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n" + trailer + b"\r\n"


@pytest.mark.parametrize("coding", ENCODED)
def test_each_coding_is_undone(coding: str) -> None:
    assert decode_body(ENCODED[coding], "", coding.upper(), LIMIT).payload == PAGE
    assert decode_body(chunked(ENCODED[coding]), "chunked", coding, LIMIT).payload == PAGE
    assert decode_body(ENCODED[coding], coding, "", LIMIT).payload == PAGE


@cache
def make_body(n_bytes: int, n_parts: int) -> bytes:
    """A body that compresses better with fewer parts."""
    rng = random.Random(n_parts)
    parts = [b"<tr><td>row %d<td>%d.00 EUR</tr>" % (rng.randrange(1 << 30), part) for part in range(n_parts)]
    return b"".join(rng.choices(parts, k=n_bytes // 30 + 1))[:n_bytes]


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1),
    "deflate": lambda data: zlib.compress(data, 1),
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": zstandard.compress,
    "bzip2": lambda data: bz2.compress(data, 1),
}


@cache
def pack(coding: str, n_bytes: int, n_parts: int) -> bytes:
    return PACK[coding](make_body(n_bytes, n_parts))


@pytest.mark.parametrize("coding", PACK)
@given(
    n_bytes=st.sampled_from([1, 70_000, 1_200_000, 3_000_000]),
    n_parts=st.sampled_from([1, 40, 3_000, 100_000]),
    size=st.sampled_from([0, 1_000, 65_536, 100_000]),
    limit=st.sampled_from([1_000_000, 8_000_000]),
)
@settings(max_examples=10, deadline=None)
def test_a_body_comes_whole_or_is_too_large(coding: str, n_bytes: int, n_parts: int, size: int, limit: int) -> None:
    whole = make_body(n_bytes, n_parts)
    stored = pack(coding, n_bytes, n_parts)
    stored, transfer = (chunked(stored, size), "chunked") if size else (stored, "")
    if n_bytes <= limit:
        assert decode_body(stored, transfer, coding, limit) == Body(whole)
        return
    with pytest.raises(PageError) as caught:
        decode_body(stored, transfer, coding, limit)
    assert caught.value.code is ErrorCode.PAGE_TOO_LARGE


def test_a_brotli_body_that_grows_much_behind_its_first_bytes_is_whole() -> None:
    table = b"".join(b"<tr><td>row %d<td>%d.00 EUR</tr>" % (row, row) for row in range(137_647))
    assert decode_body(brotli.compress(table, quality=1), "", "br", 8 << 20) == Body(table)
    assert decode_body(brotli.compress(PAGE) + b"trailing", "", "br", LIMIT) == Body(PAGE)


def test_deflate_without_its_zlib_header() -> None:
    assert decode_body(bare_deflate(PAGE), "", "deflate", LIMIT).payload == PAGE


def test_two_codings_are_undone_last_first() -> None:
    assert decode_body(brotli.compress(gzip.compress(PAGE)), "", "gzip, br", LIMIT).payload == PAGE
    twice = decode_body(gzip.compress(gzip.compress(PAGE)), "", "gzip", LIMIT)
    assert (twice.payload, twice.flags) == (PAGE, ("undeclared gzip",))


def test_several_gzip_members_and_what_follows_them() -> None:
    assert decode_body(gzip.compress(PAGE) * 2 + b"trailing", "", "gzip", LIMIT).payload == PAGE * 2


@pytest.mark.parametrize("coding", [*ENCODED, "utf-8", "nonsense", "UTF-8, gzip"])
def test_a_body_that_is_not_in_the_coding_of_the_header_is_taken_as_it_is(coding: str) -> None:
    body = decode_body(PAGE, "", coding, LIMIT)
    assert (body.payload, body.flags, body.cut) == (PAGE, ("not encoded",), False)


@pytest.mark.parametrize("coding", ["", "identity", "none", "chunked"])
def test_codings_that_do_nothing(coding: str) -> None:
    assert decode_body(PAGE, "", coding, LIMIT).flags == ()


@pytest.mark.parametrize("coding", ENCODED)
def test_a_cut_body_keeps_what_could_be_inflated(coding: str) -> None:
    whole = page(1, 400_000)  # a zstd block, up to 128 KiB, comes out whole or not at all
    stored = zstandard.compress(whole) if coding == "zstd" else ENCODED[coding]
    body = decode_body(stored[:-20], "", coding, LIMIT)
    assert body.cut
    assert body.flags == ("broken encoding",)
    assert (whole if coding == "zstd" else PAGE).startswith(body.payload)
    assert len(body.payload) > 1500


def test_a_wrong_checksum_keeps_everything() -> None:
    stored = ENCODED["gzip"][:-8] + b"\0" * 8
    assert decode_body(stored, "", "gzip", LIMIT).payload == PAGE


@pytest.mark.parametrize("coding", [*ENCODED, "compress"])
def test_what_cannot_be_read_at_all_is_an_error(coding: str) -> None:
    with pytest.raises(PageError) as caught:
        decode_body(b"\x01\x02\x03\xff", "", coding, LIMIT)
    assert caught.value.code is ErrorCode.BODY_UNREADABLE


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "zstd"])
def test_a_bomb_is_too_large_before_it_is_inflated(coding: str) -> None:
    zeros = bytes(50 << 20)
    stored = {"gzip": gzip.compress, "br": lambda data: brotli.compress(data, quality=1), "deflate": zlib.compress}
    bomb = stored.get(coding, zstandard.compress)(zeros)
    with pytest.raises(PageError) as caught:
        decode_body(bomb, "", coding, LIMIT)
    assert caught.value.code is ErrorCode.PAGE_TOO_LARGE


def test_trailers_and_extensions_of_chunks() -> None:
    assert decode_body(chunked(PAGE, trailer=b"X: y\r\n"), "chunked", "", LIMIT).payload == PAGE
    assert decode_body(b"3;name=value\r\nabc\r\n0\r\n\r\n", "Chunked", "", LIMIT).payload == b"abc"


@pytest.mark.parametrize(
    ("stored", "payload", "cut", "flag"),
    [
        (PAGE, PAGE, False, "not chunked"),
        (b"5\r\nhello\r\n", b"hello", False, "bad chunking"),
        (b"5\r\nhello\r\nff\r\nworld", b"helloworld", True, "bad chunking"),
        (b"3\r\nhello\r\n0\r\n\r\n", b"hello" + b"lo"[2:] + b"\r\n0\r\n\r\n", False, "bad chunking"),
        (b"5\r\nhello\r\nzz\r\nworld", b"hellozz\r\nworld", False, "bad chunking"),
    ],
)
def test_bad_chunks_keep_what_there_is(stored: bytes, payload: bytes, cut: bool, flag: str) -> None:
    body = decode_body(stored, "chunked", "", LIMIT)
    assert (body.payload, body.cut, body.flags) == (payload, cut, (flag,))


@given(stored=st.binary(max_size=300), chunks=st.booleans(), coding=st.sampled_from([*ENCODED, "", "x", "gzip, br"]))
def test_any_bytes_give_a_body_or_a_page_error(stored: bytes, chunks: bool, coding: str) -> None:
    with contextlib.suppress(PageError):
        decode_body(stored, "chunked" if chunks else "", coding, LIMIT)


# A body that begins like gzip is read as gzip.
@given(st.binary(max_size=2000).filter(lambda body: not body.startswith(GZIP_MAGIC)), st.integers(1, 500))
def test_joining_chunks_is_the_inverse_of_cutting(body: bytes, size: int) -> None:
    assert decode_body(chunked(body, size), "chunked", "identity", LIMIT).payload == body
