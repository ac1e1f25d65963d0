"""The staged job: preprocess → label → extract.

The three stages exchange data only through the tables `pages`, `blocks` and `labels`. Stages of
different batches overlap, and each stage can run on its own cluster.

Each stage commits a batch as a whole and then records it in the ledger. If the job is killed, the
batch keeps its previous state, and the next run repeats the stage with the same rows.
"""

import json
import logging
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField

from dripper.labels.registry import split_into_stages
from dripper.spark.layouts.stage import BATCHES, Layouts
from dripper.spark.ledger.ledger import Report
from dripper.spark.ledger.plan import UNFINISHED
from dripper.spark.ledger.work import Work
from dripper.spark.run.batch_checks import (
    NO_ROWS,
    LostRowsError,
    check_between,
    check_pages,
    check_rows,
    match_reports_to_rows,
    rows_by_file,
)
from dripper.spark.run.job import Job
from dripper.spark.run.label_stage import LabelStage, read_purposes, with_labels
from dripper.spark.run.outcome import Totals
from dripper.spark.run.progress import Progress, describe_jobs
from dripper.spark.run.scheduler import IN_FLIGHT
from dripper.spark.session.engines import Engines
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.counts import count_lost_files
from dripper.spark.tables.row_keys import WrongRowsError
from dripper.spark.tables.schemas import BLOCKS, EXTRACTIONS, PAGES, nullable
from dripper.spark.tables.sql import within
from dripper.spark.wording import say_count
from dripper.spark.workers.extract import extractions_mapper
from dripper.spark.workers.parts import Tasks
from dripper.spark.workers.read import REPORT, files_mapper, preprocessing
from dripper.spark.workers.routing import to_be_labelled, with_escalated

logger = logging.getLogger(__name__)

STAGES = ("preprocess", "label", "extract")
"""Stage number i processes the batches in the state UNFINISHED[i]."""


