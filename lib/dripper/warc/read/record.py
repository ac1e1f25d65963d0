"""Defines records, file reports and spans. The reader returns a record per HTML page and a report
per archive file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dripper.addresses import loggable_text
from dripper.errors import ErrorCode, FileError, FileErrorKind, InputError


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file: the stored bytes from `start` up to `end` (None: the file's end).

    Its records begin at the first seam at or after `start`, and end at the first seam at or after
    `end`.

    Raises ValueError if end < start or start < 0.
    """

    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise ValueError(f"a span cannot go from {self.start} to {self.end}")


def cut(size_bytes: int, n_spans: int) -> list[Span]:
    """Cut a file of `size_bytes` into spans of about equal size. The last span has no end.

    >>> cut(10, 3)
    [Span(start=0, end=3), Span(start=3, end=6), Span(start=6, end=None)]
    """
    count = max(1, min(n_spans, size_bytes))
    starts = [size_bytes * i // count for i in range(count)]
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


FLAGS = (
    "sniffed",
    "no http header",
    "no http status",
    "no url",
    "bad date",
    "not chunked",
    "bad chunking",
    "not encoded",
    "undeclared gzip",
    "broken encoding",
    "short body",
    "damaged member",
    "inflated offset",
)
"""Every value of `Record.flags`, in the same order.

sniffed: The header does not declare HTML, but the first bytes look like HTML. no http header, no
http status, no url: The record lacks it. bad date: The date is missing or invalid. not chunked: The
header declares a chunked body, but it is not chunked. bad chunking: A chunk is damaged, or the last
one is missing. not encoded: The body does not have the content coding that the header declares;
common in Common Crawl. undeclared gzip: The body was gzip, but no header declared it. broken
encoding: Only a part of the body could be decompressed. short body: The body has fewer bytes than
the HTTP Content-Length. damaged member: The block is complete, but the checksum of its member is
wrong or the member's end is missing. inflated offset: Several records share a compressed member, so
`offset` and `length` count inflated bytes.
"""

DAMAGES = frozenset({"bad chunking", "broken encoding", "short body", "damaged member"})
"""Flags for a payload that may be incomplete or partly wrong."""


@dataclass(frozen=True, slots=True)
class Record:
    """One HTTP response that is a page (HTML or XHTML).

    page_id: 32 hex digits, a hash of (`warc_file`, `offset`); the same on every retry and every
    machine. warc_file: The file's canonical address (`dripper.warc.open.identity`), however its
    path was typed. offset, length: The record's byte range in that file, as stored (compressed). As
    in CDX indexes, `length` does not include the empty lines after an uncompressed record.

    payload: The body after chunked and gzip/deflate/brotli/zstd decoding, but before character
    decoding. payload_digest: "sha256:<hex>" of `payload`. payload_digest_sha1: The SHA-1 in the
    header `WARC-Payload-Digest`, in base 32. It was computed on the stored body, before decoding.

    record_id: `WARC-Record-ID` as stored, including brackets. content_type: The HTTP header as
    sent, or None. truncated: The reason why the payload is incomplete (the value of
    `WARC-Truncated`, or one of the reader's own reasons, such as "clipped" or "length mismatch"),
    or None.

    flags: Oddities that did not prevent reading: values in `FLAGS`, in the same order. error_code,
    error_detail: Set if the body could not be read; the page still becomes a row.
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
    record_id: str | None = None
    payload_digest_sha1: str | None = None


SKIP_REASONS = (
    "not a response",
    "revisit",
    "not http",
    "status",
    "not html",
    "empty",
    "broken record",
    "unreadable",
    "over budget",
    "not as indexed",
    "read before",
    "forgotten",
)
"""Every key of `FileReport.skipped`: the reasons why a record is not a page.

not a response: warcinfo, request, metadata, conversion, continuation. not http: dns, whois, ftp.
broken record: Bytes in which no record can be read. unreadable: A zstd frame that needs a
dictionary that does not come before it in the file, or a whole archive inside a WACZ that the ZIP
compresses. over budget: The rest of a member that contains more records than its size allows
(`dripper.decode.budget`). not as indexed: The record that an index names is not stored at the
index's offset. read before: A record in two selections, for which the first selection wrote a row.
forgotten: A page that the output must not contain.
"""

FORGOTTEN = SKIP_REASONS[-1]

MAX_PROBLEMS = 20
"""The maximum number of sentences that a report keeps; random bytes would give one for every few
bytes."""


class ArchiveFault(StrEnum):
    """The reasons why a file that was read to its end is not a complete archive. Damage inside the
    file is not such a fault but a problem, because reading continues after it."""

    CUT_SHORT = "cut short"
    """The file ends inside a record or a compressed member. Everything before that was read."""
    UNREADABLE = "unreadable"
    """Records or archives inside it need a dictionary that the file does not have, or have to be
    unpacked first (counted as skipped, `unreadable`). All others were read."""
    NO_ARCHIVE = "no archive"
    """The file contains no WARC or ARC record."""


def find_archive_fault(records: int, skipped: Mapping[str, int], clipped: bool) -> ArchiveFault | None:
    """Return the fault of a whole file, derived from the counts in its report, or None.

    >>> find_archive_fault(1, {"broken record": 1}, False)
    <ArchiveFault.NO_ARCHIVE: 'no archive'>
    """
    if records == skipped.get("broken record", 0):
        return ArchiveFault.NO_ARCHIVE
    if skipped.get("unreadable"):
        return ArchiveFault.UNREADABLE
    return ArchiveFault.CUT_SHORT if clipped else None


@dataclass(slots=True)
class FileReport:
    """The report on one archive file. `records == pages + sum(skipped.values())` always holds.

    version: The ETag or modification time of the file that was read (`Source.version`). skipped:
    Counts by reason (`SKIP_REASONS`). clipped: Whether the file ends inside a record or a
    compressed member. problems: At most 20 sentences, each with its offset; `n_problems` counts all
    problems. error: Set if the file could not be opened or read to its end (missing, access denied,
    broken connection). A fault inside the file is a problem, not an error. error_kind: The kind of
    `error`, which shows whether another attempt may help.
    """

    warc_file: str
    size_bytes: int | None = None
    version: str | None = None
    bytes_read: int = 0
    records: int = 0
    pages: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    clipped: bool = False
    problems: list[str] = field(default_factory=list)
    n_problems: int = 0
    error: str | None = None
    error_kind: FileErrorKind | None = None

    def fail(self, error: Exception) -> None:
        """Note why the file was not read to its end."""
        sentence = loggable_text(str(error))
        match error:
            case FileError():
                self.error_kind, self.error = error.kind, sentence
            case InputError() | OSError():
                self.error_kind, self.error = FileErrorKind.UNREADABLE, sentence
            case _:
                self.error_kind, self.error = FileErrorKind.INTERNAL, f"internal: {type(error).__name__}: {sentence}"

    def skip(self, reason: str, count: int = 1) -> None:
        """Count records that are not pages."""
        self.records += count
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def forget(self) -> None:
        """Count the most recently read page as forgotten: the output must not contain it."""
        self.pages -= 1
        self.skipped[FORGOTTEN] = self.skipped.get(FORGOTTEN, 0) + 1

    def add_problem(self, sentence: str) -> None:
        """Count a problem, and keep its sentence if there are fewer than MAX_PROBLEMS."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sentence)


def merge_reports(reports: Sequence[FileReport]) -> FileReport:
    """Merge the reports of a file's spans, in order, into the report of the file. It has an error
    if the file changed between two spans. Raises ValueError if `reports` is empty."""
    if not reports:
        raise ValueError("a file is made of one span at least")
    whole = FileReport(reports[0].warc_file)
    for report in reports:
        whole.size_bytes = report.size_bytes if whole.size_bytes is None else whole.size_bytes
        whole.version = whole.version or report.version
        whole.bytes_read += report.bytes_read
        whole.records += report.records
        whole.pages += report.pages
        for reason, count in report.skipped.items():
            whole.skipped[reason] = whole.skipped.get(reason, 0) + count
        whole.clipped |= report.clipped
        whole.problems += report.problems[: MAX_PROBLEMS - len(whole.problems)]
        whole.n_problems += report.n_problems
        if whole.error is None:
            whole.error, whole.error_kind = report.error, report.error_kind
    if whole.error is None and len({report.version for report in reports} - {None}) > 1:
        whole.fail(FileError(FileErrorKind.CHANGED, f"{whole.warc_file} was changed while it was read; run again"))
    return whole
