"""Memory stays bounded for any size of a file or a record."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from support.archives import http, page, warc

MEGABYTE = 1 << 20

READ = """
import resource, sys
from dripper.settings import ReadSettings
from dripper.warc import read_records
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reader = read_records(sys.argv[1], ReadSettings(page_bytes=8 << 20))
pages = sum(1 for record in reader)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(pages, reader.report.records, (after - before) // 1024)
"""


def read_in_child(path: Path) -> tuple[int, int, int]:
    """Return pages, records, and by how many MiB the peak of a fresh process grew (KiB on
    Linux)."""
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    pages, records, grown = (int(part) for part in done.stdout.split())
    return pages, records, grown


@pytest.fixture(scope="module")
def filler() -> bytes:
    """3 MB of records in little space: one member of a hundred pages, to be repeated."""
    return gzip.compress(b"".join(warc(f"http://e.org/{i}", http(page(i, 30_000))) for i in range(100)), 6, mtime=0)


def test_a_large_file_of_pages(tmp_path: Path, filler: bytes) -> None:
    path = tmp_path / "large.warc.gz"
    with path.open("wb") as out:
        for _ in range(50):
            out.write(filler)
    pages, records, grown = read_in_child(path)
    assert (pages, records) == (5000, 5000)
    assert grown < 80


def test_a_record_larger_than_the_limit_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "huge.warc.gz"
    size = 200 * MEGABYTE
    with gzip.open(path, "wb", compresslevel=1) as out:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"
        out.write(warc("http://e.org/", b"", length=len(head) + size)[:-4] + head)
        for _ in range(200):
            out.write(bytes(MEGABYTE))
        out.write(b"\r\n\r\n" + warc("http://e.org/2", http(page(2))))
    pages, records, grown = read_in_child(path)
    assert (pages, records) == (2, 2)
    assert grown < 80


def test_a_bomb_in_a_body_is_never_inflated(tmp_path: Path) -> None:
    path = tmp_path / "bomb.warc"
    body = gzip.compress(bytes(200 * MEGABYTE), 1)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    path.write_bytes(warc("http://e.org/", head + body))
    pages, _, grown = read_in_child(path)
    assert pages == 1
    assert grown < 80
