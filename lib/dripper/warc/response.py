"""The HTTP response inside a record: status, headers, stored body."""

import re
from dataclasses import dataclass

from dripper.warc.headers import parse_headers, whole_number

_STATUS_LINE = re.compile(rb"[A-Z]+(?:/[\d.]+)?[ \t]+(\d{3})(?!\d)[^\n]*(?:\n|$)", re.IGNORECASE)
"""HTTP/1.1, HTTP/2, ICY (Shoutcast) and misspelt ones: nothing that is HTML starts like that."""
_HTTP_LINE = re.compile(rb"HTTP/\d[^\n]*(?:\n|$)", re.IGNORECASE)
_HEADER_LINE = re.compile(rb"[A-Za-z][A-Za-z0-9\-]{1,40}:[ \t][^\n]*\n")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_MAX_INTERIM = 5
"""Interim responses (100 Continue, 103 Early Hints) before the final one that are read past (RFC
9110 15.2)."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response. has_head: there was a status line, so `body` is what follows the headers;
    else it is everything.

    status: None where the status line has none. content_type and the others: as sent, "" or None
    where missing.
    """

    has_head: bool
    status: int | None
    content_type: str | None
    transfer_encoding: str
    content_encoding: str
    content_range: str
    content_length: int | None
    body: bytes


def parse_response(block: bytes) -> Response:
    """Split a record's block into HTTP head and body; never raises.

    >>> parse_response(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<p>").body
    b'<p>'
    """
    if _HEADER_LINE.match(block):  # some tools leave the status line out
        block = b"HTTP/1.0\r\n" + block
    for _ in range(_MAX_INTERIM):
        line = _STATUS_LINE.match(block) or _HTTP_LINE.match(block)
        if line is None:
            return Response(False, None, None, "", "", "", None, block)
        end = _EMPTY_LINE.search(block, max(0, line.end() - 1))
        head, body = (block[: end.end()], block[end.end() :]) if end else (block, b"")
        status = int(line[1]) if line.re is _STATUS_LINE else None
        if status is None or status >= 200 or not _HTTP_LINE.match(body):
            break
        block = body
    return _with_headers(status, head, body)


def _with_headers(status: int | None, head: bytes, body: bytes) -> Response:
    headers = parse_headers(head)
    return Response(
        has_head=True,
        status=status,
        content_type=headers.get_header("Content-Type"),
        transfer_encoding=headers.get_header("Transfer-Encoding") or "",
        content_encoding=headers.get_header("Content-Encoding") or "",
        content_range=headers.get_header("Content-Range") or "",
        content_length=whole_number(headers.get_header("Content-Length")),
        body=body,
    )
