"""How a run ended: counts closed over the tables themselves, and complaints that say what to do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dripper.spark.ledger import n_skipped
from dripper.spark.plan import Plan
from dripper.spark.tables import Tables
from dripper.spark.totals import Totals

_REPORT_THIS = "please report this, with the versions of Spark and Delta"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. stages: of a staged run, those that it ran; none: the fused job. complaints: why it is not whole, each
    with what to do; none: every record is accounted for."""

    plan: Plan
    totals: Totals
    ledger: dict[str, int]
    complaints: tuple[str, ...]
    stages: tuple[str, ...] = ()


def unfinished(totals: Totals) -> list[str]:
    """Return a sentence for each batch that failed, and one for files that could not be read."""
    words = [
        f"batch {number} failed ({error}); run the same command again: only what is missing is done"
        for number, error in totals.failed_batches.items()
    ]
    if totals.failed_files:
        words.append(
            f"{totals.failed_files} files could not be read to their end: see the column `error` of warc_files, mend the "
            "cause, and run the same command again"
        )
    return words


def unclosed(tables: Tables, totals: Totals, batches: Sequence[int]) -> list[str]:
    """Every record is a page or skipped with a reason, and every page is exactly one row: checked on the table itself, for the
    batches that a fused run wrote."""
    if not batches:
        return []
    rows, pages = _rows_and_pages(tables, "extractions", batches)
    skipped = sum(totals.skipped.values())
    words = []
    if totals.records != totals.pages + skipped:
        words.append(f"{totals.records} records were seen, but {totals.pages} pages and {skipped} skipped were counted")
    if not totals.pages == rows == pages == totals.rows:
        words.append(f"{totals.pages} pages were read, but the table has {rows} rows of {pages} pages")
    return [f"{problem}: {_REPORT_THIS}" for problem in words]


def unclosed_stages(tables: Tables, stages: Iterable[str], batches: Sequence[int]) -> list[str]:
    """The same for the batches that a staged run took through `stages`: each stage's tables have a row for every row of the
    stage before, and none twice."""
    if not batches:
        return []
    ledger = (
        tables.read("warc_files")
        .where(F.col("batch").isin(list(batches)))
        .agg(F.sum("records"), F.sum("pages"), F.sum(n_skipped()))
        .head()
    )
    assert ledger is not None
    records, n_pages, skipped = (int(count or 0) for count in ledger)
    words = []
    if records != n_pages + skipped:
        words.append(f"{records} records were seen, but {n_pages} pages and {skipped} skipped were counted")
    found = _staged_rows(tables, batches)
    split = found["pages"][2]
    expected = {
        "preprocess": {"pages": n_pages, "blocks": split},
        "label": {"labels": split},
        "extract": {"extractions": n_pages},
    }
    for table, wanted in ((table, wanted) for stage in stages for table, wanted in expected[stage].items()):
        rows, pages, _ = found[table]
        if not wanted == rows == pages:
            words.append(f"{wanted} pages went into the table {table}, but it has {rows} rows of {pages} pages")
    return [f"{problem}: {_REPORT_THIS}" for problem in words]


def _staged_rows(tables: Tables, batches: Sequence[int]) -> dict[str, tuple[int, int, int]]:
    """Return of each table between stages, and of `extractions`: rows, different pages, rows without an error; in one query."""
    parts = []
    for table in ("pages", "blocks", "labels", "extractions"):
        rows = tables.read(table).where(F.col("batch").isin(list(batches)))
        error = F.col("error_code") if table != "blocks" else F.lit(None)
        parts.append(rows.select(F.lit(table).alias("table"), "page_id", error.isNull().cast("int").alias("good")))
    counted = (
        reduce(DataFrame.union, parts).groupBy("table").agg(F.count("*"), F.count_distinct("page_id"), F.sum("good"))
    )
    found = {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in counted.collect()}
    return {table: found.get(table, (0, 0, 0)) for table in ("pages", "blocks", "labels", "extractions")}


def _rows_and_pages(tables: Tables, table: str, batches: Sequence[int]) -> tuple[int, int]:
    row = (
        tables.read(table)
        .where(F.col("batch").isin(list(batches)))
        .agg(F.count("*").alias("rows"), F.count_distinct("page_id").alias("pages"))
        .head()
    )
    assert row is not None
    return int(row["rows"]), int(row["pages"])
