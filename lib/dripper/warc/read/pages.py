"""Separates pages from other records: converts a frame to a `Record`, or to the reason why the
frame is not a page.

There are two types of pages:

- HTML responses with a status that the settings accept.
- `resource` records that declare HTML in the record header, or have no content type and begin like
  HTML. wget, ArchiveWeb.page and warcit store files this way.

`conversion` records are not pages: they contain text or metadata derived from a page that has its
own record.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dripper.decode.body import PAGE_BYTES, Body, decode_body
from dripper.decode.sniff import HTML_TYPES, SNIFF_BYTES, is_html, may_be_html, parse_media_type
from dripper.errors import ErrorCode, PageError
from dripper.settings import ReadSettings
from dripper.warc.open.base import parse_whole_number
from dripper.warc.open.identity import page_id
from dripper.warc.read.frames import HEAD_BYTES, Frame
from dripper.warc.read.headers import parse_date, parse_headers, parse_sha1
from dripper.warc.read.offered import Offered
from dripper.warc.read.record import FLAGS, Record

_STATUS_LINE = re.compile(rb"[A-Z]+(?:/[\d.]+)?[ \t]+(\d{3})(?!\d)[^\n]*(?:\n|$)", re.IGNORECASE)
"""Matches HTTP/1.1, HTTP/2, ICY (Shoutcast) and misspelled protocol names. HTML never starts like
this."""
_HTTP_LINE = re.compile(rb"HTTP/\d[^\n]*(?:\n|$)", re.IGNORECASE)
_HEADER_LINE = re.compile(rb"[A-Za-z][A-Za-z0-9\-]{1,40}:[ \t][^\n]*\n")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_MAX_INTERIM = 5
"""The maximum number of responses read from one record. Interim responses (100 Continue, 103 Early
Hints) before the final one are skipped (RFC 9110 15.2)."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response.

    has_head: Whether the block starts with a status line. Without a status line, `body` is the
    whole block.

    status: None if the status line contains no status.

    content_type and the fields after it: The values of the HTTP headers as sent; "" or None if
    missing.
    """

    body: bytes
    has_head: bool = True
    status: int | None = None
    content_type: str | None = None
    transfer_encoding: str = ""
    content_encoding: str = ""
    content_range: str = ""
    content_length: int | None = None
    offers_dictionary: bool = False


def parse_response(block: bytes) -> Response:
    """Split a record's block into HTTP header and body. Never raises.

    >>> parse_response(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<p>").body
    b'<p>'
    """
    if _HEADER_LINE.match(block):  # some tools omit the status line
        block = b"HTTP/1.0\r\n" + block
    for _ in range(_MAX_INTERIM):
        line = _STATUS_LINE.match(block) or _HTTP_LINE.match(block)
        if line is None:
            return Response(block, has_head=False)
        end = _EMPTY_LINE.search(block, max(0, line.end() - 1))
        head, body = (block[: end.end()], block[end.end() :]) if end else (block, b"")
        status = int(line[1]) if line.re is _STATUS_LINE else None
        if status is None or status >= 200 or not _HTTP_LINE.match(body):
            break
        block = body
    headers = parse_headers(head)
    return Response(
        body=body,
        status=status,
        content_type=headers.get_header("Content-Type"),
        transfer_encoding=headers.get_header("Transfer-Encoding") or "",
        content_encoding=headers.get_header("Content-Encoding") or "",
        content_range=headers.get_header("Content-Range") or "",
        content_length=parse_whole_number(headers.get_header("Content-Length")),
        offers_dictionary=b"use-as-dictionary" in head.lower(),
    )


def note_dictionary(frame: Frame, offered: Offered) -> None:
    """Add the response body in `frame` to `offered` if the server offers it as a dictionary (RFC
    9842 2.1)."""
    if frame.head.record_type == "response" and b"use-as-dictionary" in frame.block[:HEAD_BYTES].lower():
        response = parse_response(frame.block)
        if response.offers_dictionary:
            offered.add(response.body, response.transfer_encoding, response.content_encoding, PAGE_BYTES)


_WHOLE_RANGE = re.compile(r"bytes 0-(\d{1,15})/(\d{1,15})$")


def to_record(
    frame: Frame, warc_file: str, settings: ReadSettings, base: int = 0, offered: Offered | None = None
) -> Record | str:
    """Return the page in `frame`. If the frame is not a page, return the reason, a key of
    `FileReport.skipped`.

    Args:
        base: For an archive inside a WACZ, the offset at which the archive begins.
        offered: The dictionaries that earlier records offer.
    """
    kind = frame.head.record_type
    if kind == "resource":
        if frame.head.content_type and parse_media_type(frame.head.content_type) not in HTML_TYPES:
            return "not html"
        response = Response(frame.block, content_type=frame.head.content_type)
    elif kind == "response":
        response = parse_response(frame.block)
        if offered and offered.is_eager and response.offers_dictionary:
            note_dictionary(frame, offered)
    else:
        return "revisit" if kind == "revisit" else "not a response"
    page = _decide(frame, response, settings, offered)
    return page if isinstance(page, str) else _build_record(frame, *page, warc_file, base)


def _decide(
    frame: Frame, response: Response, settings: ReadSettings, offered: Offered | None
) -> tuple[Response, Body, PageError | None] | str:
    content_type = _find_content_type(frame, response)
    if not response.has_head and not frame.head.url.lower().startswith(("http:", "https:")) and frame.head.url:
        return "not http"
    if not settings.keeps(response.status):
        return "status"
    if not may_be_html(content_type):
        return "not html"
    if not response.body:
        return "empty"
    declared = parse_media_type(content_type) in HTML_TYPES
    try:
        body = _decode_block(frame, response, settings.page_bytes, offered)
    except PageError as error:
        html = is_html(content_type, response.body[:SNIFF_BYTES]) or (declared and response.content_encoding)
        return (response, Body(b""), error) if html else "not html"
    if not body.payload:
        return "empty"
    if not is_html(content_type, body.payload):
        return "not html"
    return response, body, None


def build_failed_record(frame: Frame, warc_file: str, error: PageError, base: int = 0) -> Record:
    """Return a page with an error instead of a payload, for a frame that could not be processed.
    base: See `to_record`."""
    return _build_record(frame, Response(b""), Body(b""), error, warc_file, base)


def _find_content_type(frame: Frame, response: Response) -> str | None:
    """Return the content type from the HTTP header. For a response without an HTTP header, use the
    record's own header, such as an ARC URL line."""
    if response.has_head:
        return response.content_type
    return None if parse_media_type(frame.head.content_type) == "application/http" else frame.head.content_type


def _decode_block(frame: Frame, response: Response, max_bytes: int, offered: Offered | None) -> Body:
    if frame.block_bytes > len(frame.block):
        raise PageError(ErrorCode.PAGE_TOO_LARGE, f"the record has {frame.block_bytes} bytes, the limit is {max_bytes}")
    find = partial(offered.find_before, frame.offset) if offered else None
    return decode_body(response.body, response.transfer_encoding, response.content_encoding, max_bytes, find)


def _build_record(
    frame: Frame, response: Response, body: Body, error: PageError | None, warc_file: str, base: int
) -> Record:
    fetched_at = parse_date(frame.head.date or "")
    offset = frame.offset if frame.inflated else base + frame.offset
    odd = {*body.flags, *_find_flags(frame, response, body)} | ({"bad date"} if fetched_at is None else set())
    return Record(
        page_id=page_id(warc_file, offset, frame.inflated, base),
        url=frame.head.url,
        warc_file=warc_file,
        offset=offset,
        length=frame.length,
        fetched_at=fetched_at,
        http_status=response.status,
        content_type=_find_content_type(frame, response),
        payload=body.payload,
        payload_digest="sha256:" + hashlib.sha256(body.payload).hexdigest(),
        truncated=_find_truncation(frame, response, body),
        flags=tuple(flag for flag in FLAGS if flag in odd),
        error_code=error.code if error else None,
        error_detail=error.detail if error else None,
        record_id=frame.head.record_id,
        payload_digest_sha1=parse_sha1(frame.head.payload_digest),
    )


def _find_truncation(frame: Frame, response: Response, body: Body) -> str | None:
    if frame.fault and not frame.whole:
        return frame.fault
    if frame.head.truncated or body.cut:
        return frame.head.truncated or "broken encoding"
    match = _WHOLE_RANGE.match(response.content_range)
    return "partial content" if response.status == 206 and not (match and int(match[1]) + 1 == int(match[2])) else None


def _find_flags(frame: Frame, response: Response, body: Body) -> Iterator[str]:
    if parse_media_type(_find_content_type(frame, response)) not in HTML_TYPES:
        yield "sniffed"
    if not response.has_head:
        yield "no http header"
    elif response.status is None and frame.head.record_type == "response":
        yield "no http status"
    if not frame.head.url:
        yield "no url"
    if frame.fault and frame.whole:
        yield "damaged member"
    if frame.inflated:
        yield "inflated offset"
    stored_as_sent = not frame.fault and not response.transfer_encoding and "not encoded" not in body.flags
    if stored_as_sent and len(response.body) < (response.content_length or 0) and frame.block_bytes == len(frame.block):
        yield "short body"
