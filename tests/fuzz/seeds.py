"""The first inputs of fuzzing: small inputs of every kind, so that the fuzzer need not discover
headers and tags."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import lz4.frame  # type: ignore[import-untyped]
import zstandard

from support.archive_constructs import ARCHIVES
from support.archives import arc, http, page, warc
from support.constructs import CONSTRUCTS
from support.dangers import VECTORS

ENDINGS = ("warc", "warc.gz", "warc.zst", "arc", "arc.gz", "html")
"""Of the names of archives: the first byte of an input chooses one."""
_CHARACTERS = 400
_LARGEST = 8_000
_ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be", "shift_jis", "gb18030", "euc-kr", "koi8-r", "iso2022_jp")


def write_seeds(target: str, folder: Path) -> int:
    """Write the seeds of a target into a folder; return how many."""
    seeds = {"records": _archives, "decode": _encoded}.get(target, _pages)
    number = 0
    for number, data in enumerate(seeds(), 1):
        (folder / f"seed-{number:03}").write_bytes(data)
    return number


def _archives() -> Iterator[bytes]:
    for build, _, ending in ARCHIVES.values():
        data = build(2)
        if len(data) < _LARGEST:
            yield bytes([ENDINGS.index(ending)]) + data
    records = [warc(f"http://e.org/{i}", http(page(i, 60))) for i in range(2)]
    records.append(warc("http://e.org/r", http(page(3, 60)), kind="revisit"))
    body = gzip.compress(page(1, 60))
    records.append(warc("http://e.org/c", http(body, extra="Content-Encoding: gzip\r\n")))
    for number, compress in ((0, bytes), (1, gzip.compress), (2, zstandard.compress), (1, lz4.frame.compress)):
        yield bytes([number]) + b"".join(compress(record) for record in records)
    lines = [arc(f"http://e.org/{i}", http(page(i, 60))) for i in range(3)]
    yield b"\3" + b"".join(lines)
    yield b"\4" + b"".join(map(gzip.compress, lines))
    yield b"\5" + page(1)


def _encoded() -> Iterator[bytes]:
    text = '<!doctype html><meta charset="{0}"><p>Gr\u00fc\u00dfe \u65e5\u672c \uc548\ub155 \u043f\u0440\u0438'
    for encoding in _ENCODINGS:
        payload = text.replace("{0}", encoding).encode(encoding, "ignore")
        yield b"\n" + payload
        yield f"text/html; charset={encoding}\n".encode() + payload
    yield b"\n\xef\xbb\xbf<p>one"
    yield b'\n<?xml version="1.0" encoding="latin-1"?><p>\xe4'


def _pages() -> Iterator[bytes]:
    for vector in VECTORS:
        yield vector.encode("utf-8", "ignore")
    for construct in CONSTRUCTS.values():
        data = construct(_CHARACTERS).encode("utf-8", "ignore")
        if len(data) < _LARGEST:
            yield data
