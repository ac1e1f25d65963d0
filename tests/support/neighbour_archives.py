"""Valid records that readers of archives take in different ways: each as a file, and the page that
a browser would have got."""

import gzip
import hashlib
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import brotli
import zstandard

from support.waczs import build_wacz

BODY = (
    b"<!DOCTYPE html><title>The mill</title><p>" + b"The mill at the river bend had been empty for thirty years. " * 12
)
_DATE = "2024-05-01T10:20:30Z"
_ID = "<urn:uuid:6f1d4e8e-2c53-4f4c-9a6e-0d5a3a0f7a11>"


class Case(NamedTuple):
    """One file. expected: the bodies of its HTML pages. when: the time of the last one's capture in
    UTC, if that is the question."""

    name: str
    suffix: str
    data: bytes
    expected: tuple[bytes, ...] = (BODY,)
    when: str = ""


def record(
    body: bytes = BODY,
    head: str = "",
    *,
    kind: str = "response",
    url: str = "https://example.org/mill",
    date: str = _DATE,
    more: str = "",
    status: str = "HTTP/1.1 200 OK",
    media: str = "text/html; charset=utf-8",
) -> bytes:
    """Return a record with an HTTP response. head, more: further lines of HTTP's and WARC's
    header."""
    block = f"{status}\r\nContent-Type: {media}\r\n{head}\r\n".encode() + body
    return wrap(block, f"application/http; msgtype={kind}", kind, url, date, more)


