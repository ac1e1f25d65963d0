"""Write the sample archives: real pages of five labelled sets with free licences, as a crawler
would have stored them.

    python tests/data/make_sample.py ../shared/data tests/data/sample

The same sets give the same bytes. Sources and licences: tests/data/sample/README.md.
"""

import argparse
import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

DATE = "2024-05-03T12:00:00Z"
SIZES = range(12_000, 150_000)
"""Bytes of a page: large enough to be one, small enough to be kept here."""

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154789c6300010000050001"
)


@dataclass(frozen=True)
class Page:
    """A labelled page: its row in the set, and its bytes as served."""

    row: dict[str, Any]
    html: bytes
    dataset: str

    @property
    def url(self) -> str:
        """The page's address; made up for the set that gives none."""
        return self.row["url"] or f"https://example.org/{self.dataset}/{self.row['id']}"

    @property
    def content_type(self) -> str:
        """The header of a correct server: UTF-8 if the bytes are, else no charset, so that the
        page's own `meta` counts."""
        try:
            self.html.decode("utf-8")
        except UnicodeDecodeError:
            return "text/html"
        return "text/html; charset=utf-8"


def pages(data: Path, dataset: str) -> Iterator[Page]:
    """Yield the usable pages of a set in the order of their sizes."""
    with tarfile.open(data / f"{dataset}.tar.xz") as archive:
        files = {member.name.split("/", 1)[-1]: archive.extractfile(member) for member in archive if member.isfile()}
        content = {name: file.read() for name, file in files.items() if file}
    rows = [json.loads(line) for line in content["truth.jsonl"].splitlines()]
    good = [row for row in rows if not row.get("bad") and not row.get("duplicate") and len(row["truth_text"]) > 300]
    found = [Page(row, content[row["file"]], dataset) for row in good]
    yield from sorted(
        (page for page in found if len(page.html) in SIZES), key=lambda page: (len(page.html), page.row["id"])
    )


def few(found: Iterator[Page], group: Callable[[Page], Any], n_groups: int, n_each: int) -> list[Page]:
    """Return the smallest `n_each` pages of the first `n_groups` groups."""
    groups: dict[Any, list[Page]] = {}
    for page in found:
        members = groups.setdefault(group(page), [])
        if len(members) < n_each:
            members.append(page)
    return [page for name in sorted(groups, key=str)[:n_groups] for page in groups[name]]


class Sample:
    """One archive in the making."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._out = io.BytesIO()
        self._writer = WARCWriter(self._out, gzip=True)
        self._n_records = 0
        self._number = zlib.crc32(path.name.encode()) % 10**6
        self._add("warcinfo", None, b"software: tests/data/make_sample.py\r\nformat: WARC File Format 1.0\r\n", None)

    def _add(self, kind: str, url: str | None, payload: bytes, http: StatusAndHeaders | None) -> None:
        self._n_records += 1
        fields = {
            "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{self._number:06d}{self._n_records:06d}>",
            "WARC-Date": DATE,
        }
        self._writer.write_record(
            self._writer.create_warc_record(
                url, kind, payload=io.BytesIO(payload), length=len(payload), http_headers=http, warc_headers_dict=fields
            )
        )

    def response(self, url: str, body: bytes, content_type: str, status: str = "200 OK", **headers: str) -> None:
        """Add a request and its response."""
        path = "/" + url.split("/", 3)[-1]
        request = StatusAndHeaders(f"GET {path} HTTP/1.1", [("Host", url.split("/")[2])], is_http_request=True)
        fields = [("Content-Type", content_type), *((name.replace("_", "-"), value) for name, value in headers.items())]
        self._add("request", url, b"", request)
        self._add("response", url, body, StatusAndHeaders(status, fields, protocol="HTTP/1.1"))

    def page(self, page: Page) -> None:
        """Add a page; one in three as a server would send it, in chunks of gzip."""
        if self._n_records % 3:
            self.response(page.url, page.html, page.content_type, Content_Length=str(len(page.html)))
            return
        body = gzip.compress(page.html, mtime=0)
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in _cut(body, 4096)) + b"0\r\n\r\n"
        self.response(page.url, chunks, page.content_type, Content_Encoding="gzip", Transfer_Encoding="chunked")

    def broken(self) -> None:
        """Add a record that is damaged in the middle: its first bytes are gone, so nothing of it
        can be read."""
        start = self._out.tell()
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        self._add("response", "https://example.org/broken", b"<!doctype html><p>lost</p>" * 50, head)
        data = self._out.getbuffer()
        data[start : start + 10] = b"\xff" * 10
        del data

    def write(self) -> None:
        """Write the file."""
        self._path.write_bytes(self._out.getvalue())


def _cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def main() -> None:
    """Write three archives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("out", type=Path, help="folder to write to")
    options = parser.parse_args()

    news = Sample(options.out / "news.warc.gz")
    for page in few(pages(options.data, "fundus"), lambda page: page.row["country"], 30, 1):
        news.page(page)
    news.response(
        "https://example.org/old", b"<html><p>moved</p>", "text/html", "301 Moved Permanently", Location="/new"
    )
    news.response("https://example.org/logo.png", PNG, "image/png")
    for page in few(pages(options.data, "article-extraction-dataset"), lambda _: None, 1, 6):
        news.page(page)
    news.write()

    world = Sample(options.out / "world.warc.gz")
    for page in few(pages(options.data, "magic-html-article"), lambda page: page.content_type, 2, 8):
        world.page(page)
    world.broken()
    for page in few(pages(options.data, "zh-immortal-autumn"), lambda page: page.row["encoding"], 3, 3):
        world.page(page)
    world.response("https://example.org/gone", b"<html><p>Not found</p>", "text/html", "404 Not Found")
    world.write()

    kinds = Sample(options.out / "kinds.warc.gz")
    for page in few(pages(options.data, "wcxb-dev"), lambda page: page.row["page_type"], 7, 2):
        kinds.page(page)
    kinds.response("https://example.org/report.pdf", b"%PDF-1.4\n%%EOF\n", "text/html")
    kinds.write()


if __name__ == "__main__":
    main()
