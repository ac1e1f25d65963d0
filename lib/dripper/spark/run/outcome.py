"""The result of a run: the work done, the work left, the bad inputs, and the exit code."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dripper.errors import LASTING, FileErrorKind
from dripper.spark.ledger.ledger import Report
from dripper.spark.ledger.plan import Plan, fault_of
from dripper.spark.run.scheduler import Worked
from dripper.spark.wording import list_names, say_count
from dripper.warc.read.record import ArchiveFault


@dataclass(slots=True)
class LabelTotals:
    """The totals of the `label` stage."""

    pages: int = 0
    """Pages that the stage labelled or failed to label."""
    failed: int = 0
    windowed: int = 0
    passes: int = 0
    tokens: int = 0
    """Tokens in the simplified HTML of the pages."""
    seconds: float = 0.0
    """Wall time of the stage, summed over batches, including the time to start engines."""
    engines: int = 0
    """Number of engines that worked in parallel."""
    warnings: tuple[str, ...] = ()
    """The labeler's warnings about its settings, each with advice."""


@dataclass(slots=True)
class Totals:
    """The totals of a run. Hold `lock` to change them."""

    files: int = 0
    """Files that the run read. `records`, `pages` and `skipped` are counts over these files."""
    records: int = 0
    pages: int = 0
    blocks: int = 0
    """Pages split into blocks, in staged runs."""
    escalated: int | None = None
    """Pages passed on to the `label` stage, in staged runs of a chain."""
    rows: int = 0
    """Rows of `extractions`, counted after they were written."""
    failed_pages: int = 0
    fallback_pages: int = 0
    """Rows that a fallback labelled."""
    methods: Counter[str] = field(default_factory=Counter)
    """Rows by method, such as the name of a labeler or fallback."""
    grades: Counter[str] = field(default_factory=Counter)
    """Rows by grade of confidence (`page.rows.GRADES`)."""
    errors: Counter[str] = field(default_factory=Counter)
    """Error rows by error code."""
    skipped: Counter[str] = field(default_factory=Counter)
    broken_files: int = 0
    faults: dict[str, ArchiveFault] = field(default_factory=dict)
    """Files that were read to their end but are not whole archives."""
    failed_files: dict[str, list[str]] = field(default_factory=dict)
    """Files that could not be read to their end, keyed by kind of error (`FileErrorKind`)."""
    set_aside: dict[str, str] = field(default_factory=dict)
    """Files that this run gave up on, each with the reason."""
    failed_batches: dict[int, str] = field(default_factory=dict)
    put_back: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Batches that must go through an earlier stage again, each with that stage and the reason."""
    batches_not_begun: list[int] = field(default_factory=list)
    stage_ms: Counter[str] = field(default_factory=Counter)
    """Milliseconds by stage, summed over batches."""
    label: LabelTotals = field(default_factory=LabelTotals)
    layouts: Counter[str] = field(default_factory=Counter)
    """Counts of a run about layouts: pages with blocks (`split`), pages given to the next labeler
    (`asked`), layouts with representatives (`layouts`), the remaining pages (`pages`), and how many
    of these got their labels from a template (`by_template`)."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add_read(self, reports: Iterable[Report]) -> None:
        """Add the reports of the files in a batch that was read."""
        for report in reports:
            self.files += 1
            self.records += report["records"]
            self.pages += report["pages"]
            self.broken_files += bool(report["n_problems"] or report["clipped"])
            if report["error"] is not None:
                kind = report.get("error_kind") or FileErrorKind.INTERNAL
                self.failed_files.setdefault(str(kind), []).append(report["warc_file"])
            self.skipped.update(report["skipped"])

    def add_written(self, reports: Iterable[Report]) -> None:
        """Add the counts in a batch's file reports about the rows written to `extractions`."""
        for report in reports:
            self.rows += report["rows"]
            self.failed_pages += report["failed_pages"]
            self.fallback_pages += report["fallback_pages"]
            self.errors.update(report["errors"])
            self.methods.update(report["methods"])
            self.grades.update(report["grades"])

    def add_failures(self, worked: Worked) -> None:
        """Add the batches that failed or were not begun."""
        self.failed_batches.update(worked.failed)
        self.batches_not_begun += sorted(worked.not_begun)

    def add_noted(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the files that are set aside and the files that are not whole archives, from ledger
        rows."""
        rows = list(rows)
        self.faults.update({row["warc_file"]: fault for row in rows if (fault := fault_of(row))})
        self.set_aside.update({row["warc_file"]: row["error"] for row in rows if row["state"] == "set_aside"})


def is_outage(reports: Iterable[Report]) -> bool:
    """Return whether no file of a batch could be read, and not all of them are simply missing.

    In that case, the network or the credentials are at fault.
    """
    kinds = [report.get("error_kind") if report["error"] is not None else None for report in reports]
    return bool(kinds) and None not in kinds and not LASTING.issuperset(kinds)


_AGAIN = "run the same command again: only what is missing is done"
"""Advice to append to a sentence about unfinished work."""

_CURES = {
    FileErrorKind.DENIED: "grant access or renew the credentials",
    FileErrorKind.EXPIRED: "renew the credentials",
    FileErrorKind.CHANGED: "they were replaced while they were read",
    FileErrorKind.UNREACHABLE: "the storage or the network did not answer",
}


_FAULTS = {
    ArchiveFault.NO_ARCHIVE: ("holds", "no WARC or ARC record"),
    ArchiveFault.CUT_SHORT: ("is", "cut short (the pages before the cut are rows)"),
    ArchiveFault.UNREADABLE: ("has", "records or archives that cannot be read (see the column problems of warc_files)"),
}

_ABSENT = {
    FileErrorKind.GONE: ("does", "not exist"),
    FileErrorKind.NO_FILE: ("is", "a folder, a FIFO, a device or a loop of links"),
}
"""Verb and predicate of the sentence about a path without a regular file, keyed by kind of
error."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run."""

    plan: Plan
    totals: Totals
    ledger: dict[str, int]
    """Counts of files by state, and of records, pages and skipped records, over all runs that wrote
    to this output."""
    complaints: tuple[str, ...] = ()
    """Reasons why work is unfinished, each with advice."""
    bad_inputs: tuple[str, ...] = ()
    """Bad inputs that another run would not fix, each with advice."""
    stages: tuple[str, ...] = ()
    """Stages that the run executed; empty for the fused job."""
    run_id: str = ""
    """The run's ID in the `runs` table."""

    @property
    def exit_code(self) -> int:
        """0: every record is accounted for. 3: work is unfinished. 4: all work is done, but some
        inputs are bad."""
        return 3 if self.complaints else 4 if self.bad_inputs else 0


def work_left(totals: Totals) -> list[str]:
    """Describe the unfinished work, in one sentence for each batch or problem.

    A sentence describes a failed batch, a batch that goes back to an earlier stage, the batches
    that were not begun, or a kind of read failure that another run may overcome.
    """
    words = [
        f"batch {number} failed ({error}); mend the cause, unless it was chance, then {_AGAIN}"
        for number, error in sorted(totals.failed_batches.items())
    ]
    words += [
        f"batch {number} goes back to the stage {stage}: {why}. Rows were deleted, or a table was: run that stage again over "
        "the same files, then those after it"
        for number, (stage, why) in sorted(totals.put_back.items())
    ]
    if totals.batches_not_begun:
        words.append(
            f"{say_count(len(totals.batches_not_begun), 'batch', 'was')} not begun, as too many before failed in a row: "
            f"mend the cause, then {_AGAIN}"
        )
    for kind, names in sorted(totals.failed_files.items()):
        open_files = [name for name in names if name not in totals.set_aside]
        if kind in LASTING or not open_files:
            continue
        cure = _CURES.get(FileErrorKind(kind), "see the column error of warc_files, mend the cause")
        words.append(
            f"{say_count(len(open_files), 'file')} could not be read to the end ({kind}: {cure}), "
            f"{list_names(open_files)}; {_AGAIN}"
        )
    return words


def bad_inputs(totals: Totals, plan: Plan) -> list[str]:
    """Describe the bad input files, in one sentence for each kind of fault.

    The faults are: not an archive, cut short, unreadable, missing, or set aside.
    """
    words = []
    faults = {**plan.faults, **totals.faults}
    for fault, (verb, what) in _FAULTS.items():
        if names := [name for name, its_fault in faults.items() if its_fault is fault]:
            words.append(
                f"{say_count(len(names), 'file', verb)} {what}, {list_names(names)}: fetch again, or say "
                "with --dismiss FILE,… that it is known"
            )
    for kind, (verb, what) in _ABSENT.items():
        if absent := [name for name in totals.failed_files.get(kind, []) if name not in totals.set_aside]:
            words.append(
                f"{say_count(len(absent), 'file', verb)} {what}, {list_names(absent)}; if that is known, say so "
                "with --dismiss FILE,…"
            )
    aside = [*totals.set_aside, *(name for name in plan.set_aside if name not in totals.set_aside)]
    if aside:
        words.append(
            f"{say_count(len(aside), 'file', 'is')} set aside, as reading failed too often, {list_names(aside)}: see the "
            "column error of warc_files; --redo FILE,… tries them again, --dismiss FILE,… says that it is known"
        )
    return words
