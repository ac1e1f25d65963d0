"""Decides whether a body is HTML, from its header, or from its first bytes if the header is missing
or wrong.

The rules follow the WHATWG MIME sniffing standard (sections 5.2, 6, 7.1, 7.3), with two changes for
archives. Bodies with the type `text/plain` or an XML type are sniffed too, because some servers
send HTML with these types. Such a body must begin with a doctype, `<html>`, `<head>` or `<body>`.
JSON sent as HTML is rejected, although browsers do not sniff JSON.
"""

import json
import re

from dripper.decode.budget import MAX_JSON
from dripper.decode.charset import find_unmarked_utf16

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
"""Number of bytes to inspect. Browsers inspect 1,445, but comments and PHP notices before `<html`
are often longer."""

_DOCUMENT = re.compile(rb"<(?:!DOCTYPE\s+HTML|HTML|HEAD|BODY)[\s>/]", re.IGNORECASE)
_FRAGMENT = re.compile(
    rb"<(?:A|ABBR|ADDRESS|ARTICLE|ASIDE|AUDIO|B|BASE|BLOCKQUOTE|BR|BUTTON|CENTER|CITE|CODE|DD|DETAILS|DIALOG|DIV|DL|DT|EM|"
    rb"FIELDSET|FIGCAPTION|FIGURE|FONT|FOOTER|FORM|FRAMESET|H[1-6]|HEADER|HGROUP|HR|I|IFRAME|IMG|INPUT|LABEL|LI|LINK|MAIN|"
    rb"MARK|MENU|META|NAV|NOSCRIPT|OL|P|PICTURE|PRE|Q|SCRIPT|SEARCH|SECTION|SELECT|SMALL|SPAN|STRONG|STYLE|SUB|SUMMARY|SUP|"
    rb"TABLE|TBODY|TD|TEMPLATE|TEXTAREA|TH|THEAD|TITLE|TR|TT|U|UL|VIDEO)[\s>/]",
    re.IGNORECASE,
)
"""The first tag of HTML without a doctype. Browsers accept only 17 tag names here, and rely on the
header for all others."""
_TAG = re.compile(rb"<[a-z][a-z0-9]*(?:-[a-z0-9-]+)?[\s>/]", re.IGNORECASE)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF|urlset|sitemapindex)[\s>/]")
_KINDS = {
    "a PDF document": rb"%PDF-[0-9](?!\.\d [A-Za-z])",
    "a PNG image": rb"\x89PNG",
    "a GIF image": rb"GIF8[79]a(?:\Z|.[\x00-\x1f].[\x00-\x1f])",
    "a JPEG image": rb"\xff\xd8\xff",
    "a ZIP archive or an Office document": rb"PK\x03\x04",
    "a WARC archive": rb"WARC/1\.[0-9]\r?(?:\n|\Z)",
    "binary data": rb"%!PS(?:-Adobe|[\r\n])|"
    rb"RIFF.{3}[\x00-\x1f](?:WEBP|WAVE|AVI )|Rar!\x1a|7z\xbc\xaf|\xd0\xcf\x11\xe0|\{\\rtf[0-9\\]|"
    rb"wOF[F2](?:\x00\x01|OTTO|true|ttcf)|ID3[\x02-\x04][\x00-\x0f]|OggS\x00|\x1aE\xdf\xa3|\x7fELF|MZ\x90|\x00\x00\x01\x00|"
    rb"\x00\x00[\x00-\x10].ftyp[ -~]|[CFZ]WS.{4}[\x00-\x08]|BZh[1-9](?:1AY|\x17rE)|\xfd7zXZ|\x00asm",
}
"""Patterns for the first bytes of other file types. If text could begin with the same bytes, the
pattern includes further bytes that the format requires."""
_MAGIC = tuple((kind, re.compile(magic, re.DOTALL)) for kind, magic in _KINDS.items())
BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""A binary data byte of the WHATWG MIME sniffing standard (section 3)."""
_CONTROLS = bytes([*range(9), *range(0x0E, 0x1B), *range(0x1C, 0x20)])
"""The bytes of BINARY_BYTE except the vertical tab, which is white space."""
_MOST_CONTROLS = 0.05
"""Maximum fraction of control characters in text. Random bytes have twice this fraction."""
_JSON_START = re.compile(rb"\s*[{\[]")
_BOMS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def parse_media_type(content_type: str | None) -> str:
    """Return type/subtype in lower case, or "" if there is none (WHATWG MIME sniffing 4.4; in a
    list, the first value counts).

    >>> parse_media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return re.split(r"[;,]", content_type or "", maxsplit=1)[0].strip(" \t\"'").lower()


def may_be_html(content_type: str | None) -> bool:
    """Return whether the body may be HTML according to its header."""
    kind = parse_media_type(content_type)
    return kind in HTML_TYPES or kind in _UNKNOWN_TYPES or kind in _WRONG_TYPES or "/" not in kind


def is_html(content_type: str | None, payload: bytes) -> bool:
    """Return whether a decoded body is HTML or XHTML. Never raises.

    >>> is_html("text/plain", b"<!doctype html><p>")
    True
    >>> is_html("text/html", b"%PDF-1.4"), is_html("text/html", b"hello")
    (False, True)
    """
    kind, head = parse_media_type(content_type), payload[:SNIFF_BYTES]
    if _name_magic(head):
        return False
    head = _skip_to_first_tag(_to_utf8(head))
    if _FEED.match(head):
        return False
    if kind in HTML_TYPES:
        return not _is_json(payload)
    if _DOCUMENT.match(head):
        return True
    return kind not in _WRONG_TYPES and _FRAGMENT.match(head) is not None


def name_other_kind(payload: bytes) -> str | None:
    """Name the file type of a body without a header, or return None if it may be HTML or plain
    text.

    Follows WHATWG MIME sniffing 7.1, except that one stray control byte does not make a body
    binary. A zero byte or many control bytes do, unless the body begins like HTML. Never raises.

    >>> name_other_kind(b"%PDF-1.7"), name_other_kind(b"plain text")
    ('a PDF document', None)
    >>> name_other_kind(b"\\x00\\x01\\x02")
    'binary data'
    """
    if kind := _name_magic(payload):
        return kind
    head = _to_utf8(payload[:SNIFF_BYTES])
    first = _skip_to_first_tag(head)
    if _FEED.match(first):
        return "a feed or a site map"
    if _is_json(payload):
        return "JSON"
    starts_like_html = _DOCUMENT.search(head) or _TAG.match(first)
    return "binary data" if _is_binary(head) and not starts_like_html else None


def _name_magic(payload: bytes) -> str | None:
    return next((kind for kind, magic in _MAGIC if magic.match(payload)), None)


def _is_binary(head: bytes) -> bool:
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" in head or n_controls > max(1, _MOST_CONTROLS * len(head))


def _to_utf8(head: bytes) -> bytes:
    """Return the start of a body without its byte order mark, with UTF-16 converted to UTF-8."""
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "ignore").encode("utf-8", "ignore")
    unmarked = find_unmarked_utf16(head)
    return head.decode(unmarked, "ignore").encode("utf-8", "ignore") if unmarked else head


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
    """Return whether the whole body is one JSON object or array. Many APIs send JSON as
    `text/html`."""
    if not _JSON_START.match(payload):
        return False
    if len(payload) > MAX_JSON:  # judged by its beginning and its end
        return payload.rstrip()[-1:] in (b"}", b"]") and not _DOCUMENT.search(payload, 0, SNIFF_BYTES)
    try:
        json.loads(payload)
    except (ValueError, RecursionError):
        return False
    return True
