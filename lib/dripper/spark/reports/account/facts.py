"""The facts of a run, and figures computed from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

SHORT = 200
"""An extraction with fewer characters of Markdown counts as short."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of an archive file, from its ledger row."""

    warc_file: str
    state: str
    batch: int
    pages: int = 0
    failed_pages: int = 0
    bytes_read: int = 0
    n_problems: int = 0
    error: str | None = None
    error_kind: str | None = None
    finished_at: datetime | None = None
    """Time at which the file's batch was committed."""
    task_ms: int | None = None
    """Milliseconds that tasks spent on the file; None if an older release read it."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of a page that the account lists."""

    url: str
    warc_file: str
    warc_offset: int
    error_code: str | None = None
    error_detail: str | None = None
    payload_bytes: int | None = None
    ms: int | None = None
    """Milliseconds that the page took; None if unknown."""
    page_id: str = ""
    confidence: float | None = None
    page_kind: str | None = None
    markdown_chars: int | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run."""

    output: str
    run: Mapping[str, object]
    """The run's row in the `runs` table."""
    files: Sequence[FileFacts] = ()
    """The files that this run finished, except files that a later run has read again."""
    slowest_pages: Sequence[PageFacts] = ()
    """The slowest pages of the files, slowest first. Only the slowest page of each file is
    known."""
    failed_pages: Sequence[PageFacts] = ()
    """Examples of pages that became error rows."""
    methods: Mapping[str, int] = field(default_factory=dict)
    """Number of rows in the run's batches, keyed by method."""
    languages: Mapping[str, int] = field(default_factory=dict)
    """Number of rows in the run's batches, keyed by language."""
    core_dollars_per_hour: float = 0.0
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Number of rows in the run's batches, keyed by page kind."""
    confidences: Mapping[int | None, int] = field(default_factory=dict)
    """Number of rows in the run's batches, keyed by confidence. A key is the confidence times 20,
    rounded down, or None if the labeler gives no confidence."""
    short_pages: int = 0
    """Number of rows in the run's batches with fewer than SHORT characters, including
    `wordless_pages`."""
    wordless_pages: int = 0
    doubtful_pages: Sequence[PageFacts] = ()
    """The pages with the lowest confidence in the run's batches."""

    def count(self, name: str) -> int:
        """Return a count from the run's row; 0 if missing."""
        value = self.run.get(name)
        return int(value) if isinstance(value, int | float) else 0

    def counts(self, name: str) -> Mapping[str, int]:
        """Return the counts in a column of the run's row, keyed by name, largest first."""
        value = self.run.get(name)
        pairs = dict(value) if isinstance(value, Mapping) else {}
        return dict(sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0])))

    def moment(self, name: str) -> datetime | None:
        """Return a time from the run's row; None if missing."""
        value = self.run.get(name)
        return value if isinstance(value, datetime) else None

    @property
    def seconds(self) -> float | None:
        """Wall time of the run in seconds; None while it is active or if its end was not
        recorded."""
        start, end = self.moment("started_at"), self.moment("ended_at")
        return (end - start).total_seconds() if start and end else None

    @property
    def core_hours(self) -> float | None:
        """Core hours spent on the run's files; None if the time of any file is unknown."""
        times = [file.task_ms for file in self.files if file.task_ms is not None]
        return sum(times) / 3.6e6 if times and len(times) == len(self.files) else None

    def commits(self) -> list[tuple[datetime, int]]:
        """Return the time and the number of pages of each commit, in chronological order."""
        timed = sorted(
            ((file.finished_at, file.pages) for file in self.files if file.finished_at), key=lambda pair: pair[0]
        )
        return [
            (moment, sum(pages for _, pages in group)) for moment, group in groupby(timed, key=lambda pair: pair[0])
        ]
