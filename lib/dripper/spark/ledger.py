"""The ledger `warc_files`: which files are planned, done or failed, and what was counted in each."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.spark.plan import Batch, LedgerEntry, Plan, PlannedFile
from dripper.spark.schemas import WARC_FILES
from dripper.spark.tables import Tables
from dripper.spark.words import quoted

TABLE = "warc_files"


class Ledger:
    """Reads and writes the ledger; every write is one commit of one batch."""

    def __init__(self, spark: SparkSession, tables: Tables, is_new: bool = False) -> None:
        self._spark = spark
        self._tables = tables
        self._is_new = is_new

    def entries(self) -> list[LedgerEntry]:
        """Return all entries; one small object a file (Common Crawl's 90,000 files are 20 MB on the driver)."""
        if self._is_new:
            return []
        rows = self._tables.read(TABLE).select("warc_file", "size_bytes", "batch", "state").collect()
        return [LedgerEntry(PlannedFile(r["warc_file"], r["size_bytes"]), r["batch"], r["state"]) for r in rows]

    def record(self, plan: Plan) -> None:
        """Write the plan down before any work, so that a killed run is resumed with the same batches.

        Files to be tried again leave their old batch first, with the rows they had got as far as.
        """
        if plan.retried:
            names = ", ".join(quoted(entry.file.warc_file) for entry in plan.retried)
            batches = ", ".join(str(number) for number in sorted({entry.batch for entry in plan.retried}))
            for table in ("extractions", TABLE):
                self._tables.delete(table, f"batch IN ({batches}) AND warc_file IN ({names})")
        if plan.fresh:
            self._tables.append(TABLE, self._frame(_planned(batch) for batch in plan.fresh))

    def finish(self, batch: Batch, reports: Sequence[dict[str, Any]], now: datetime) -> None:
        """Note what was counted in each file of `batch`."""
        sizes = {file.warc_file: file.size_bytes for file in batch.files}
        rows = [_finished(report, batch.number, sizes[report["warc_file"]], now) for report in reports]
        self._tables.replace_batch(TABLE, self._frame([rows]), batch.number)

    def counts(self) -> dict[str, int]:
        """Return, over the whole ledger: files by state, records, pages, skipped."""
        skipped = F.aggregate(F.map_values("skipped"), F.lit(0).cast("long"), lambda total, count: total + count)
        row = (
            self._tables.read(TABLE)
            .agg(
                *(F.count_if(F.col("state") == state).alias(state) for state in ("planned", "done", "failed")),
                *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in ("records", "pages", "failed_pages")),
                F.coalesce(F.sum(skipped), F.lit(0)).alias("skipped"),
            )
            .head()
        )
        assert row is not None
        return {name: int(count) for name, count in row.asDict().items()}

    def _frame(self, batches: Iterable[list[dict[str, Any]]]) -> Any:
        rows = [tuple(row.get(name) for name in WARC_FILES.names) for batch in batches for row in batch]
        return self._spark.createDataFrame(rows, WARC_FILES).coalesce(1)


def _planned(batch: Batch) -> list[dict[str, Any]]:
    return [
        {"warc_file": file.warc_file, "batch": batch.number, "state": "planned", "size_bytes": file.size_bytes}
        for file in batch.files
    ]


def _finished(report: dict[str, Any], batch: int, planned_size: int | None, now: datetime) -> dict[str, Any]:
    size = planned_size if report["size_bytes"] is None else report["size_bytes"]
    state = "failed" if report["error"] is not None else "done"
    return report | {"batch": batch, "state": state, "size_bytes": size, "finished_at": now}
