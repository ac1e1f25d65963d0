"""The base class of the fused and the staged job: processes batches, and keeps the run's totals."""

import time
from collections.abc import Callable, Sequence

from dripper.spark.ledger.ledger import Report
from dripper.spark.ledger.work import Work
from dripper.spark.run.batch_checks import write_until_whole
from dripper.spark.run.isolation import Isolation
from dripper.spark.run.outcome import Totals, is_outage
from dripper.spark.run.progress import cancel, describe_jobs
from dripper.spark.run.scheduler import BatchLocks, Breaker, work_through
from dripper.spark.session import capacity
from dripper.spark.tables.batches import Batch, of_selections_apart, replaced_rows
from dripper.spark.workers.parts import Tasks, split_into_tasks


class Job:
    """Processes batches.

    A batch that fails is added to `failed_batches` in the totals and keeps its state in the ledger.
    The other batches continue.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._tables = work.tables
        self._settings = work.settings
        self._totals = Totals()
        self._breaker = Breaker()
        self._locks = BatchLocks()
        self._isolation = Isolation(work.ledger, lambda: self._breaker.is_open)

    def _work_through(self, batches: Sequence[Batch], at_once: int, take: Callable[[Batch], None]) -> bool:
        """Call `take` on every batch, and return whether all batches succeeded."""
        stop = lambda: cancel(self._work.spark, self._work.lease.run_id)  # noqa: E731
        worked = work_through(batches, at_once, take, self._breaker, stop)
        self._totals.add_failures(worked)
        return not (worked.failed or worked.not_begun)

    def _read(self, stage: str, batch: Batch, write: Callable[[Batch, Tasks], None]) -> list[Batch]:
        """Call `write`, which reads and writes a batch, and return the resulting batches.

        The result is the batch itself, or its parts if one of its files crashes its worker.
        """
        parts: list[Batch] = []

        def attempt(part: Batch, tasks: Tasks) -> None:
            self._do(stage, part, lambda: write(part, tasks))
            parts.append(part)

        split = lambda part: split_into_tasks(part, capacity.slots(self._work.spark))  # noqa: E731
        self._isolation.work_off(batch, split, attempt, self._give_up)
        return parts

    def _do(self, stage: str, batch: Batch, do: Callable[[], None]) -> None:
        with self._locks.hold(batch):
            self._do_timed(stage, f"batch {batch.number}: {stage}", batch, do)

    def _do_timed(self, stage: str, what: str, batch: Batch, do: Callable[[], None]) -> None:
        """Call `do` until the rows match the pages that were read. Add the time to the totals.

        Args:
            what: Description of the work in Spark's UI.
        """
        start = time.monotonic()
        with describe_jobs(self._work.spark, self._work.lease.run_id, what):
            write_until_whole(do, batch, lambda: self._breaker.is_open, self._work.lease.confirm)
        with self._totals.lock:
            self._totals.stage_ms[stage] += round((time.monotonic() - start) * 1000)

    def _count_read(self, reports: Sequence[Report]) -> None:
        self._breaker.failed() if is_outage(reports) else self._breaker.succeeded()
        with self._totals.lock:
            self._totals.add_read(reports)

    def _count_noted(self, rows: Sequence[Report]) -> None:
        with self._totals.lock:
            self._totals.add_noted(rows)

    def _give_up(self, batch: Batch, why: str) -> None:
        """Delete the rows that an earlier run wrote for these files, except the rows of selections.

        The ledger no longer counts these rows.
        """
        given_up = of_selections_apart(batch)
        if any(file.has_earlier_rows for file in given_up.files):
            is_staged = self._tables.exists("pages")
            if is_staged:
                self._tables.delete_earlier(given_up, ("blocks", "labels"))
            for table in ("pages", "extractions") if is_staged else ("extractions",):
                self._tables.delete(table, replaced_rows(given_up).sql)
        with self._totals.lock:
            self._totals.set_aside |= {file.warc_file: why for file in batch.files}
