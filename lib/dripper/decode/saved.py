"""Extracts the page from MHTML (RFC 2557), the format in which browsers save pages. Also closes the
self-closing elements of XHTML.
"""

import binascii
import re
from email.message import Message
from email.parser import BytesHeaderParser
from typing import NamedTuple

from dripper.decode.body import PAGE_BYTES, inflate_page
from dripper.decode.sniff import HTML_TYPES, SNIFF_BYTES, parse_media_type
from dripper.errors import ErrorCode, PageError


class SavedPage(NamedTuple):
    """The page in a saved file."""

    html: str | bytes
    url: str | None = None
    """The page's URL, if the file contains it."""
    content_type: str | None = None
    """Content type of the page's MHTML part, which names the charset; None for other files."""


def open_page(html: str | bytes, max_bytes: int = PAGE_BYTES) -> SavedPage:
    """Read the page in a saved file: decompress gzip, zstd or bzip2 bytes, and open MHTML.

    Raises PageError as `inflate_page` does, and with NOT_HTML for MHTML without a page.

    >>> header = "Content-Type: multipart/related; boundary=B\\n\\n"
    >>> open_page(header + "--B\\nContent-Type: text/html\\n\\n<p>one\\n--B--").html
    b'<p>one'
    """
    inflated = inflate_page(html, max_bytes)
    if not inflated[:1].isalpha() or not _MHTML.match(_to_bytes(inflated[:SNIFF_BYTES])):
        return SavedPage(inflated)
    return _open_mhtml(_to_bytes(inflated))


def _to_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "ignore")


_MHTML = re.compile(
    rb"(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*+)*?content-type:\s*multipart/(?:related|mixed|alternative)",
    re.IGNORECASE,
)
"""Header lines, including one with a multipart content type."""
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_MOST_HEADER = 1 << 16
_MOST_TYPE = 4096
"""Maximum number of characters in a content type, including the boundary. The time to parse its
parameters grows with the square of this number."""
_DEEPEST = 4
"""Maximum depth of nested MIME parts."""


def _open_mhtml(stored: bytes) -> SavedPage:
    header, body = _split_header(stored)
    page = _find_page(header, body, _DEEPEST)
    if page is None:
        raise PageError(ErrorCode.NOT_HTML, "it is MHTML or a mail, and no page is in it")
    part, html = page
    url = header.get("Snapshot-Content-Location") or part.get("Content-Location") or header.get("Content-Location")
    return SavedPage(html, " ".join(str(url).split()) if url else None, str(part.get("Content-Type")))


def _split_header(stored: bytes) -> tuple[Message, bytes]:
    end = _BLANK_LINE.search(stored, 0, _MOST_HEADER)
    header, body = (stored[: end.start()], stored[end.end() :]) if end else (stored[:_MOST_HEADER], b"")
    return BytesHeaderParser().parsebytes(header), body


def _find_page(header: Message, body: bytes, depth: int) -> tuple[Message, bytes] | None:
    """Return the header and the body of the first HTML part of a MIME message, or None if there is
    none."""
    if parse_media_type(str(header.get("Content-Type"))) in HTML_TYPES:
        return header, _decode_part(body, str(header.get("Content-Transfer-Encoding", "")))
    if not depth or len(str(header.get("Content-Type"))) > _MOST_TYPE:
        return None
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        return None
    mark = re.compile(rb"(?:^|\r?\n)--" + re.escape(boundary.encode("utf-8", "replace")) + rb"(?:--)?[ \t]*(?:\r?\n|$)")
    start = mark.search(body)
    while start:
        end = mark.search(body, start.end())
        part = body[start.end() : end.start() if end else len(body)]
        if page := _find_page(*_split_header(part.lstrip(b"\r\n")), depth - 1):
            return page
        start = end
    return None


def _decode_part(body: bytes, encoding: str) -> bytes:
    encoding = encoding.strip().lower()
    try:
        if encoding == "quoted-printable":
            return binascii.a2b_qp(body)
        return binascii.a2b_base64(body) if encoding == "base64" else body
    except binascii.Error as error:
        raise PageError(ErrorCode.BODY_UNREADABLE, f"a part of MHTML in base64: {error}") from None


_XHTML_TYPES = HTML_TYPES - {"text/html"}
_RAW = frozenset({b"script", b"style", b"title", b"textarea", b"iframe", b"noscript", b"xmp", b"noembed", b"noframes"})
"""Elements in which an HTML parser reads everything up to the end tag as text."""
_VOID = frozenset(
    b"area base basefont bgsound br col command embed frame hr image img input isindex keygen link meta param source "
    b"track wbr".split()
)
_TOKEN = re.compile(rb"<!--|<!\[CDATA\[|<([a-zA-Z][\w:-]*)(?:[\s/][^<>]*)?>")
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_ENDS_OF_CODE = {name: re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE) for name in (b"script", b"style")}


def close_empty_elements(utf8: bytes, content_type: str | None = None) -> bytes:
    """Add end tags to the self-closing elements of XHTML. HTML parsers leave these elements open,
    and `<script/>` would hide the rest of the page. Everything else is unchanged.

    A page is XHTML if its header says so or if it starts with `<?xml`. If its header says that it
    is not XHTML, browsers read it as HTML in spite of `<?xml`, so only elements that would hide the
    rest are closed. Takes linear time.

    >>> close_empty_elements(b'<?xml version="1.0"?><script src="a.js"/><a id="b"/><br/>')
    b'<?xml version="1.0"?><script src="a.js"></script><a id="b"></a><br/>'
    """
    is_declared = parse_media_type(content_type) in _XHTML_TYPES
    if b"/>" not in utf8 or not (is_declared or _skip_start(utf8).startswith(b"<?xml")):
        return utf8
    closes_all = is_declared or content_type is None
    written, copied, at = list[bytes](), 0, 0
    while token := _TOKEN.search(utf8, at):
        name, at = (token[1] or b"").lower(), token.end()
        if not name:
            at = utf8.find(_ENDS[token[0]], at)
        elif utf8[at - 2 : at] == b"/>":
            if name in _RAW or (closes_all and name not in _VOID):
                written += [utf8[copied : at - 2].rstrip(), b"></", token[1], b">"]
                copied = at
        elif name in _ENDS_OF_CODE:
            end = _ENDS_OF_CODE[name].search(utf8, at)
            at = end.start() if end else -1
        if at < 0:
            break
    return b"".join([*written, utf8[copied:]])


def _skip_start(utf8: bytes) -> bytes:
    return utf8[:100].removeprefix(b"\xef\xbb\xbf").lstrip()
