"""Defines records, file reports and spans. The reader returns one record per HTML page and one
report per archive file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dripper.addresses import loggable_text
from dripper.errors import ErrorCode, FileError, FileErrorKind, InputError


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file: its stored bytes from `start` up to `end` (None: the file's end).

    Its records begin at the first seam at or after `start`, and end at the first at or after `end`.

    Raises ValueError if end < start or start < 0.
    """

    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise ValueError(f"a span cannot go from {self.start} to {self.end}")


def cut(size_bytes: int, n_spans: int) -> list[Span]:
    """Return spans of about equal size that a file of `size_bytes` is made of; the last has no end.

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
"""Every value of `Record.flags`, in its order.

sniffed: the header does not say HTML, the first bytes do. no http header, no http status, no url,
bad date: the record lacks it. not chunked: the header says chunked, the body is not. bad chunking:
chunks are damaged or the last one is missing. not encoded: the header names a content coding that
the body is not in; usual in Common Crawl. undeclared gzip: the body was gzip, and no header said
so. broken encoding: only a part could be inflated. short body: fewer bytes than the HTTP
Content-Length. damaged member: the block is all there, but the checksum of its member is wrong or
its end missing. inflated offset: several records share a compressed member, so `offset` and
`length` count inflated bytes.
"""

DAMAGES = frozenset({"bad chunking", "broken encoding", "short body", "damaged member"})
"""Flags that say that the payload may lack something, or that some of it is wrong."""


@dataclass(frozen=True, slots=True)
class Record:
    """One HTTP response that is a page (HTML or XHTML).

    page_id: 32 hex digits, a hash of (`warc_file`, `offset`); the same on every retry and every
    machine. warc_file: the file's canonical address (`dripper.warc.open.identity`), however its
    path was typed. offset, length: the record's bytes in that file, as stored (compressed), the
    empty lines after an uncompressed record left out, as in CDX indexes.

    payload: the body after chunked and gzip/deflate/brotli/zstd decoding; characters are not
    decoded yet. payload_digest: "sha256:<hex>" of `payload`. payload_digest_sha1: the SHA-1 of the
    header `WARC-Payload-Digest`, in base 32; of the stored body, before decoding.

    record_id: `WARC-Record-ID` as stored, brackets included. content_type: the HTTP header as sent,
    or None. truncated: why the payload is not whole (the value of `WARC-Truncated`, or one of the
    reader's own: "clipped", "length mismatch"), or None.

    flags: oddities that did not prevent reading: values of `FLAGS`, in its order. error_code,
    error_detail: set if the body could not be read; the page still becomes a row.
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
"""Every key of `FileReport.skipped`: why a record is no page.

not a response: warcinfo, request, metadata, conversion, continuation. not http: dns, whois, ftp.
broken record: bytes in which no record can be read. unreadable: a zstd frame that needs a
dictionary that does not come before it in the file, or a whole archive inside a WACZ that is not
stored uncompressed there. over budget: the rest of a member that holds more records than its size
allows (`dripper.decode.budget`). not as indexed: an index says that a record of an address is
stored there, and it is not. read before: it is in two selections, and the first one wrote its row.
forgotten: a page that the output must not hold.
"""

FORGOTTEN = SKIP_REASONS[-1]

MAX_PROBLEMS = 20
"""Sentences that a report keeps; a file of noise would have one for every few bytes."""


class ArchiveFault(StrEnum):
    """The reasons why a file that was read to its end is not a whole archive. Damage inside it is
    no such fault, because reading goes on behind it: it is among the problems."""

    CUT_SHORT = "cut short"
    """The file ends inside a record or a compressed member. Everything before that was read."""
    UNREADABLE = "unreadable"
    """Records or archives inside it need a dictionary that the file does not have, or have to be
    unpacked first (the skipped `unreadable`). All else was read."""
    NO_ARCHIVE = "no archive"
    """No WARC or ARC record is in it."""


def find_archive_fault(records: int, skipped: Mapping[str, int], clipped: bool) -> ArchiveFault | None:
    """Return the fault of a file as a whole, by the counts of its report; None: no fault.

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
    """The report on one archive file. `records == pages + sum(skipped.values())`, always.

    version: the ETag or the modification time of the file that was read (`Source.version`).
    skipped: counts by reason, one of `SKIP_REASONS`. clipped: the file ends inside a record or a
    compressed member. problems: at most 20 sentences, each with its offset; `n_problems` counts
    all. error: set if the file could not be opened or read to its end (missing, access denied, a
    connection that breaks). A fault inside the file is a problem, not an error. error_kind: which
    of these it was, if `error` is set; says whether another try may help.
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
        """Count records that are no pages."""
        self.records += count
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def forget(self) -> None:
        """Count the page that was read last as one that must not be held."""
        self.pages -= 1
        self.skipped[FORGOTTEN] = self.skipped.get(FORGOTTEN, 0) + 1

    def add_problem(self, sentence: str) -> None:
        """Count a problem; keep its sentence if there are few."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sentence)


def merge_reports(reports: Sequence[FileReport]) -> FileReport:
    """Return the report of a file from the reports of the spans that it was read in, in order. The
    report has an error if the file changed between two spans. Raises ValueError if `reports` is
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