def wrap(block: bytes, media: str, kind: str, url: str, date: str = _DATE, more: str = "") -> bytes:
    """Return a record with this block."""
    lines = [f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", f"WARC-Date: {date}", f"WARC-Record-ID: {_ID}"]
    lines += [f"Content-Type: {media}"] if media else []
    head = "\r\n".join(["WARC/1.1", *lines, ""]) + f"{more}Content-Length: {len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def build_cases() -> Iterator[Case]:
    """Yield the cases, in the order of the table."""
    yield from _codings()
    yield from _transfers()
    yield from _storages()
    yield from _headers()


def _codings() -> Iterator[Case]:
    half = len(BODY) // 2
    bare = zlib.compressobj(9, zlib.DEFLATED, -15)
    for name, coding, body in (
        ("gzip", "gzip", gzip.compress(BODY)),
        ("gzip of two members", "gzip", gzip.compress(BODY[:half]) + gzip.compress(BODY[half:])),
        ("`x-gzip`", "x-gzip", gzip.compress(BODY)),
        ("`GZIP`, in capitals", "GZIP", gzip.compress(BODY)),
        ("deflate with zlib's header", "deflate", zlib.compress(BODY)),
        ("deflate without it, as many servers send it", "deflate", bare.compress(BODY) + bare.flush()),
        ("br", "br", brotli.compress(BODY)),
        ("zstd", "zstd", zstandard.compress(BODY)),
        ("`gzip, br`", "gzip, br", brotli.compress(gzip.compress(BODY))),
    ):
        yield Case(f"body: {name}", ".warc", record(body, f"Content-Encoding: {coding}\r\n"))
    old = BODY[:300]
    raw = zstandard.ZstdCompressionDict(old, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    frame = zstandard.ZstdCompressor(dict_data=raw).compress(BODY)
    body = struct.pack("<II", 0x184D2A5E, 32) + hashlib.sha256(old).digest() + frame
    offer = record(old, 'Use-As-Dictionary: match="/*"\r\n', media="text/css", url="https://example.org/style")
    yield Case(
        "body: dcz, its dictionary in the record before", ".warc", offer + record(body, "Content-Encoding: dcz\r\n")
    )


def _transfers() -> Iterator[Case]:
    middle = b"%x\r\n%s\r\n" % (len(BODY), BODY)
    for name, coding, body in (
        ("chunked", "chunked", middle + b"0\r\n\r\n"),
        ("`Chunked`, with a capital", "Chunked", middle + b"0\r\n\r\n"),
        ("chunk extensions", "chunked", b"%x;note=a\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)),
        ("a trailer field", "chunked", middle + b"0\r\nX-Sum: 1\r\n\r\n"),
    ):
        yield Case(f"transfer: {name}", ".warc", record(body, f"Transfer-Encoding: {coding}\r\n"))
    packed = gzip.compress(BODY)
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    yield Case("transfer: `gzip, chunked`", ".warc", record(body, "Transfer-Encoding: gzip, chunked\r\n"))
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
    final = record().partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
    block = wrap(interim + final, "application/http; msgtype=response", "response", "https://example.org/mill")
    yield Case("transfer: an interim response (103) before the page", ".warc", block)


def _storages() -> Iterator[Case]:
    one, two = record(), record(BODY + b"<p>2", url="https://example.org/two")
    both = (BODY, BODY + b"<p>2")
    member = gzip.compress(one)
    named = member[:3] + b"\x1a" + member[4:10] + b"a.warc\0comment\0"
    named += struct.pack("<H", zlib.crc32(named) & 0xFFFF) + member[10:]
    yield Case("file: gzip member with name, comment and checksum of its header", ".warc.gz", named)
    yield Case("file: all records in one gzip member", ".warc.gz", gzip.compress(one + two), both)
    yield Case("file: a record in two gzip members", ".warc.gz", gzip.compress(one[:500]) + gzip.compress(one[500:]))
    frames = zstandard.compress(one) + zstandard.compress(two)
    yield Case("file: zstd, a frame for each record", ".warc.zst", frames, both)
    dictionary = zstandard.ZstdCompressionDict(one[:700], dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    first = struct.pack("<II", 0x184D2A5D, 700) + one[:700]
    yield Case(
        "file: zstd with a raw dictionary",
        ".warc.zst",
        first + compressor.compress(one) + compressor.compress(two),
        both,
    )
    joined = first + compressor.compress(one) + _with_dictionary(two)
    yield Case("file: two zstd files with raw dictionaries, put together", ".warc.zst", joined, both)
    sizes = [len(zstandard.compress(one)), len(zstandard.compress(two))]
    table = b"".join(struct.pack("<II", size, len(data)) for size, data in zip(sizes, (one, two), strict=True))
    table += struct.pack("<IBI", 2, 0, 0x8F92EAB1)
    yield Case(
        "file: zstd with a table for seeking at its end",
        ".warc.zst",
        frames + struct.pack("<II", 0x184D2A5E, len(table)) + table,
        both,
    )
    page = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY
    version = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    arc = b"filedesc://a.arc 0.0.0.0 20240501102030 text/plain %d\n%s\n" % (len(version), version)
    arc += b"https://example.org/mill 192.0.2.1 20240501102030 text/html %d\n%s\n" % (len(page), page)
    yield Case("file: ARC", ".arc", arc)
    yield Case("file: WACZ", ".wacz", build_wacz({"data.warc.gz": gzip.compress(one) + gzip.compress(two)}), both)


def _with_dictionary(data: bytes) -> bytes:
    """Return a zstd file of one record with its own dictionary."""
    dictionary = zstandard.ZstdCompressionDict(data[100:800], dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return (
        struct.pack("<II", 0x184D2A5D, 700)
        + data[100:800]
        + zstandard.ZstdCompressor(dict_data=dictionary).compress(data)
    )


def _headers() -> Iterator[Case]:
    yield Case("header: brackets around the address, as in WARC/1.0", ".warc", record(url="<https://example.org/mill>"))
    yield Case("header: the date is a year", ".warc", record(date="2024"), when="2024-01-01T00:00:00")
    nine = record(date="2024-05-01T10:20:30.123456789Z")
    yield Case("header: nine digits of a second", ".warc", nine, when="2024-05-01T10:20:30.123456")
    yield Case(
        "header: names in small letters",
        ".warc",
        record().replace(b"WARC-Type", b"warc-type").replace(b"Content-Length", b"content-length"),
    )
    yield Case("header: a folded line", ".warc", record(more="Software: a crawler\r\n and its version\r\n"))
    yield Case("record: `resource` without a type", ".warc", wrap(BODY, "", "resource", "https://example.org/mill"))
    whole = record().partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
    first = wrap(
        whole[:400],
        "application/http; msgtype=response",
        "response",
        "https://example.org/mill",
        more="WARC-Segment-Number: 1\r\n",
    )
    more = f"WARC-Segment-Number: 2\r\nWARC-Segment-Origin-ID: {_ID}\r\nWARC-Segment-Total-Length: {len(whole)}\r\n"
    second = wrap(whole[400:], "", "continuation", "https://example.org/mill", more=more).replace(
        _ID.encode(), b"<urn:x:2>", 1
    )
    yield Case("record: cut into two segments", ".warc", first + second)
