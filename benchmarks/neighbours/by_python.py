"""Reads archives with warcio or FastWARC: `python by_python.py READER FILE…` prints a JSON line for
each file.

A line is a list of pages, each [URL, time or null, body in base64], or the name of an error.
"""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Page = tuple[str, str | None, bytes]


def by_warcio(path: Path) -> Iterator[Page]:
    """Read the pages with warcio, as its documentation recommends."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.timeutils import iso_date_to_datetime

    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, arc2warc=True):
            if record.rec_type in ("response", "resource") and _is_html(record.http_headers, "get_header"):
                date = record.rec_headers.get_header("WARC-Date")
                when = iso_date_to_datetime(date).isoformat() if date else None
                yield record.rec_headers.get_header("WARC-Target-URI"), when, record.content_stream().read()


def by_fastwarc(path: Path) -> Iterator[Page]:
    """Read the pages with FastWARC. It decodes bodies only on request."""
    from fastwarc.warc import ArchiveIterator

    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=True, auto_decode="all"):
            kind = str(record.record_type)
            if kind in ("response", "resource") and _is_html(record.http_headers, "get"):
                when = record.record_date
                yield record.headers["WARC-Target-URI"], when and when.isoformat(), record.reader.read()


def _is_html(headers: Any, get: str) -> bool:
    """Return whether a response is HTML. A record without HTTP headers counts as HTML."""
    media = getattr(headers, get)("Content-Type") if headers else None
    return not media or "html" in media


def main(reader: str, files: list[str]) -> None:
    """Print a line for each file."""
    read = {"warcio": by_warcio, "FastWARC": by_fastwarc}[reader]
    for file in files:
        try:
            line: Any = [(url, when, base64.b64encode(body).decode()) for url, when, body in read(Path(file))]
        except Exception as error:
            line = type(error).__name__
        print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
