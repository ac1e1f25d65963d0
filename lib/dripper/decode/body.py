"""Decodes an HTTP response body as a browser would: joins its chunks and undoes its content
codings. A damaged body is decoded as far as possible. Compressed pages without an HTTP header are
decompressed, too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from dripper.decode.budget import MAX_BODY_MEMBERS, MAX_CHUNKS, MAX_CODINGS
from dripper.decode.compression import (
    BZIP2_MAGIC,
    GZIP_MAGIC,
    ZSTD_MAGIC,
    BrotliDecompressor,
    Bzip2Decompressor,
    Decompressor,
    GzipDecompressor,
    ZstdDecompressor,
    inflate_member,
)
from dripper.decode.sniff import BINARY_BYTE, SNIFF_BYTES, name_other_kind
from dripper.errors import ErrorCode, PageError
from dripper.settings import ReadSettings

_CHUNK_LINE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")

_CODINGS: dict[str, tuple[bytes, tuple[Callable[[], Decompressor], ...]]] = {
    "gzip": (GZIP_MAGIC, (GzipDecompressor,)),
    "x-gzip": (GZIP_MAGIC, (GzipDecompressor,)),
    "zstd": (ZSTD_MAGIC, (ZstdDecompressor,)),
    "deflate": (b"", (lambda: GzipDecompressor(15), lambda: GzipDecompressor(-15))),
    "br": (b"", (BrotliDecompressor,)),
    "bzip2": (BZIP2_MAGIC, (Bzip2Decompressor,)),
}
"""Content coding → its magic bytes and its decompressors. RFC 9110 8.4.1.2 defines deflate as zlib
data, but many servers send raw deflate, so both are tried."""

_DICTIONARY_CODINGS = {"dcb": b"\xffDCB", "dcz": b"\x5e\x2a\x4d\x18\x20\0\0\0"}
"""Content coding with a dictionary → its magic bytes, which precede the dictionary's SHA-256."""

_DIGEST_BYTES = 32

FindDictionary = Callable[[bytes], bytes | None]
"""Returns the dictionary with the given SHA-256 digest, or None."""

_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_NO_CODINGS = frozenset({"", "identity", "chunked", "none"})


@dataclass(frozen=True, slots=True)
class Body:
    """A body, decoded as far as possible."""

    payload: bytes
    cut: bool = False
    """Whether the end of the body is missing."""
    flags: tuple[str, ...] = ()
    """Problems found while decoding; see `dripper.warc.read.record.FLAGS`."""


def decode_body(
    stored: bytes,
    transfer_encoding: str,
    content_encoding: str,
    max_bytes: int,
    find_dictionary: FindDictionary | None = None,
) -> Body:
    """Undo `Transfer-Encoding: chunked`, then the content codings, the last one first (RFC 9110
    8.4, RFC 9112 7.1).

    Headers often contradict the body, because Common Crawl and wget store decoded bodies with the
    original headers. Such a body is returned unchanged, with a flag. If a body is damaged, only the
    bytes before the damage are returned, with another flag.

    Args:
        find_dictionary: Returns the dictionary with the given SHA-256 digest, or None.

    Raises:
        PageError: PAGE_TOO_LARGE if the body is larger than `max_bytes`, BODY_UNREADABLE if nothing
            of it can be decoded.

    >>> decode_body(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\n", "chunked", "", 100).payload
    b'abc'
    """
    body = Body(stored)
    if "chunked" in transfer_encoding.lower():
        body = _join_chunks(stored)
    codings = _parse_codings(content_encoding) + _parse_codings(transfer_encoding)
    if len(codings) > MAX_CODINGS:
        codings, body = [], _take_as_it_is(body, f"{len(codings)} content codings; at most {MAX_CODINGS} are undone")
    for coding in reversed(codings):
        if coding in _DICTIONARY_CODINGS:
            body = _undo_with_dictionary(coding, body, max_bytes, find_dictionary)
        else:
            body = _undo(coding, body, max_bytes)
    if body.payload.startswith(GZIP_MAGIC):  # encoded twice, or encoded without a header; HTML cannot start like this
        body = _undo("gzip", _add_flag(body, "undeclared gzip"), max_bytes)
    if len(body.payload) > max_bytes:
        raise _explain_too_large(max_bytes)
    return body


def _parse_codings(header: str) -> list[str]:
    return [name for part in header.lower().split(",") if (name := part.strip(" \t\"'")) not in _NO_CODINGS]


def _add_flag(body: Body, flag: str, payload: bytes | None = None, cut: bool = False) -> Body:
    flags = body.flags if flag in body.flags else (*body.flags, flag)
    return Body(body.payload if payload is None else payload, body.cut or cut, flags)


def _explain_too_large(max_bytes: int) -> PageError:
    return PageError(ErrorCode.PAGE_TOO_LARGE, f"the body is larger than {max_bytes} bytes")


