"""Decodes bytes to text as browsers do: the WHATWG encoding and HTML standards (BOM, header, `meta`
prescan), and a detector if a page declares no possible encoding.
"""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import webencodings  # type: ignore[import-untyped]
from chardetng_py import EncodingDetector  # type: ignore[import-untyped]

from dripper.decode.codecs import decode_as

SCAN_BYTES = 65_536
"""The standard scans 1,024 bytes, but its parser obeys a later `meta` of the head all the same, by
starting over (13.2.3.5), and Chromium scans on to the end of the head. Of 2,374 pages of five sets
with a free licence 2,008 have it in the first 1,024 bytes, 227 in the next 64,512, 22 later or only
inside a script, 117 nowhere."""

_ALWAYS_BYTES = 1024
"""Up to here a `body` tag does not end the search, as in the standard and in Chromium."""

_RAW_END = re.compile(rb"</(?:script|style|title|textarea)", re.IGNORECASE)
_RAW_TAGS = frozenset({b"<script", b"<style", b"<title", b"<textarea"})
_TAG = re.compile(rb"</?[a-z][^\s/>]*", re.IGNORECASE)
_META = re.compile(rb"<meta(?=[\s/])", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""[\s/]*([^\s/>=][^\s/>=]*)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)))?""")
_ATTRIBUTES = re.compile(rb"(?:%s)*" % _ATTRIBUTE.pattern)
"""All attributes of a tag at once: nothing follows that could make the search go back."""
_CHARSET = re.compile(rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def find_declared_label(head: bytes) -> str | None:
    """Return the encoding label that a page declares, as written, or None; never raises.

    Args:
        head: The page from its start; only the first `SCAN_BYTES` are looked at.

    >>> head = b"<META content='text/html; charset=gbk' http-equiv=Content-Type>"
    >>> find_declared_label(b"<!-- <meta charset=a> -->" + head)
    'gbk'
    """
    return _find_meta_label(head[:SCAN_BYTES]) or _find_xml_label(head[:1024])


def parse_charset(value: bytes) -> str | None:
    """Return the `charset` of a Content-Type value (HTML standard, "extracting a character encoding
    from a meta element").

    >>> parse_charset(b'text/html; charset="UTF-8"')
    'UTF-8'
    """
    match = _CHARSET.search(value)
    return _decode_label(next(group for group in match.groups() if group is not None)) if match else None


def _find_meta_label(head: bytes) -> str | None:
    at = head.find(b"<")
    while at >= 0:
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2)
            at = end + 3 if end >= 0 else len(head)
        elif meta := _META.match(head, at):
            attributes, at = _parse_attributes(head, meta.end())
            if label := _find_label(attributes):
                return label
        elif tag := _TAG.match(head, at):
            name = tag[0].lower()
            if name == b"<body" and at > _ALWAYS_BYTES:
                return None
            at = _ATTRIBUTES.match(head, tag.end()).end()  # type: ignore[union-attr]  # an empty match at least
            if name in _RAW_TAGS:  # its content has no tags
                raw_end = _RAW_END.search(head, at)
                at = raw_end.start() if raw_end else len(head)
        elif head[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = head.find(b">", at)
        else:
            at += 1
        at = head.find(b"<", at) if at >= 0 else at
    return None


def _parse_attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes from `at` on, with names in lower case (the first of each name), and
    the end of the tag."""
    attributes: dict[bytes, bytes] = {}
    while attribute := _ATTRIBUTE.match(head, at):
        name, *values = attribute.groups()
        attributes.setdefault(name.lower(), next((value for value in values if value is not None), b""))
        at = attribute.end()
    return attributes, at


def _find_label(attributes: dict[bytes, bytes]) -> str | None:
    """Return the label in a `meta`: of `charset`, or of `content` beside
    `http-equiv="content-type"`."""
    if label := attributes.get(b"charset"):
        return _decode_label(label)
    if attributes.get(b"http-equiv", b"").lower() == b"content-type":
        return parse_charset(attributes.get(b"content", b""))
    return None


def _find_xml_label(head: bytes) -> str | None:
    match = _XML.match(head)
    return _decode_label(match[1] if match[1] is not None else match[2]) if match else None


def _decode_label(label: bytes) -> str:
    return label.decode("ascii", "replace").strip(" \t\n\f\r")


_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

_DETECT_BYTES = 1 << 14
"""Bytes that a detector gets, from the first one on that is not ASCII. Of 985 pages in 14
encodings, made from pages of three training sets without their declarations, chardetng (Apache-2.0,
MIT) names the right one for 983 from 16 KiB (8 ms per page), for 981 from 128 KiB. Whole pages:
uchardet in resiliparse 972, cchardet 927, charset-normalizer 111 of 124, chardet 7 895."""

_MOSTLY_UTF8 = 20
"""Characters of several bytes for each error that make an undeclared page UTF-8: one cut in half in
a `title` is common."""

_SURELY_UTF8 = 10
"""Bytes that continue a character, without an error, that make a page UTF-8, whatever it declares.
Of ten frequent characters in GBK, which has the likeliest pairs, all are such by chance once in
10^7. Of 8,124 labelled pages 378 declare another encoding, 322 of them in one set, stored so by its
collectors; of 591 pages in archives none does."""

_HEAD_BYTES = 1024
_FEWEST_ZEROS = 0.25
"""Share of second bytes that are zero: in UTF-16 at least so many characters are ASCII, as markup
is."""
_ISO_2022_JP = re.compile(rb"\x1b\$[@B](?:[\x21-\x7e]{2})+(?:\x1b\([BJ]|[\r\n<]|\Z)")

_NOT_ASCII = re.compile(rb"[\x80-\xff]")


CharsetSource = Literal["bom", "http", "meta", "detector"]


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A page's text. encoding: WHATWG name, lower case. source: the source of the encoding. errors:
    number of U+FFFD that decoding inserted."""

    text: str
    encoding: str
    source: CharsetSource
    errors: int = 0


class Utf8(NamedTuple):
    """A page as UTF-8 without errors; the other fields as in `DecodedText`."""

    utf8: bytes
    encoding: str
    source: CharsetSource
    errors: int = 0


def decode(payload: bytes, content_type: str | None = None) -> DecodedText:
    """Decode a page. Never raises: bytes that are invalid in the encoding become U+FFFD.

    Order (HTML standard 13.2.3.2, encoding standard 4 and 6): byte order mark, `charset` of the
    HTTP header `content_type`, `meta` or XML declaration, then UTF-8 if the bytes are, then
    chardetng, Firefox's detector. A declaration is obeyed even if it is wrong, as in browsers,
    unless the bytes themselves leave no doubt (source `detector`). Valid UTF-8 is decoded as UTF-8,
    because a page saved as UTF-8 keeps the declaration of its server. Escapes of ISO-2022-JP and
    the zeros of UTF-16 also decide. If more characters are broken than whole, a declared UTF-8 is
    ignored, and the next declaration decides. A declaration that names no encoding is ignored.

    >>> decode(b"caf\\xe9", "text/html; charset=ISO-8859-1")
    DecodedText(text='café', encoding='windows-1252', source='http', errors=0)
    """
    page = to_utf8(payload, content_type)
    return DecodedText(page.utf8.decode(), page.encoding, page.source, page.errors)


def to_utf8(payload: bytes, content_type: str | None = None) -> Utf8:
    """Return the text of `decode` as UTF-8, which the parser reads; never raises.

    Most pages are UTF-8 and stay as they are: encoding their text again would be wasted work.
    """
    payload, name, source = _choose_encoding(payload, content_type)
    if name == "utf-8":
        with suppress(UnicodeDecodeError):
            payload.decode()
            return Utf8(payload, name, source)
    text = decode_as(payload, name)
    return Utf8(text.encode("utf-8", "replace"), name, source, _count_errors(text, payload, name))


def _count_errors(text: str, payload: bytes, name: str) -> int:
    """Return the number of U+FFFD in a text that are not the page's own."""
    return text.count("\ufffd") - (payload.count(b"\xef\xbf\xbd") if name == "utf-8" else 0)


def _choose_encoding(payload: bytes, content_type: str | None) -> tuple[bytes, str, CharsetSource]:
    """Return a page without byte order mark, the name of its encoding, and the source of this
    name."""
    for mark, encoding in _BOMS:
        if payload.startswith(mark):
            return payload[len(mark) :], encoding, "bom"
    if unmistakable := _find_unmistakable(payload):
        return payload, unmistakable, "detector"
    name, source = _find_declared_encoding(payload, content_type)
    if name is None:
        return payload, _detect_encoding(payload), "detector"
    if name != "utf-8" and (_count_continuing_bytes(payload) or 0) >= _SURELY_UTF8:
        return payload, "utf-8", "detector"
    if name == "utf-8" and (broken := _count_broken(payload)):
        meta = _find_meta_encoding(payload)
        if meta not in (None, "utf-8") and decode_as(payload, meta).count("\ufffd") < broken:
            return payload, meta, "meta"
        guess = _guess_encoding(payload)
        if decode_as(payload, guess).count("\ufffd") < broken:
            return payload, guess, "detector"
    return payload, name, source


def _find_unmistakable(payload: bytes) -> str | None:
    """Return the only encoding that the bytes of a page without a byte order mark can have; None if
    others are possible."""
    if encoding := find_unmarked_utf16(payload):
        return encoding
    # One byte is looked for thirty times as fast as two.
    return "iso-2022-jp" if b"\x1b" in payload and payload.isascii() and _ISO_2022_JP.search(payload) else None


def find_unmarked_utf16(payload: bytes) -> str | None:
    """Return "utf-16le" or "utf-16be" if a page without a byte order mark is surely that.

    >>> find_unmarked_utf16("<p>one".encode("utf-16-le")), find_unmarked_utf16(b"<p>one")
    ('utf-16le', None)
    """
    head = payload[:_HEAD_BYTES]
    for name, first, tag in (("utf-16be", 0, b"\0<"), ("utf-16le", 1, b"<\0")) if b"\0" in head else ():
        n_zeros, n_others = head[first::2].count(0), head[1 - first :: 2].count(0)
        if tag in head and not n_others and n_zeros > _FEWEST_ZEROS * len(head) / 2:
            return name
    return None


def _count_broken(payload: bytes) -> int:
    """Return the number of broken characters in a page that declares UTF-8; 0 if at least as many
    characters of several bytes are whole."""
    if _count_continuing_bytes(payload) is not None:
        return 0
    text = payload.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    n_ascii = len(payload) - int(np.count_nonzero(np.frombuffer(payload, np.uint8) & 0x80))
    return broken if 2 * broken > len(text) - n_ascii else 0


def _find_declared_encoding(payload: bytes, content_type: str | None) -> tuple[str | None, CharsetSource]:
    if name := _look_up_encoding(parse_charset((content_type or "").encode("utf-8", "replace"))):
        return name, "http"
    return _find_meta_encoding(payload), "meta"


def _look_up_encoding(label: str | None) -> str | None:
    """Return the encoding that a label names ("Latin1": windows-1252), or None."""
    encoding = webencodings.lookup(label) if label else None
    return str(encoding.name) if encoding else None


def _find_meta_encoding(payload: bytes) -> str | None:
    """Return the encoding of the page's own declaration. It was readable as ASCII, so it cannot be
    UTF-16."""
    name = _look_up_encoding(find_declared_label(payload))
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _detect_encoding(payload: bytes) -> str:
    if _count_continuing_bytes(payload) is not None:
        return "utf-8"
    text = payload.decode("utf-8", "replace")
    is_utf8 = len(payload) - len(text) > _MOSTLY_UTF8 * text.count("\ufffd")
    return "utf-8" if is_utf8 else _guess_encoding(payload)


def _count_continuing_bytes(payload: bytes) -> int | None:
    """Return the number of bytes that continue a character; None if the page is not UTF-8. An
    incomplete last character is ignored."""
    try:
        text, length = codecs.utf_8_decode(payload, "strict", False)
    except UnicodeDecodeError:
        return None
    return length - len(text)


def _guess_encoding(payload: bytes) -> str:
    """Return chardetng's guess for a page that is not UTF-8."""
    match = _NOT_ASCII.search(payload)
    start = match.start() if match else 0
    detector = EncodingDetector()
    # `last` at a cut would call the half character there an error, and an error rules an encoding
    # out.
    detector.feed(payload[start : start + _DETECT_BYTES], last=start + _DETECT_BYTES >= len(payload))
    return _look_up_encoding(detector.guess(tld=None, allow_utf8=False)) or "windows-1252"
