"""The fused job: batches of archive files → one `mapInArrow` pass each → `extractions` and the
ledger `warc_files`."""

import json
import time
from collections.abc import Iterable, Sequence
from functools import cached_property

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField

from dripper.spark.ledger.work import Work
from dripper.spark.run.batch_checks import match_reports_to_count, match_reports_to_rows, write_until_whole
from dripper.spark.run.isolation import Isolation
from dripper.spark.run.notes import Notes
from dripper.spark.run.outcome import Report, Totals, is_outage
from dripper.spark.run.output import BETWEEN
from dripper.spark.run.progress import Progress, cancel, describe_jobs
from dripper.spark.run.scheduler import IN_FLIGHT, BatchLocks, Breaker, work_through
from dripper.spark.session import capacity
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.batches import Batch, of_selections_apart, replaced_rows
from dripper.spark.tables.observed import read_observed
from dripper.spark.tables.schemas import EXTRACTIONS, nullable
from dripper.spark.workers.parts import Tasks, split_into_tasks
from dripper.spark.workers.read import REPORT, files_mapper


class FusedJob:
    """Runs batches. Each batch is committed as a whole to `extractions` and then noted in the
    ledger.

    A kill between the two commits leaves the batch `planned`. The next run then overwrites its rows
    with the same rows.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._totals = Totals()
        self._breaker = Breaker()
        self._locks = BatchLocks()
        self._notes = Notes(work.ledger, work.lease.check, self._count_noted)
        self._new: set[int] = set()
        """Batches that cannot have any rows yet."""
        self._isolation = Isolation(work.ledger, lambda: self._breaker.is_open)

    def run(self, batches: Sequence[Batch], progress: Progress, new: Iterable[int] = ()) -> Totals:
        """Work through `batches`, IN_FLIGHT at a time. A batch that fails is noted in
        `failed_batches` and stays `planned`; the others go on.

        Args:
            new: The batches that this run planned; no other run can have written rows of them.
        """
        work, self._new = self._work, set(new)

        def take(batch: Batch) -> None:
            with describe_jobs(
                work.spark, work.lease.run_id, f"batch {batch.number}: extract {len(batch.files)} files"
            ):
                self._isolation.work_off(
                    batch,
                    lambda part: split_into_tasks(part, capacity.slots(work.spark)),
                    lambda part, tasks: write_until_whole(
                        lambda: self._attempt(part, tasks, progress),
                        part,
                        lambda: self._breaker.is_open,
                        work.lease.confirm,
                    ),
                    self._give_up,
                )

        stop = lambda: cancel(work.spark, work.lease.run_id)  # noqa: E731
        try:
            worked = work_through(batches, IN_FLIGHT, take, self._breaker, stop)
        except KeyboardInterrupt:
            self._notes.finish()
            raise
        worked.failed |= self._notes.finish()
        self._totals.add_failures(worked)
        return self._totals

    def _count_noted(self, rows: Sequence[Report]) -> None:
        with self._totals.lock:
            self._totals.add_noted(rows)

    def _attempt(self, batch: Batch, tasks: Tasks, progress: Progress) -> None:
        work, start = self._work, time.monotonic()
        with_report = nullable([*EXTRACTIONS.fields, StructField(REPORT, StringType())])
        mapper = files_mapper(
            tasks, batch.number, work.settings, arrow_schema(with_report), progress.sink, rules=work.rules
        )
        observation = Observation()
        rows = (
            work.spark.range(0, len(tasks), 1, len(tasks))
            .mapInArrow(mapper, with_report)
            # The reports come from the same pass, because a second action would read every archive
            # again.
            .observe(observation, F.concat_ws("\n", F.collect_list(REPORT)).alias("reports"))
            .where(F.col("page_id").isNotNull())
            .drop(REPORT)
        )
        work.lease.check()
        with self._locks.hold(batch):
            n_rows = self._write(batch, rows)
            reports = [
                json.loads(line) for line in read_observed(observation, work.lease.confirm)["reports"].splitlines()
            ]
            self._clear_stages(batch)
        file_reports = match_reports_to_count(batch, reports, n_rows)
        if file_reports is None:
            rows_written = work.tables.read("extractions").where(F.col("batch") == batch.number)
            file_reports = match_reports_to_rows(batch, reports, rows_written)
        self._notes.add(batch, file_reports)
        progress.batch_done(batch.number)
        self._breaker.failed() if is_outage(file_reports) else self._breaker.succeeded()
        with self._totals.lock:
            self._totals.add_read(file_reports)
            self._totals.add_written(file_reports)
            self._totals.stage_ms["extract"] += round((time.monotonic() - start) * 1000)

    def _write(self, batch: Batch, rows: DataFrame) -> int | None:
        """Write the rows of a batch and return the number of rows that the commit added; None if it
        is unknown.

        The first attempt at a new batch appends, which saves the search for rows to replace. A
        failed attempt may have committed nevertheless, so later attempts replace.
        """
        tables, is_first = self._work.tables, batch.number in self._new
        self._new.discard(batch.number)
        if not is_first or any(file.has_earlier_rows for file in batch.files):
            tables.replace_batch("extractions", rows, batch)
            return None
        log = tables.log("extractions")
        before = log.newest()
        sequence = tables.append("extractions", rows)
        commit = log.find(sequence, before.version) if sequence and before else None
        return commit.rows if commit else None

    def _clear_stages(self, batch: Batch) -> None:
        """Delete the rows of the batch's files that a staged run left between its stages, because
        no stage reads them any more."""
        tables = self._work.tables
        if "pages" not in self._between:
            return
        tables.delete_earlier(batch, self._between & {"blocks", "labels"})
        for table in self._between - {"pages"}:
            tables.delete(table, f"batch = {batch.number}")
        tables.delete("pages", replaced_rows(batch).sql)

    @cached_property
    def _between(self) -> set[str]:
        """The tables of staged runs that the output has."""
        tables = self._work.tables
        return {table for table in (*BETWEEN, "layouts") if tables.exists(table)}

    def _give_up(self, batch: Batch, why: str) -> None:
        """Delete the file's rows of an earlier read, because the ledger no longer counts them. Rows
        of selections stay."""
        if any(file.replaces is not None for file in batch.files):
            self._work.tables.delete("extractions", replaced_rows(of_selections_apart(batch)).sql)
        with self._totals.lock:
            self._totals.set_aside |= {file.warc_file: why for file in batch.files}
