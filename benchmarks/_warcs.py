"""Writes labelled pages to WARC files, as a crawler would have stored them."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from dripper_lab.datasets import LabelledPage, read_pages

PAGES_PER_FILE = 100


def write_archives(data: Path, data_sets: list[str], folder: Path) -> tuple[list[Path], int]:
    """Write the pages of `data_sets`, 100 per file. Return the files and the number of pages.

    The recorded Content-Type has no charset, as for most web pages, unless the page's source stored
    characters instead of bytes.
    """
    pages = [page for name in data_sets for page in read_pages(data, name)]
    urls = [page.url or f"http://{page.data_set}.example/{number}" for number, page in enumerate(pages)]
    return write_pages(folder, list(zip(urls, pages, strict=True)), PAGES_PER_FILE), len(pages)


def write_pages(folder: Path, pages: Sequence[tuple[str, LabelledPage]], a_file: int) -> list[Path]:
    """Write pages with their URLs, `a_file` pages per file. Return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for start in range(0, len(pages), a_file):
        files.append(folder / f"{start // a_file:04d}.warc.gz")
        with files[-1].open("wb") as stream:
            writer = WARCWriter(stream, gzip=True)
            for url, page in pages[start : start + a_file]:
                headers = StatusAndHeaders(
                    "200 OK", [("Content-Type", page.content_type or "text/html")], protocol="HTTP/1.1"
                )
                record = writer.create_warc_record(url, "response", payload=BytesIO(page.html), http_headers=headers)
                writer.write_record(record)
    return files
