"""What a run did, added up over its batches, and the pool that works through them."""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dripper.spark.plan import Batch
from dripper.spark.words import reason

logger = logging.getLogger(__name__)

Report = dict[str, Any]


@dataclass(slots=True)
class LabelTotals:
    """What the stage `label` did. pages: labelled or failed. tokens: of the pages' simplified HTML. seconds: wall time of the
    stage, start of the engines included, summed over batches. engines: how many worked at once."""

    pages: int = 0
    failed: int = 0
    windowed: int = 0
    passes: int = 0
    tokens: int = 0
    seconds: float = 0.0
    engines: int = 0


@dataclass(slots=True)
class Totals:
    """What a run did. files, records, skipped: read by it. pages: split or extracted. blocks: rows of `blocks`, in staged runs.
    rows: of `extractions`, as counted while or after they were written. fallback_pages: rows that a fallback decided."""

    files: int = 0
    records: int = 0
    pages: int = 0
    blocks: int = 0
    rows: int = 0
    failed_pages: int = 0
    fallback_pages: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    broken_files: int = 0
    failed_files: int = 0
    failed_batches: dict[int, str] = field(default_factory=dict)
    label: LabelTotals = field(default_factory=LabelTotals)

    def read(self, reports: Iterable[Report]) -> None:
        """Add the file reports of a batch that was read."""
        for report in reports:
            self.files += 1
            self.records += report["records"]
            self.pages += report["pages"]
            self.broken_files += bool(report["n_problems"] or report["clipped"])
            self.failed_files += report["error"] is not None
            for name, count in report["skipped"].items():
                self.skipped[name] = self.skipped.get(name, 0) + count

    def written(self, reports: Iterable[Report], rows: int) -> None:
        """Add the rows of `extractions` that a batch became, and the reports of its files."""
        self.rows += rows
        for report in reports:
            self.failed_pages += report["failed_pages"]
            self.fallback_pages += report["fallback_pages"]


def work_through(batches: Sequence[Batch], at_once: int, work: Callable[[Batch], None]) -> dict[int, str]:
    """Call `work` on every batch, `at_once` at a time; return why which failed. The others go on."""
    failed = {}
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        futures = {batch.number: pool.submit(work, batch) for batch in batches}
        for number, future in futures.items():
            try:
                future.result()
            except Exception as error:
                logger.exception("batch %d failed", number)
                failed[number] = reason(error)
    return failed