def _join_chunks(stored: bytes) -> Body:
    """Join the chunks of a body. From the first invalid chunk on, bytes are appended unchanged."""
    parts: list[bytes] = []
    at = 0
    while len(parts) < MAX_CHUNKS and (line := _CHUNK_LINE.match(stored, at)):
        size = int(line[1], 16)
        if not size:
            return Body(b"".join(parts))
        data = stored[line.end() : line.end() + size]
        parts.append(data)
        at = line.end() + size
        if len(data) < size:
            return Body(b"".join(parts), cut=True, flags=("bad chunking",))
        if stored[at : at + 2] != b"\r\n":
            break
        at += 2
    if at >= len(stored) and parts:  # only the final, empty chunk is missing
        return Body(b"".join(parts), flags=("bad chunking",))
    return Body(b"".join([*parts, stored[at:]]), flags=("bad chunking" if parts else "not chunked",))


def _undo(coding: str, body: Body, max_bytes: int) -> Body:
    """Undo one content coding."""
    stored = body.payload
    if not stored:
        return body
    magic, decompressors = _CODINGS.get(coding, (b"", ()))
    best, problem = b"", "that is not its first bytes" if decompressors else "no such coding is known"
    for new in decompressors if stored.startswith(magic) else ():
        payload, problem = _inflate(new, stored, max_bytes)
        if not problem:
            return Body(payload, body.cut, body.flags)
        best = max(best, payload, key=len)
    if best and not _is_readable(stored):
        return _add_flag(body, "broken encoding", best, cut=True)
    return _take_as_it_is(body, f"{len(stored)} bytes said to be {coding[:40]}: {problem}")


def _undo_with_dictionary(coding: str, body: Body, max_bytes: int, find_dictionary: FindDictionary | None) -> Body:
    """Undo a content coding that uses a dictionary (RFC 9842, sections 4 and 5). The magic bytes
    are followed by the dictionary's digest."""
    stored, magic = body.payload, _DICTIONARY_CODINGS[coding]
    if not stored:
        return body
    start = len(magic) + _DIGEST_BYTES
    digest = stored[len(magic) : start]
    what = f"{len(stored)} bytes said to be {coding} (RFC 9842)"
    if not stored.startswith(magic) or len(digest) < _DIGEST_BYTES:
        return _take_as_it_is(body, f"{what}: that is not its first bytes")
    if coding == "dcb":
        return _take_as_it_is(
            body, f"{what}: Python's brotli takes no dictionary; crawl without `dcb` in Accept-Encoding"
        )
    dictionary = find_dictionary(digest) if find_dictionary else None
    if dictionary is None:
        return _take_as_it_is(body, f"{what}: no record before it in its archive offers the dictionary {digest.hex()}")
    payload, problem = _inflate(lambda: ZstdDecompressor(dictionary, is_raw=True), stored[start:], max_bytes)
    if not problem:
        return Body(payload, body.cut, body.flags)
    return (
        _add_flag(body, "broken encoding", payload, cut=True) if payload else _take_as_it_is(body, f"{what}: {problem}")
    )


def _is_readable(stored: bytes) -> bool:
    return stored.startswith(_BOMS) or not BINARY_BYTE.search(stored, 0, 1024)


def _take_as_it_is(body: Body, problem: str) -> Body:
    """Return the body unchanged, with a flag. Raises BODY_UNREADABLE if the body begins with binary
    data."""
    if not _is_readable(body.payload):
        raise PageError(ErrorCode.BODY_UNREADABLE, problem)
    return _add_flag(body, "not encoded")


def _inflate(new: Callable[[], Decompressor], stored: bytes, max_bytes: int) -> tuple[bytes, str]:
    """Inflate all members in `stored`. Return the inflated bytes, and the problem ("" if none)."""
    parts: list[bytes] = []
    first, at, n_bytes, n_members, problem = stored[:3], 0, 0, 0, ""
    while at < len(stored) and not problem:
        n_members += 1
        if n_members > MAX_BODY_MEMBERS:
            problem = f"it has more than {MAX_BODY_MEMBERS} members"
            break
        part, at, problem = inflate_member(new, stored, at, max_bytes - n_bytes)
        parts.append(part)
        n_bytes += len(part)
        if n_bytes > max_bytes:
            raise _explain_too_large(max_bytes)
        if stored[at : at + 3] != first or first not in (GZIP_MAGIC, ZSTD_MAGIC[:3], BZIP2_MAGIC):
            break
    return b"".join(parts), problem


PAGE_BYTES = ReadSettings().page_bytes
"""Default maximum number of bytes in a decompressed page."""


def inflate_page(html: str | bytes, max_bytes: int = PAGE_BYTES) -> str | bytes:
    """Decompress a page if it is gzip, zstd or bzip2. (Brotli data cannot be recognised, because it
    has no magic bytes.)

    Raises PageError: NOT_HTML if the page is certainly not HTML. For bytes, also raises the
    errors of `decode_body`.

    >>> inflate_page(b"<p>one"), inflate_page("two")
    (b'<p>one', 'two')
    """
    if isinstance(html, str):
        _refuse_other(html[:SNIFF_BYTES].encode("utf-8", "ignore"))
        return html
    coding = next((name for name in ("zstd", "bzip2") if html.startswith(_CODINGS[name][0])), "")
    payload = decode_body(html, "", coding, max_bytes).payload
    _refuse_other(payload)
    return payload


def _refuse_other(payload: bytes) -> None:
    if kind := name_other_kind(payload):
        raise PageError(ErrorCode.NOT_HTML, f"it is {kind}")
