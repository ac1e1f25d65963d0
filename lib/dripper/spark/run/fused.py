"""The fused job: processes each batch in one `mapInArrow` pass from archive files to
`extractions`."""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField

from dripper.spark.ledger.work import Work
from dripper.spark.run.batch_checks import match_reports_to_count, match_reports_to_rows
from dripper.spark.run.job import Job
from dripper.spark.run.notes import Notes
from dripper.spark.run.outcome import Totals
from dripper.spark.run.output import BETWEEN
from dripper.spark.run.progress import Progress
from dripper.spark.run.scheduler import IN_FLIGHT
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.batches import Batch, replaced_rows
from dripper.spark.tables.observed import read_observed
from dripper.spark.tables.schemas import EXTRACTIONS, nullable
from dripper.spark.workers.parts import Tasks
from dripper.spark.workers.read import REPORT, files_mapper


class FusedJob(Job):
    """Commits each batch to `extractions` as a whole and then records it in the ledger.

    If the job is killed between these two commits, the batch stays `planned`, and the next run
    overwrites its rows with the same rows.
    """

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._notes = Notes(work.ledger, work.lease.check, self._count_noted)
        self._new: set[int] = set()
        """Numbers of batches that cannot have rows yet."""

    def run(self, batches: Sequence[Batch], progress: Progress, new: Iterable[int] = ()) -> Totals:
        """Process `batches`, IN_FLIGHT at a time.

        Args:
            new: Numbers of the batches that this run planned. No other run can have written their
                rows.
        """
        self._new = set(new)

        def take(batch: Batch) -> None:
            self._read("extract", batch, lambda part, tasks: self._extract(part, tasks, progress))

        try:
            self._work_through(batches, IN_FLIGHT, take)
        finally:
            self._totals.failed_batches |= self._notes.finish()
        return self._totals

    def _extract(self, batch: Batch, tasks: Tasks, progress: Progress) -> None:
        work = self._work
        with_report = nullable([*EXTRACTIONS.fields, StructField(REPORT, StringType())])
        mapper = files_mapper(
            tasks, batch.number, work.settings, arrow_schema(with_report), progress.sink, rules=work.rules
        )
        observation = Observation()
        rows = (
            work.spark.range(0, len(tasks), 1, len(tasks))
            .mapInArrow(mapper, with_report)
            # Get the reports from the same pass, because a second action would read every archive
            # again.
            .observe(observation, F.concat_ws("\n", F.collect_list(REPORT)).alias("reports"))
            .where(F.col("page_id").isNotNull())
            .drop(REPORT)
        )
        work.lease.check()
        n_rows = self._write(batch, rows)
        reports = [json.loads(line) for line in read_observed(observation, work.lease.confirm)["reports"].splitlines()]
        self._clear_stages(batch)
        file_reports = match_reports_to_count(batch, reports, n_rows)
        if file_reports is None:
            rows_written = work.tables.read("extractions").where(F.col("batch") == batch.number)
            file_reports = match_reports_to_rows(batch, reports, rows_written)
        self._notes.add(batch, file_reports)
        progress.batch_done(batch.number)
        self._count_read(file_reports)
        with self._totals.lock:
            self._totals.add_written(file_reports)

    def _write(self, batch: Batch, rows: DataFrame) -> int | None:
        """Write the rows of a batch, and return how many rows the commit added; None if unknown.

        The first attempt at a new batch appends its rows, because there are none to replace. Later
        attempts replace the batch, because a failed attempt may have committed nevertheless.
        """
        tables, is_first = self._tables, batch.number in self._new
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
        """Delete rows of the batch's files from the tables between the stages of staged runs.

        No stage will read these rows any more.
        """
        tables = self._tables
        if "pages" not in self._between:
            return
        tables.delete_earlier(batch, self._between & {"blocks", "labels"})
        for table in self._between - {"pages"}:
            tables.delete(table, f"batch = {batch.number}")
        tables.delete("pages", replaced_rows(batch).sql)

    @cached_property
    def _between(self) -> set[str]:
        """The tables between stages that exist in the output."""
        return {table for table in (*BETWEEN, "layouts") if self._tables.exists(table)}
