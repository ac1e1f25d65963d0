"""Rows of the table `extractions`, from a record and what became of it."""

import hashlib
from typing import Any
from urllib.parse import urlsplit

from dripper.extraction import Extraction
from dripper.warc import Record

Row = dict[str, Any]


def extraction_row(record: Record, extraction: Extraction, batch: int, versions: dict[str, str]) -> Row:
    """Return the row of one page, as the columns of `schemas.EXTRACTIONS` want it."""
    is_good = extraction.error_code is None
    return {
        "page_id": record.page_id,
        "batch": batch,
        "url": record.url,
        "host": host_name(record.url),
        "warc_file": record.warc_file,
        "warc_offset": record.offset,
        "warc_length": record.length,
        "fetched_at": record.fetched_at,
        "http_status": record.http_status,
        "content_type": record.content_type,
        "charset": extraction.charset,
        "charset_source": extraction.charset_source,
        "payload_digest": record.payload_digest,
        "payload_bytes": len(record.payload),
        "truncated": record.truncated,
        "flags": list(record.flags),
        "title": extraction.title if is_good else None,
        "language": extraction.language,
        "language_probability": extraction.language_probability,
        "main_html": extraction.main_html if is_good else None,
        "markdown": extraction.markdown if is_good else None,
        "markdown_chars": len(extraction.markdown) if is_good else None,
        "text_sha256": text_sha256(extraction.markdown) if is_good else None,
        "method": extraction.method,
        "n_blocks": extraction.n_blocks if is_good else None,
        "n_main": extraction.n_main if is_good else None,
        "confidence": extraction.confidence,
        "versions": versions,
        "error_code": extraction.error_code.value if extraction.error_code else None,
        "error_detail": extraction.error_detail,
    }


def host_name(url: str) -> str | None:
    """Return the host of `url` in lower case, or None where there is none.

    >>> host_name("https://Example.org:8080/a")
    'example.org'
    """
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def text_sha256(text: str) -> str:
    """Return the hash by which equal texts are found: lower case, white space collapsed.

    >>> text_sha256("A  b\\n") == text_sha256("a b")
    True
    """
    return hashlib.sha256(" ".join(text.lower().split()).encode("utf-8", "surrogatepass")).hexdigest()


def storable(row: Row) -> Row:
    """Return the row with lone surrogates, which no UTF-8 column can hold, replaced by U+FFFD."""
    return {key: _without_surrogates(value) if isinstance(value, str) else value for key, value in row.items()}


def _without_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text
