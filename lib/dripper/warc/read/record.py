"""Defines the results of reading archives, which are a record per page and a report per file. Also
defines spans, the parts of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dripper.addresses import loggable_text
from dripper.errors import ErrorCode, FileError, FileErrorKind, InputError


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file: the stored bytes from `start` up to `end` (None: the end of the file).

    The records of a span begin at the first seam at or after `start`, and end at the first seam at
    or after `end` (see `dripper.warc.read.spans`).

    Raises ValueError if end < start or start < 0.
    """

    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise ValueError(f"a span cannot go from {self.start} to {self.end}")


def cut(size_bytes: int, n_spans: int) -> list[Span]:
    """Divide a file into spans of about equal size. The last span is open-ended.

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
"""The values of `Record.flags`, in the same order.

sniffed: The header does not declare HTML, but the first bytes look like HTML.

no http header, no http status, no url: The record lacks this part.

bad date: The date is missing or invalid.

not chunked: The header declares a chunked body, but the body is not chunked.

bad chunking: A chunk is damaged, or the last chunk is missing.

not encoded: The header declares a content coding, but the body is not encoded. This is common in
Common Crawl.

undeclared gzip: The body was compressed with gzip, but the header does not declare this.

broken encoding: Only part of the body could be decompressed.

short body: The body is shorter than the HTTP Content-Length.

damaged member: The block is complete, but its member has a wrong checksum or is incomplete.

inflated offset: Several records share a compressed member, so `offset` and `length` count inflated
bytes.
"""

DAMAGES = frozenset({"bad chunking", "broken encoding", "short body", "damaged member"})
"""Flags that mark a payload as possibly incomplete or partly wrong."""


@dataclass(frozen=True, slots=True)
class Record:
    """One HTTP response that is a page (HTML or XHTML).

    page_id: 32 hex digits, a hash of (`warc_file`, `offset`). The id is the same on every retry and
    machine.

    warc_file: The canonical address of the file (`dripper.warc.open.identity`), however its path
    was written.

    offset, length: The stored (compressed) byte range of the record in the file. As in CDX indexes,
    `length` excludes the empty lines after an uncompressed record.

    payload: The body after chunked and gzip/deflate/brotli/zstd decoding, before character
    decoding.

    payload_digest: "sha256:<hex>" of `payload`.

    payload_digest_sha1: The SHA-1 from `WARC-Payload-Digest`, in base 32. This digest refers to the
    stored body, before decoding.

    record_id: `WARC-Record-ID` as stored, including the brackets.

    content_type: The HTTP header as sent, or None.

    truncated: The reason why the payload is incomplete, or None. This is the value of
    `WARC-Truncated`, or a reason that the reader found, such as "clipped" or "length mismatch".

    flags: Oddities that did not prevent reading, in the order of `FLAGS`.

    error_code, error_detail: Set if the body could not be read. The page still becomes a row.
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
"""The keys of `FileReport.skipped`: reasons why a record is not a page.

not a response: A warcinfo, request, metadata, conversion or continuation record.

not http: A record of a dns, whois or ftp URL.

broken record: Bytes that contain no readable record.

unreadable: A zstd frame that needs a dictionary, but the dictionary does not precede it in the
file. Also an unreadable archive inside a WACZ, for example if the ZIP compresses it.

over budget: The rest of a member with more records than its size allows (`dripper.decode.budget`).

not as indexed: The record that an index names is not at the offset in the index.

read before: A selected record that already has a row, because an earlier selection included it.

forgotten: A page that the user wants deleted from the output.
"""

FORGOTTEN = SKIP_REASONS[-1]

MAX_PROBLEMS = 20
"""The maximum number of problems that a report describes. In random bytes, there would be a problem
every few bytes."""


class ArchiveFault(StrEnum):
    """The reasons why a file that was read to its end is not a complete archive. Damage inside the
    file is not an `ArchiveFault` but a problem, because reading continues after it."""

    CUT_SHORT = "cut short"
    """The file ends inside a record or a compressed member. Everything before that was read."""
    UNREADABLE = "unreadable"
    """Records or archives were skipped as `unreadable`, because they need a dictionary that the
    file lacks, or must be unpacked first. All others were read."""
    NO_ARCHIVE = "no archive"
    """The file contains no WARC or ARC record."""


def find_archive_fault(records: int, skipped: Mapping[str, int], clipped: bool) -> ArchiveFault | None:
    """Derive the fault of a file, if any, from the counts in its report.

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

    version: The ETag or modification time of the file that was read (`Source.version`).

    skipped: Number of skipped records, keyed by reason (`SKIP_REASONS`).

    clipped: Whether the file ends inside a record or a compressed member.

    problems: At most 20 descriptions of faults inside the file, each with its offset. `n_problems`
    counts all of them.

    error: Set if the file could not be opened or read to its end (missing, access denied, broken
    connection).

    error_kind: The kind of `error`, which shows whether another attempt may succeed.
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
        """Record the reason why the file was not read to its end."""
        sentence = loggable_text(str(error))
        match error:
            case FileError():
                self.error_kind, self.error = error.kind, sentence
            case InputError() | OSError():
                self.error_kind, self.error = FileErrorKind.UNREADABLE, sentence
            case _:
                self.error_kind, self.error = FileErrorKind.INTERNAL, f"internal: {type(error).__name__}: {sentence}"

    def skip(self, reason: str, count: int = 1) -> None:
        """Count records that are not pages for this reason."""
        self.records += count
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def forget(self) -> None:
        """Count the most recent page as forgotten instead, because the output must not contain
        it."""
        self.pages -= 1
        self.skipped[FORGOTTEN] = self.skipped.get(FORGOTTEN, 0) + 1

    def add_problem(self, sentence: str) -> None:
        """Count a problem. Only the first MAX_PROBLEMS problems are described."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sentence)


def merge_reports(reports: Sequence[FileReport]) -> FileReport:
    """Merge the reports of a file's consecutive spans into a report of the whole file. If the file
    changed between two spans, the merged report has an error. Raises ValueError if `reports` is
    empty."""
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
