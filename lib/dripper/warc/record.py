"""What the reader hands on: one record per HTML page, and one report per archive file."""

from dataclasses import dataclass, field
from datetime import datetime

from dripper.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class Record:
    """One HTTP response that is a page (HTML or XHTML).

    page_id: 32 hex digits, a hash of (`warc_file`, `offset`); the same on every retry and every machine.
    warc_file: the path or URL exactly as planned. offset, length: the record's bytes in that file, as stored (compressed).
    payload: the body after chunked and gzip/deflate/brotli/zstd decoding; characters are not decoded yet.
    payload_digest: "sha256:<hex>" of `payload`.
    content_type: the HTTP header as sent, or None.
    truncated: why the payload is not whole (the value of `WARC-Truncated`, or one of the reader's own: "clipped",
        "length mismatch"), or None.
    flags: what was odd but survivable, in a fixed order (for instance "sniffed", "bad chunking").
    error_code, error_detail: set where the body could not be had; the page still becomes a row.
    """

    page_id: str
    url: str
    warc_file: str
    offset: int
    length: int
    fetched_at: datetime | None
    http_status: int | None
    content_type: str | None
    payload: bytes
    payload_digest: str
    truncated: str | None = None
    flags: tuple[str, ...] = ()
    error_code: ErrorCode | None = None
    error_detail: str | None = None


@dataclass(slots=True)
class FileReport:
    """What became of one archive file. `records == pages + sum(skipped.values())`, always.

    skipped: counts by reason ("not a response", "revisit", "status", "not html", "empty", "broken record", …).
    clipped: the file ends inside a record or a compressed member.
    problems: at most 20 sentences, each with the offset where it happened; `n_problems` counts all.
    error: set where the file could not be opened or read to its end at all (missing, access denied, not an archive).
    """

    warc_file: str
    size_bytes: int | None = None
    bytes_read: int = 0
    records: int = 0
    pages: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    clipped: bool = False
    problems: list[str] = field(default_factory=list)
    n_problems: int = 0
    error: str | None = None
