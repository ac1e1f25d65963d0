"""Creates table rows from records and their extractions. Also finds a host's registered domain in
the Public Suffix List, without network access.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dripper.addresses import ascii_host, host_name
from dripper.errors import ErrorCode
from dripper.extras import needed
from dripper.facts.metadata import first_day
from dripper.labels import Labels
from dripper.page.finish import Extraction
from dripper.settings import ALL_OUTPUTS, Output
from dripper.tree.elements import words
from dripper.warc import Record
from dripper.warc.open.identity import find_crawl
from dripper.warc.read.record import DAMAGES

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList
Row = dict[str, Any]
_IN_OTHER_COLUMNS = words("url charset charset_source encoding_errors error_code outputs")
"""Fields of an extraction that `extraction_columns` does not copy."""
_OF_RECORD = words(
    "page_id url warc_file fetched_at http_status content_type payload_digest truncated payload_digest_sha1"
)
"""Fields of a record that become columns of the same names."""
OF_OUTPUTS: Mapping[str, Output] = {
    **{name: name for name in ALL_OUTPUTS},
    "text": "main_html",
    "markdown_chars": "markdown",
    "text_sha256": "markdown",
    "comments": "posts",
    "published_date": "metadata",
}
"""Column → the output (see the `outputs` setting) from which the column is filled."""
SURE, DOUBTFUL = 0.85, 0.5
"""Confidence bounds (docs/tables.md). At SURE or above, a page's labels can be trusted. Below
DOUBTFUL, most pages have wrong labels."""
GRADES = {"sure": (SURE, 1.0), "doubtful": (0.0, math.nextafter(DOUBTFUL, 0.0))}
"""Minimum and maximum confidence of each grade. The summary at the end of a run counts the pages in
each grade."""


def grade_confidence(confidence: float | None) -> str | None:
    """Return the grade of a confidence; None if the confidence is between the grades, or
    unknown."""
    return next(
        (name for name, (low, high) in GRADES.items() if low <= (-1 if confidence is None else confidence) <= high),
        None,
    )


def record_columns(record: Record, batch: int, crawl: str = "") -> Row:
    """Return the columns of `pages` and `extractions` that describe the record itself.

    Args:
        crawl: The name of the crawl, as in the `reading.crawl` setting. If empty, the name is taken
            from the archive's address.
    """
    host = host_name(record.url)
    return {name: getattr(record, name) for name in _OF_RECORD} | {
        "batch": batch,
        "host": host,
        "warc_offset": record.offset,
        "warc_length": record.length,
        "payload_bytes": len(record.payload),
        "flags": list(record.flags),
        "warc_record_id": record.record_id,
        "registered_domain": registered_domain(host) if host else None,
        "crawl": crawl or find_crawl(record.warc_file),
    }


def extraction_columns(extraction: Extraction) -> Row:
    """Return the columns of `extractions` that describe a page's result. If the page failed, all
    columns except `error_code` and `error_detail` are null."""
    is_good, fields = extraction.error_code is None, asdict(extraction)
    columns = {name: value if is_good else None for name, value in fields.items() if name not in _IN_OTHER_COLUMNS} | {
        "error_code": extraction.error_code.value if extraction.error_code else None,
        "error_detail": extraction.error_detail,
        "markdown_chars": len(extraction.markdown) if is_good else None,
        "text_sha256": text_sha256(extraction.markdown) if is_good else None,
        "published_date": first_day(extraction.metadata.published) if extraction.metadata is not None else None,
    }
    missing = (name for name, output in OF_OUTPUTS.items() if output not in extraction.outputs and name != "text")
    return columns | dict.fromkeys(missing)


def charset_columns(of: object) -> Row:
    """Return the columns that describe how a page was decoded. `of` must have an attribute for each
    of these columns."""
    return {name: getattr(of, name) for name in ("charset", "charset_source", "encoding_errors")}


def extraction_row(
    record: Record, extraction: Extraction, batch: int, versions: Mapping[str, str | None], crawl: str = ""
) -> Row:
    """Return a page's row for the `extractions` table, if the page is extracted in one pass."""
    columns = record_columns(record, batch, crawl) | charset_columns(extraction) | extraction_columns(extraction)
    return columns | {"versions": versions, "layout_id": None, "is_whole": is_whole(columns)}


def is_whole(row: Mapping[str, Any]) -> bool:
    """Return whether a row has an extraction, and its page is neither cut off nor damaged."""
    return row["error_code"] is None and row["truncated"] is None and DAMAGES.isdisjoint(row["flags"])


def label_columns(labels: Labels) -> Row:
    """Return the columns that describe a page's labels."""
    return {
        "main": labels.main.tolist(),
        "probability": None if np.isnan(labels.probability).all() else labels.probability.tolist(),
        "confidence": None if math.isnan(labels.confidence) else float(labels.confidence),
        "page_kind": labels.page_kind,
    }


def outcome_columns(outcome: Labels | str) -> Row:
    """Return the columns of `labels` for one page: its labels, or the reason why it has none.

    >>> outcome_columns("no answer")["error_code"]
    'labeler_failed'
    """
    if isinstance(outcome, str):
        return {"error_code": ErrorCode.LABELER_FAILED.value, "error_detail": outcome}
    return label_columns(outcome) | {"passes": outcome.passes, "windows": outcome.windows}


def text_sha256(text: str) -> str:
    """Hash `text`, to find pages with the same text. Case and the amount of white space make no
    difference.

    >>> text_sha256("A  b\\n") == text_sha256("a b")
    True
    """
    return hashlib.sha256(" ".join(text.lower().split()).encode("utf-8", "surrogatepass")).hexdigest()


def storable(row: Row) -> Row:
    """Replace the lone surrogates in a row with U+FFFD, because UTF-8 cannot encode them."""
    return {key: _replace_surrogates(value) for key, value in row.items()}


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return storable(value)
    return _replace_in_text(value) if isinstance(value, str) else value


def _replace_in_text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


@lru_cache(maxsize=1 << 14)
def registered_domain(host: str) -> str | None:
    """Return a host's registered domain, as in the `url_host_registered_domain` column of Common
    Crawl's index.

    Only suffixes of domain registries count, not suffixes of companies. A blog at a blogging
    service therefore has the service's domain. Returns None for an IP address, for a public suffix
    itself, and for a host without a listed suffix. Raises MachineError if the list is not
    installed.

    >>> registered_domain("news.bbc.co.uk")
    'bbc.co.uk'
    """
    name = ascii_host(host).rstrip(".")
    if not name or not name.isascii() or name.rpartition(".")[2].isdigit() or ":" in name:
        return None
    return _load_suffixes().privatesuffix(name)


@cache
def _load_suffixes() -> "PublicSuffixList":
    """Load the list from its package once per process, because loading takes as long as thousands
    of look-ups."""
    with needed("the column registered_domain", "warc"):
        from publicsuffixlist import PublicSuffixList
    return PublicSuffixList(accept_unknown=False, only_icann=True)