class StagedJob(Job):
    """Runs batches through their stages."""

    def __init__(self, work: Work, engines: Engines) -> None:
        super().__init__(work)
        self._first, last = split_into_stages(work.settings.labeler)
        self._layouts = Layouts(work) if work.settings.layouts.enabled else None
        self._reports: dict[int, list[Report]] = {}
        # This lock keeps other stages from being planned while the `label` stage is being planned,
        # because the session then has another environment.
        self._planning = threading.Lock()
        of_last = work.settings.model_copy(update={"labeler": last})
        self._label_stage = LabelStage(work, engines, of_last, self._totals, self._planning)

    def run(self, batches: Sequence[Batch], progress: Progress, stages: Sequence[str] = STAGES) -> Totals:
        """Run each batch through the given `stages` that it has not completed yet.

        A batch that fails is added to `failed_batches` and keeps its state. The other batches
        continue.
        """

        def take(batch: Batch) -> None:
            parts = [batch]
            remaining = STAGES[UNFINISHED.index(batch.state) :]
            if "preprocess" in remaining:
                parts = self._preprocess_all(batch, progress) if "preprocess" in stages else []
            for part in parts:
                for stage, do in (("label", self._label), ("extract", self._extract)):
                    if stage in remaining and stage in stages and not self._breaker.is_open:
                        if not self._is_whole_before(stage, part):
                            break
                        self._do(stage, part, partial(do, part, progress))
                        progress.batch_done(part.number, stage)

        if self._layouts is not None:
            return self._run_by_layout(batches, progress, stages, self._layouts)
        # At least one batch per stage keeps both CPUs and GPUs busy.
        self._work_through(batches, max(IN_FLIGHT, len(stages)), take)
        return self._totals

    def _run_by_layout(
        self, batches: Sequence[Batch], progress: Progress, stages: Sequence[str], layouts: Layouts
    ) -> Totals:
        """Like `run`, but finish each stage for all batches before the next stage starts.

        Layouts are known only when all batches are preprocessed.
        """
        at: dict[str, list[Batch]] = {
            state: [batch for batch in batches if batch.state == state] for state in UNFINISHED
        }

        def preprocess(batch: Batch) -> None:
            at["preprocessed"] += self._preprocess_all(batch, progress)

        def extract(batch: Batch) -> None:
            if not self._is_whole_before("extract", batch):
                return
            self._do("extract", batch, partial(self._extract, batch, progress))
            progress.batch_done(batch.number, "extract")

        if "preprocess" in stages and not self._work_through(at["planned"], IN_FLIGHT, preprocess):
            return self._totals
        ready = sorted(at["preprocessed"], key=lambda batch: batch.number)
        if "label" in stages:
            ready = self._whole_before_label(ready)
        if "label" in stages and ready:
            if not self._ask(ready, progress, layouts):
                return self._totals
            done = [
                self._together("layouts", group, partial(self._label_by_layout, group, layouts, progress))
                for group in (ready[i : i + BATCHES] for i in range(0, len(ready), BATCHES))
            ]
            if not all(done):
                return self._totals
            at["labelled"] += ready
        if "extract" in stages:
            self._work_through(at["labelled"], IN_FLIGHT, extract)
        return self._totals

    def _whole_before_label(self, batches: Sequence[Batch]) -> list[Batch]:
        whole: list[Batch] = []

        def look(batch: Batch) -> None:
            if self._is_whole_before("label", batch):
                whole.append(batch)

        self._work_through(batches, 1, look)
        return whole

    def _ask(self, batches: Sequence[Batch], progress: Progress, layouts: Layouts) -> bool:
        """Label the chosen pages with the next labeler of the chain, and learn from its labels.

        Return whether all of this succeeded.
        """

        def choose() -> None:
            self._totals.layouts.update(layouts.choose(batches))

        def label(batch: Batch) -> None:
            if not layouts.is_labelled(batch):
                write = lambda: self._label_stage.label(batch, progress, layouts.read_chosen([batch.number]))  # noqa: E731
                self._do("label", batch, write)
                progress.batch_done(batch.number, "label")

        return (
            self._together("layouts", batches, choose)
            and self._work_through(batches, 1, label)
            and self._together("layouts", batches, lambda: layouts.learn(batches))
        )

    def _together(self, stage: str, batches: Sequence[Batch], do: Callable[[], None]) -> bool:
        """Do work that covers several batches at once, and return whether it succeeded."""
        return self._work_through(batches[:1], 1, lambda first: self._do_timed(stage, stage, first, do))

    def _label_by_layout(self, batches: Sequence[Batch], layouts: Layouts, progress: Progress) -> None:
        self._totals.layouts.update(layouts.label(batches))
        for batch in batches:
            self._note_labelled(batch)
            progress.batch_done(batch.number, "layouts")

    def _preprocess_all(self, batch: Batch, progress: Progress) -> list[Batch]:
        """Preprocess the batch, and return the resulting batches."""
        return self._read("preprocess", batch, lambda part, tasks: self._preprocess(part, tasks, progress))

    def _preprocess(self, batch: Batch, tasks: Tasks, progress: Progress) -> None:
        schema = nullable([*PAGES, BLOCKS["simplified_html"], BLOCKS["tokens"], StructField(REPORT, StringType())])
        mapper = files_mapper(
            tasks, batch.number, self._settings, arrow_schema(schema), progress.sink, preprocessing, self._work.rules
        )
        with self._planning:
            prepared = self._work.spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(mapper, schema)
        # A single pass over the archives gives two tables and the reports. The rows are kept on the
        # executors' disks. For 485 pages, this took 6.9 s of CPU time. With a third table instead
        # of the disks, it took 8.3 s. Writing only one of the tables took 5.6 s. If an executor is
        # lost, its rows are lost, too. The archives are then read again, perhaps with a different
        # outcome. Therefore, the tables are compared with the reports and with each other before
        # the ledger is updated.
        prepared = prepared.persist(StorageLevel.DISK_ONLY)
        self._work.lease.check()
        try:
            reports = [json.loads(row[0]) for row in prepared.where(F.col(REPORT).isNotNull()).select(REPORT).collect()]
            self._write_pages(batch, prepared.where(F.col("page_id").isNotNull()))
        finally:
            prepared.unpersist()
        rows_written = self._batch_of("pages", batch)
        file_reports = match_reports_to_rows(batch, reports, rows_written)
        n_blocks = check_rows(self._tables, "blocks", batch, rows_written.where(to_be_labelled()))
        self._work.lease.check()
        rows = self._work.ledger.finish([(batch, file_reports, datetime.now(UTC))], state="preprocessed")
        self._reports[batch.number] = file_reports
        self._count_read(file_reports)
        self._count_noted(rows)
        with self._totals.lock:
            self._totals.blocks += sum(report["pages"] - report["failed_pages"] for report in file_reports)
            if self._first is not None and self._layouts is None:
                self._totals.escalated = (self._totals.escalated or 0) + n_blocks
        progress.batch_done(batch.number, "preprocess")

    def _write_pages(self, batch: Batch, pages: DataFrame) -> None:
        """Write the tables `pages` and `blocks` of a batch."""
        if self._first is not None and self._layouts is None:
            pages = with_escalated(pages, self._settings.labeler)
        self._tables.delete_earlier(batch, ("blocks", "labels"))
        if self._layouts is not None:
            self._layouts.forget(batch)
        self._tables.replace_batch("pages", pages.select(*PAGES.names), batch)
        blocks = pages.where(F.col("simplified_html").isNotNull() & to_be_labelled())
        blocks = blocks.withColumn("item_ids", F.sequence(F.lit(1), F.col("n_blocks"))).select(*BLOCKS.names)
        self._tables.replace_where("blocks", blocks, f"batch = {batch.number}")

    def _is_whole_before(self, stage: str, batch: Batch) -> bool:
        """Return whether the batch has all rows of the stages before `stage`, according to the
        ledger.

        If rows are missing, put the batch back to the stage that must write them.
        """
        try:
            with describe_jobs(self._work.spark, self._work.lease.run_id, f"batch {batch.number}: before {stage}"):
                self._check_before(stage, batch)
        except LostRowsError as lost:
            self._send_back(batch, lost)
            return False
        except Exception:
            # If someone or a bucket's lifecycle rule deleted a data file, reading its rows fails in
            # this run and in every later one.
            forgotten = self._forget_lost_files(batch)
            if forgotten is None:
                raise
            self._send_back(batch, forgotten)
            return False
        return True

    def _send_back(self, batch: Batch, lost: LostRowsError) -> None:
        logger.warning("batch %d goes back to the stage %s: %s", batch.number, lost.stage, lost)
        self._work.lease.check()
        self._work.ledger.put_back(batch, UNFINISHED[STAGES.index(lost.stage)])
        with self._totals.lock:
            self._totals.put_back[batch.number] = lost.stage, str(lost)

    def _forget_lost_files(self, batch: Batch) -> LostRowsError | None:
        """Delete the batch's rows from the first table with missing data files.

        Return an error that names the stage that must write the rows again; None if no data file is
        missing.
        """
        for table, stage in (("pages", "preprocess"), ("blocks", "preprocess"), ("labels", "label")):
            if not self._tables.exists(table):
                continue
            if n_files := count_lost_files(self._tables.read(table), batch.number):
                self._work.lease.check()
                self._tables.delete(table, within([batch.number]))
                lost = say_count(n_files, "data file")
                return LostRowsError(stage, f"storage lacks {lost} of the table {table}, deleted beneath it")
        return None

    def _check_before(self, stage: str, batch: Batch) -> None:
        pages = self._batch_of("pages", batch)
        check_pages(self._files_of(batch), pages)
        expected = pages.where(to_be_labelled())
        if stage == "label":
            check_between("blocks", "preprocess", self._batch_of("blocks", batch), expected)
        elif not self._was_by_layout(batch):  # Pages without a layout have no labels.
            check_between("labels", "label", self._batch_of("labels", batch), expected)

    def _was_by_layout(self, batch: Batch) -> bool:
        """Return whether the pages of the batch got labels from their layouts, perhaps in a run
        with other settings."""
        if self._layouts is not None:
            return True
        run_ids = {str(report.get("run_id")) for report in self._files_of(batch)}
        return any(run.by_layout for run in read_purposes(self._work.tables, run_ids).values())

    def _label(self, batch: Batch, progress: Progress) -> None:
        self._label_stage.label(batch, progress)
        self._note_labelled(batch)

    def _note_labelled(self, batch: Batch) -> None:
        self._work.lease.check()
        self._work.ledger.finish([(batch, self._files_of(batch), datetime.now(UTC))], state="labelled")

    def _extract(self, batch: Batch, progress: Progress) -> None:
        pages, settings = with_labels(self._batch_of("pages", batch), self._batch_of("labels", batch), self._settings)
        schema = nullable(EXTRACTIONS.fields)
        mapper = extractions_mapper(settings, arrow_schema(schema), progress.sink)
        with self._planning:
            rows = pages.mapInArrow(mapper, schema)
        self._work.lease.check()
        self._tables.replace_batch("extractions", rows, batch)
        check_rows(self._tables, "extractions", batch, self._batch_of("pages", batch))
        counts = rows_by_file(self._batch_of("extractions", batch))
        for report in self._files_of(batch):
            n_rows = counts.get(report["warc_file"], NO_ROWS)["rows"]
            if n_rows != report["pages"]:
                raise WrongRowsError(
                    f"{report['warc_file']}: {report['pages']} pages were read but {n_rows} rows written"
                )
        reports = [report | counts.get(report["warc_file"], NO_ROWS) for report in self._files_of(batch)]
        self._work.lease.check()
        ledger_rows = self._work.ledger.finish([(batch, reports, datetime.now(UTC))])
        with self._totals.lock:
            self._totals.add_written(reports)
            self._totals.add_noted(ledger_rows)

    def _files_of(self, batch: Batch) -> list[Report]:
        """Return the reports of the batch's files, from this run or from the ledger."""
        if batch.number not in self._reports:
            self._reports[batch.number] = self._work.ledger.reports(batch)
        return self._reports[batch.number]

    def _batch_of(self, table: str, batch: Batch) -> DataFrame:
        return self._tables.read(table).where(F.col("batch") == batch.number)
