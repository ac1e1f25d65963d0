"""The fused job: batches of archive files → one `mapInArrow` pass each → `extractions` and the ledger `warc_files`."""

import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField

from dripper.config import Settings
from dripper.spark.ledger import Ledger
from dripper.spark.plan import Batch, split_into_tasks
from dripper.spark.progress import Progress
from dripper.spark.schemas import EXTRACTIONS, nullable
from dripper.spark.tables import Tables
from dripper.spark.totals import Report, Totals, work_through
from dripper.spark.worker import REPORT, files_mapper


class FusedJob:
    """Runs batches; each is committed as a whole to `extractions`, and then noted in the ledger.

    A kill between the two commits leaves the batch `planned`: the next run writes the same rows over it.
    """

    def __init__(self, spark: SparkSession, tables: Tables, ledger: Ledger, settings: Settings, slots: int) -> None:
        self._spark = spark
        self._tables = tables
        self._ledger = ledger
        self._settings = settings
        self._slots = slots

    def run(self, batches: Sequence[Batch], progress: Progress) -> Totals:
        """Work through `batches`, `settings.batch.in_flight` at a time. A batch that fails is noted in `failed_batches` and
        stays `planned`; the others go on."""
        totals, lock = Totals(), threading.Lock()

        def work(batch: Batch) -> None:
            reports, rows = self._run_batch(batch, progress)
            with lock:
                totals.read(reports)
                totals.written(reports, rows)

        totals.failed_batches = work_through(batches, self._settings.batch.in_flight, work)
        return totals

    def _run_batch(self, batch: Batch, progress: Progress) -> tuple[list[Report], int]:
        tasks = [[file.warc_file for file in task] for task in split_into_tasks(batch, self._slots)]
        with_report = nullable([*EXTRACTIONS.fields, StructField(REPORT, StringType())])
        mapper = files_mapper(tasks, batch.number, self._settings, to_arrow_schema(with_report), progress.sink)
        seen = Observation()
        rows = (
            self._spark.range(0, len(tasks), 1, len(tasks))
            .mapInArrow(mapper, with_report)
            # The reports leave with the same pass: a second action over the plan would read every archive again.
            .observe(seen, F.concat_ws("\n", F.collect_list(REPORT)).alias("reports"), F.count("page_id").alias("rows"))
            .where(F.col("page_id").isNotNull())
            .drop(REPORT)
        )
        self._tables.replace_batch("extractions", rows, batch.number)
        reports = [json.loads(line) for line in seen.get["reports"].splitlines()]
        self._ledger.finish(batch, reports, datetime.now(UTC))
        progress.batch_done(batch.number)
        return reports, int(seen.get["rows"])
