"""Decides whether a body is HTML, by its header, and by its first bytes where the header is missing
or wrong.

It follows the WHATWG MIME sniffing standard (sections 5.2, 6, 7.1, 7.3), with two changes for
archives. Some servers send `text/plain` and XML types for HTML, so those are sniffed too, but need
stronger signs than in a browser. And JSON, which no browser sniffs, is no page.
"""

import json
import re

from dripper.decode.budget import MAX_JSON

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})

_UNKNOWN_TYPES = frozenset(
    {
        "",
        "unknown/unknown",
        "application/unknown",
        "*/*",
        "application/octet-stream",
        "binary/octet-stream",
        "text/unknown",
    }
)
_WRONG_TYPES = frozenset(
    {"text/plain", "text/xml", "application/xml", "text", "html", "text/htm", "text/xhtml", "application/html"}
)

SNIFF_BYTES = 4096
"""Browsers look at 1,445 bytes; comments and PHP notices before `<html` are often longer than
that."""

_DOCUMENT = re.compile(rb"<(?:!DOCTYPE\s+HTML|HTML|HEAD|BODY)[\s>/]", re.IGNORECASE)
_FRAGMENT = re.compile(
    rb"<(?:SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BR|P|META|LINK|CENTER|FORM)[\s>/]", re.IGNORECASE
)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF|urlset|sitemapindex)[\s>/]")
_BINARY_MAGIC = re.compile(
    rb"%PDF-|%!PS|\x89PNG|GIF8[79]a|\xff\xd8\xff|RIFF....(?:WEBP|WAVE|AVI )|PK\x03\x04|Rar!\x1a|7z\xbc\xaf|"
    rb"\xd0\xcf\x11\xe0|\{\\rtf|wOF[F2]|ID3|OggS|\x1aE\xdf\xa3|\x7fELF|MZ\x90|\x00\x00\x01\x00|....ftyp|FWS|CWS|BZh|\xfd7zXZ|\x00asm",
    re.DOTALL,
)
_KINDS = {
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"WARC/1.": "a WARC archive",
}
BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""A binary data byte of the WHATWG MIME sniffing standard (section 3)."""
_JSON_START = re.compile(rb"\s*[{\[]")
_BOMS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def parse_media_type(content_type: str | None) -> str:
    """Return type/subtype in small letters, or "" where there is none (WHATWG MIME sniffing 4.4,
    first value of a list).

    >>> parse_media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return re.split(r"[;,]", content_type or "", maxsplit=1)[0].strip(" \t\"'").lower()


def may_be_html(content_type: str | None) -> bool:
    """Tell whether the body may be HTML according to its header."""
    kind = parse_media_type(content_type)
    return kind in HTML_TYPES or kind in _UNKNOWN_TYPES or kind in _WRONG_TYPES or "/" not in kind


def is_html(content_type: str | None, payload: bytes) -> bool:
    """Tell whether a body, decoded, is HTML or XHTML. Never raises.

    >>> is_html("text/plain", b"<!doctype html><p>")
    True
    >>> is_html("text/html", b"%PDF-1.4"), is_html("text/html", b"hello")
    (False, True)
    """
    kind, head = parse_media_type(content_type), _skip_mark(payload[:SNIFF_BYTES])
    if _BINARY_MAGIC.match(head):
        return False
    head = _skip_to_first_tag(head)
    if _FEED.match(head):
        return False
    if kind in HTML_TYPES:
        return not _is_json(payload)
    if _DOCUMENT.match(head):
        return True
    return kind not in _WRONG_TYPES and _FRAGMENT.match(head) is not None


def name_other_kind(payload: bytes) -> str | None:
    """Return the kind of a body without a header, in words, if it is surely not HTML. None means
    HTML, or plain text.

    After WHATWG MIME sniffing 7.1: what has binary data bytes is no text, unless it begins like
    HTML. Never raises.

    >>> name_other_kind(b"%PDF-1.7"), name_other_kind(b"plain text")
    ('a PDF document', None)
    >>> name_other_kind(b"\\x00\\x01\\x02")
    'binary data'
    """
    for start, kind in _KINDS.items():
        if payload.startswith(start):
            return kind
    head = _skip_mark(payload[:SNIFF_BYTES])
    if _BINARY_MAGIC.match(head):
        return "binary data"
    first = _skip_to_first_tag(head)
    if _FEED.match(first):
        return "a feed or a site map"
    if _is_json(payload):
        return "JSON"
    starts_like_html = _DOCUMENT.search(head) or _FRAGMENT.match(first)
    return "binary data" if BINARY_BYTE.search(head) and not starts_like_html else None


def _skip_mark(head: bytes) -> bytes:
    """Return the start of a body without its byte order mark, UTF-16 as UTF-8."""
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "ignore").encode()
    return head


def _skip_to_first_tag(head: bytes) -> bytes:
    """Return the start of a body without the white space, comments and instructions (`<?xml …?>`)
    before its first tag."""
    while True:
        head = head.lstrip()
        end = b"-->" if head.startswith(b"<!--") else b"?>" if head.startswith(b"<?") else None
        if end is None:
            return head
        _, separator, head = head.partition(end)
        if not separator:
            return b""


def _is_json(payload: bytes) -> bool:
    """Tell whether the whole body is one JSON object or array: APIs that answer with `text/html`
    are many."""
    if not _JSON_START.match(payload):
        return False
    if len(payload) > MAX_JSON:  # judged by its ends
        return payload.rstrip()[-1:] in (b"}", b"]") and not _DOCUMENT.search(payload, 0, SNIFF_BYTES)
    try:
        json.loads(payload)
    except (ValueError, RecursionError):
        return False
    return True
