"""What a run did, added up over its batches."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dripper.errors import FileErrorKind
from dripper.spark.plan import fault_of
from dripper.spark.pool import Worked
from dripper.warc.record import ArchiveFault

Report = dict[str, Any]


@dataclass(slots=True)
class LabelTotals:
    """What the stage `label` did."""

    pages: int = 0
    """Pages labelled or failed."""
    failed: int = 0
    windowed: int = 0
    passes: int = 0
    tokens: int = 0
    """Of the pages' simplified HTML."""
    seconds: float = 0.0
    """Wall time of the stage, start of the engines included, summed over batches."""
    engines: int = 0
    """How many worked at once."""


@dataclass(slots=True)
class Totals:
    """What a run did. Batches add to it from several threads, one at a time (`lock`)."""

    files: int = 0
    """Files read by the run; `records`, `pages` and `skipped` are those in them."""
    records: int = 0
    pages: int = 0
    blocks: int = 0
    """Pages that were split into blocks, in staged runs."""
    escalated: int | None = None
    """In staged runs of a chain, those of them that went on to the stage `label`."""
    rows: int = 0
    """Rows of `extractions`, as counted after they were written."""
    failed_pages: int = 0
    fallback_pages: int = 0
    """Rows that a fallback decided."""
    methods: Counter[str] = field(default_factory=Counter)
    """Rows, by who decided."""
    errors: Counter[str] = field(default_factory=Counter)
    """Error rows, by error code."""
    skipped: Counter[str] = field(default_factory=Counter)
    broken_files: int = 0
    faults: dict[str, ArchiveFault] = field(default_factory=dict)
    """Files that were read to their end and are no whole archives."""
    failed_files: dict[str, list[str]] = field(default_factory=dict)
    """Files that could not be read to their end, by kind of error (`FileErrorKind`)."""
    set_aside: dict[str, str] = field(default_factory=dict)
    """Files that were given up in this run, and why."""
    failed_batches: dict[int, str] = field(default_factory=dict)
    put_back: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Batches of a staged run that an earlier stage has to do again: which, and why."""
    batches_not_begun: list[int] = field(default_factory=list)
    stage_ms: Counter[str] = field(default_factory=Counter)
    """Milliseconds of the batches' stages, summed."""
    label: LabelTotals = field(default_factory=LabelTotals)
    sites: Counter[str] = field(default_factory=Counter)
    """Of the stage of the sites: `pages` whose hosts have others, and those of them that were
    `changed`. In a chain: of all pages with blocks (`split`) those that the next labeler was
    `asked` for, the `layouts` that have representatives, pages labelled `by_template`."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def read(self, reports: Iterable[Report]) -> None:
        """Add the file reports of a batch that was read."""
        for report in reports:
            self.files += 1
            self.records += report["records"]
            self.pages += report["pages"]
            self.broken_files += bool(report["n_problems"] or report["clipped"])
            if report["error"] is not None:
                kind = report.get("error_kind") or FileErrorKind.INTERNAL
                self.failed_files.setdefault(str(kind), []).append(report["warc_file"])
            self.skipped.update(report["skipped"])

    def written(self, reports: Iterable[Report]) -> None:
        """Add what a batch became in `extractions`, by its file reports."""
        for report in reports:
            self.rows += report["rows"]
            self.failed_pages += report["failed_pages"]
            self.fallback_pages += report["fallback_pages"]
            self.errors.update(report["errors"])
            self.methods.update(report["methods"])

    def ended(self, worked: Worked) -> None:
        """Add what did not work."""
        self.failed_batches.update(worked.failed)
        self.batches_not_begun += sorted(worked.not_begun)

    def noted(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the files that, by these rows of the ledger, will not be tried again, and those that
        are no whole archives."""
        rows = list(rows)
        self.faults.update({row["warc_file"]: fault for row in rows if (fault := fault_of(row))})
        self.set_aside.update({row["warc_file"]: row["error"] for row in rows if row["state"] == "set_aside"})


def is_outage(reports: Iterable[Report]) -> bool:
    """Whether no file of a batch could be read, and not because they are gone: the network or the
    credentials are at fault."""
    kinds = [report.get("error_kind") if report["error"] is not None else None for report in reports]
    return bool(kinds) and None not in kinds and set(kinds) != {FileErrorKind.GONE}
