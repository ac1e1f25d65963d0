"""A page that comes without an HTTP header, as files and values of tables do: only its bytes say
what it is."""

from dripper.errors import ErrorCode, PageError
from dripper.settings import ReadSettings
from dripper.warc.body import decode_body
from dripper.warc.compression import ZSTD_MAGIC
from dripper.warc.sniff import SNIFF_BYTES, other_than_html

PAGE_BYTES = ReadSettings().page_bytes
"""What a page may have, inflated, where nothing else is said."""


def bare_page(html: str | bytes, max_bytes: int = PAGE_BYTES) -> str | bytes:
    """Return a page inflated where it is gzip or zstd, else as it is. (Brotli cannot be told from
    noise.)

    Raises PageError: NOT_HTML for what is surely something else, and as `decode_body` does for
    bytes.

    >>> bare_page(b"<p>one"), bare_page("two")
    (b'<p>one', 'two')
    """
    if isinstance(html, str):
        _refuse_other(html[:SNIFF_BYTES].encode("utf-8", "ignore"))
        return html
    payload = decode_body(html, "", "zstd" if html.startswith(ZSTD_MAGIC) else "", max_bytes).payload
    _refuse_other(payload)
    return payload


def _refuse_other(payload: bytes) -> None:
    if kind := other_than_html(payload):
        raise PageError(ErrorCode.NOT_HTML, f"it is {kind}")
