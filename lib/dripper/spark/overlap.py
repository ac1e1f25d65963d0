"""Records that are in two selections are read once: what other readings of a file left in the
tables is taken off the plan."""

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.spark.plan import Batch, Key, LedgerEntry, Plan, PlannedFile, batches_of
from dripper.spark.tables import Tables


def without_known(spark: SparkSession, tables: Tables, plan: Plan, entries: Iterable[LedgerEntry]) -> Plan:
    """Return the plan without the places of selections whose records have a row by another reading
    of their file.

    entries: of the ledger, before the plan is noted. Nobody else writes while the run holds the
    lease, and no two batches of a plan have a file in common, so what is true of the plan stays
    true until its last batch is read.
    """
    keys = {file.key for batch in (*plan.resumed, *plan.fresh) for file in batch.files if file.selection is not None}
    names = {name for name, _ in keys}
    others = {
        (entry.file.warc_file, number)
        for entry in entries
        if entry.file.warc_file in names and entry.file.key not in keys
        for number in batches_of(entry)
    }
    if not others:
        return plan
    known = _offsets(spark, tables, others)
    resumed, fresh = (tuple(_less(batch, known, keys) for batch in batches) for batches in (plan.resumed, plan.fresh))
    return replace(plan, resumed=resumed, fresh=fresh)


def _less(batch: Batch, known: dict[str, set[int]], keys: set[Key]) -> Batch:
    return replace(batch, files=tuple(_less_of(file, known) if file.key in keys else file for file in batch.files))


def _less_of(file: PlannedFile, known: dict[str, set[int]]) -> PlannedFile:
    offsets = known.get(file.warc_file, set())
    left = tuple(place for place in file.places if place.offset not in offsets)
    return replace(file, places=left, n_before=len(file.places) - len(left))


def _offsets(spark: SparkSession, tables: Tables, readings: set[tuple[str, int]]) -> dict[str, set[int]]:
    """Return, by file, where the records are stored that these (file, batch) have a row of."""
    columns = [list(column) for column in zip(*sorted(readings), strict=True)]
    wanted = spark.createDataFrame(pa.table(columns, names=["warc_file", "batch"]))
    numbers = sorted({number for _, number in readings})
    found: dict[str, set[int]] = {}
    # What a staged run has not extracted yet will have a row, and is in `pages`.
    there = [table for table in ("extractions", "pages") if tables.version(table) is not None]
    for table in there:
        rows = tables.read(table).where(F.col("batch").isin(numbers))
        rows = rows.where(~F.array_contains("flags", "inflated offset")).join(
            F.broadcast(wanted), ["warc_file", "batch"]
        )
        for row in rows.select("warc_file", "warc_offset").collect():
            found.setdefault(row["warc_file"], set()).add(row["warc_offset"])
    return found
