"""The ledger `warc_files`: which files are planned, done or failed, and what was counted in each."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from dripper.spark.plan import UNFINISHED, Batch, LedgerEntry, Plan, PlannedFile, existing
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

    def batches(self, state: str) -> list[Batch]:
        """Return the batches that are at this state, one of UNFINISHED, in order."""
        entries = self.entries()
        numbers = {entry.batch for entry in entries if entry.state in UNFINISHED}
        return [batch for batch in existing(entries, numbers) if batch.state == state]

    def record(self, plan: Plan) -> None:
        """Write the plan down before any work, so that a killed run is resumed with the same batches.

        Files to be tried again leave their old batch first, with the rows they had got as far as; the ledger's own last, so
        that a kill in between is made good by the next run.
        """
        if plan.retried:
            names = ", ".join(quoted(entry.file.warc_file) for entry in plan.retried)
            batches = ", ".join(str(number) for number in sorted({entry.batch for entry in plan.retried}))
            condition = f"batch IN ({batches}) AND warc_file IN ({names})"
            if self._tables.version("pages") is not None:
                for table in ("blocks", "labels"):
                    self._tables.delete_matching(table, "pages", "page_id", condition)
                self._tables.delete("pages", condition)
            for table in ("extractions", TABLE):
                self._tables.delete(table, condition)
        if plan.fresh:
            self._tables.append(TABLE, self._frame(_planned(batch) for batch in plan.fresh))

    def finish(self, batch: Batch, reports: Sequence[dict[str, Any]], now: datetime, state: str | None = None) -> None:
        """Note what was counted in each file of `batch`. state: of all its files; None: of each, done or failed."""
        sizes = {file.warc_file: file.size_bytes for file in batch.files}
        rows = [_finished(report, batch.number, sizes[report["warc_file"]], now, state) for report in reports]
        self._tables.replace_batch(TABLE, self._frame([rows]), batch.number)

    def reports(self, batch: Batch) -> list[dict[str, Any]]:
        """Return what is noted of each file of `batch`."""
        rows = self._tables.read(TABLE).where(F.col("batch") == batch.number).orderBy("warc_file").collect()
        return [row.asDict() for row in rows]

    def counts(self) -> dict[str, int]:
        """Return, over the whole ledger: files by state, records, pages, skipped."""
        row = (
            self._tables.read(TABLE)
            .agg(
                *(F.count_if(F.col("state") == state).alias(state) for state in (*UNFINISHED, "done", "failed")),
                *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in ("records", "pages", "failed_pages")),
                F.coalesce(F.sum(n_skipped()), F.lit(0)).alias("skipped"),
            )
            .head()
        )
        assert row is not None
        return {name: int(count) for name, count in row.asDict().items()}

    def _frame(self, batches: Iterable[list[dict[str, Any]]]) -> Any:
        rows = [tuple(row.get(name) for name in WARC_FILES.names) for batch in batches for row in batch]
        return self._spark.createDataFrame(rows, WARC_FILES).coalesce(1)


def n_skipped() -> Column:
    """Return the sum of the column `skipped` over its reasons."""
    return F.aggregate(F.map_values("skipped"), F.lit(0).cast("long"), lambda total, count: total + count)


def _planned(batch: Batch) -> list[dict[str, Any]]:
    return [
        {"warc_file": file.warc_file, "batch": batch.number, "state": "planned", "size_bytes": file.size_bytes}
        for file in batch.files
    ]


def _finished(
    report: dict[str, Any], batch: int, planned_size: int | None, now: datetime, state: str | None
) -> dict[str, Any]:
    size = planned_size if report["size_bytes"] is None else report["size_bytes"]
    end = "failed" if report["error"] is not None else "done"
    return report | {"batch": batch, "state": state or end, "size_bytes": size, "finished_at": now}
