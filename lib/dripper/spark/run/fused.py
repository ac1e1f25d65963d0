"""The fused job: batches of archive files → one `mapInArrow` pass each → `extractions` and the
ledger `warc_files`."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property

from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField

from dripper.spark.ledger.plan import Batch, of_selections_apart
from dripper.spark.run.closing import until_closed, whole_reports
from dripper.spark.run.isolation import Isolation
from dripper.spark.run.outcome import Totals, is_outage
from dripper.spark.run.output import BETWEEN, OF_SITES, Work
from dripper.spark.run.parts import Tasks, split_into_tasks
from dripper.spark.run.progress import Progress, cancel, described
from dripper.spark.run.scheduler import Breaker, Turns, work_through
from dripper.spark.session import capacity
from dripper.spark.tables.schemas import EXTRACTIONS, nullable
from dripper.spark.tables.store import replaced_rows, touched_batches, within
from dripper.spark.workers.read import REPORT, files_mapper


class FusedJob:
    """Runs batches; each is committed as a whole to `extractions`, and then noted in the ledger.

    A kill between the two commits leaves the batch `planned`: the next run writes the same rows
    over it.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._totals = Totals()
        self._breaker = Breaker(work.settings.batch.max_failures)
        attempts = work.settings.batch.file_attempts
        self._turns = Turns()
        self._isolation = Isolation(work.ledger, attempts, lambda: self._breaker.is_open)

    def run(self, batches: Sequence[Batch], progress: Progress) -> Totals:
        """Work through `batches`, `settings.batch.in_flight` at a time. A batch that fails is noted
        in `failed_batches` and stays `planned`; the others go on."""
        work = self._work

        def take(batch: Batch) -> None:
            with described(work.spark, work.lease.run_id, f"batch {batch.number}: extract {len(batch.files)} files"):
                self._isolation.work_off(
                    batch,
                    lambda part: split_into_tasks(part, capacity.slots(work.spark), work.settings.batch.split_bytes),
                    lambda part, tasks: until_closed(
                        lambda: self._attempt(part, tasks, progress),
                        part,
                        lambda: self._breaker.is_open,
                        work.lease.confirm,
                    ),
                    self._give_up,
                )

        in_flight = work.settings.batch.in_flight
        stop = lambda: cancel(work.spark, work.lease.run_id)  # noqa: E731
        self._totals.ended(work_through(batches, in_flight, take, self._breaker, stop))
        return self._totals

    def _attempt(self, batch: Batch, tasks: Tasks, progress: Progress) -> None:
        work, start = self._work, time.monotonic()
        with_report = nullable([*EXTRACTIONS.fields, StructField(REPORT, StringType())])
        mapper = files_mapper(
            tasks, batch.number, work.settings, to_arrow_schema(with_report), progress.sink, rules=work.rules
        )
        seen = Observation()
        rows = (
            work.spark.range(0, len(tasks), 1, len(tasks))
            .mapInArrow(mapper, with_report)
            # The reports leave with the same pass: a second action over the plan would read every
            # archive again.
            .observe(seen, F.concat_ws("\n", F.collect_list(REPORT)).alias("reports"))
            .where(F.col("page_id").isNotNull())
            .drop(REPORT)
        )
        work.lease.check()
        with self._turns.taking(batch):
            work.tables.replace_batch("extractions", rows, batch)
            told = [json.loads(line) for line in work.lease.observed(seen)["reports"].splitlines()]
            self._clear_stages(batch)
        written = work.tables.read("extractions").where(F.col("batch") == batch.number)
        reports = whole_reports(batch, told, written)
        work.lease.check()
        noted = work.ledger.finish(batch, reports, datetime.now(UTC))
        progress.batch_done(batch.number)
        self._breaker.failed() if is_outage(reports) else self._breaker.succeeded()
        with self._totals.lock:
            self._totals.read(reports)
            self._totals.written(reports)
            self._totals.noted(noted)
            self._totals.stage_ms["extract"] += round((time.monotonic() - start) * 1000)

    def _clear_stages(self, batch: Batch) -> None:
        """Delete what a staged run left of the batch's files between its stages: nobody takes it
        from there any more."""
        tables = self._work.tables
        if "pages" not in self._between:
            return
        if any(file.has_earlier_rows for file in batch.files):
            touched = f"t.{within(touched_batches(batch))}"
            for table in self._between & {"blocks", "labels"}:
                tables.delete_matching(table, "pages", "page_id", replaced_rows(batch), touched)
        for table in self._between - {"pages"}:
            tables.delete(table, f"batch = {batch.number}")
        tables.delete("pages", replaced_rows(batch))

    @cached_property
    def _between(self) -> set[str]:
        """Those tables of staged runs that the output has."""
        tables = self._work.tables
        return {table for table in (*BETWEEN, *OF_SITES) if tables.version(table) is not None}

    def _give_up(self, batch: Batch, why: str) -> None:
        """The file's rows of an earlier reading go: the ledger counts none for it any more. Those
        of selections stay."""
        if any(file.replaces is not None for file in batch.files):
            self._work.tables.delete("extractions", replaced_rows(of_selections_apart(batch)))
        with self._totals.lock:
            self._totals.set_aside |= {file.warc_file: why for file in batch.files}
