"""Small WARC files made on the spot, with warcio's writer."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

Response = tuple[str, bytes]
"""Address and body of a page."""


def write_warc(path: Path, responses: Iterable[Response], content_type: str = "text/html; charset=utf-8") -> Path:
    """Write one response record for each page, gzipped by record if the name ends in .gz."""
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=path.suffix == ".gz")
        for url, body in responses:
            headers = StatusAndHeaders("200 OK", [("Content-Type", content_type)], protocol="HTTP/1.1")
            fixed = {"WARC-Date": "2026-01-02T03:04:05Z"}
            writer.write_record(
                writer.create_warc_record(
                    url, "response", payload=BytesIO(body), http_headers=headers, warc_headers_dict=fixed
                )
            )
    return path


def page(number: int) -> Response:
    """A small page with a menu, an article and a footer."""
    article = "".join(
        f"<p>Paragraph {i} of article {number}: the ferry leaves the harbour at noon, and nobody on the pier waves.</p>"
        for i in range(6)
    )
    menu = "".join(f'<li><a href="/{i}">Section {i}</a></li>' for i in range(8))
    html = (
        f"<html><head><title>Article {number}</title></head><body><ul class=nav>{menu}</ul>"
        f"<article><h1>Article {number}</h1>{article}</article><footer>Imprint and terms</footer></body></html>"
    )
    return f"http://example.org/{number}", html.encode()


def pages(first: int, count: int) -> list[Response]:
    """`count` pages, numbered from `first`."""
    return [page(number) for number in range(first, first + count)]
