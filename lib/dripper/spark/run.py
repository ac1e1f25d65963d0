"""The main job as one function: plan, work, close the counts, say how it ended."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.config import Settings
from dripper.labels import load
from dripper.spark.fused import FusedJob, Totals
from dripper.spark.ledger import Ledger
from dripper.spark.plan import BatchSize, Plan, PlannedFile, make_plan
from dripper.spark.progress import Progress
from dripper.spark.session import slots
from dripper.spark.tables import Tables
from dripper.warc import expand

logger = logging.getLogger(__name__)

NAMES = ("warc_files", "extractions")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. complaints: why it is not whole, each with what to do; none: every record is accounted for."""

    plan: Plan
    totals: Totals
    ledger: dict[str, int]
    complaints: tuple[str, ...]


def open_tables(spark: SparkSession, output: str) -> tuple[Tables, Ledger]:
    """Return the tables below `output`, made if they are not there, and the ledger among them."""
    tables = Tables(spark, output)
    # At once, as each waits for the file system and for Spark's planner most of the time.
    with ThreadPoolExecutor(max_workers=2) as pool:
        is_new = dict(zip(NAMES, pool.map(tables.create, NAMES), strict=True))
    return tables, Ledger(spark, tables, is_new["warc_files"])


def plan_files(ledger: Ledger, warcs: str, settings: Settings, slots: int, limit: int | None) -> Plan:
    """Return what is to do for the files that `warcs` names. Raises InputError where it names none that exist."""
    files = [PlannedFile(file.path, file.size_bytes) for file in expand(warcs, settings.reading)]
    size = BatchSize(settings.batch.files, settings.batch.bytes_per_core * slots)
    return make_plan(files, ledger.entries(), size, limit)


def dry_plan(spark: SparkSession, warcs: str, output: str, settings: Settings, limit: int | None = None) -> Plan:
    """Return what `run` would do, and write nothing. Raises UsageError like `run`."""
    tables = Tables(spark, output)
    ledger = Ledger(spark, tables, is_new=tables.version("warc_files") is None)
    return plan_files(ledger, warcs, settings, slots(spark), limit)


def run(spark: SparkSession, warcs: str, output: str, settings: Settings, limit: int | None = None) -> Outcome:
    """Extract all pages of `warcs` into the tables below `output`; files that are done are left alone.

    Raises UsageError for what a person has to change. Everything else ends in `Outcome.complaints`.
    """
    load(settings.labeler.name)
    tables, ledger = open_tables(spark, output)
    at_once = slots(spark)
    plan = plan_files(ledger, warcs, settings, at_once, limit)
    batches = [*plan.resumed, *plan.fresh]
    n_files = sum(len(batch.files) for batch in batches)
    logger.info("%d files to do in %d batches, %d done before", n_files, len(batches), plan.n_done)
    ledger.record(plan)
    totals = Totals()
    if batches:
        with Progress(spark, n_files) as progress:
            totals = FusedJob(spark, tables, ledger, settings, at_once).run(batches, progress)
    written = [batch.number for batch in batches if batch.number not in totals.failed_batches]
    with ThreadPoolExecutor(max_workers=2) as pool:
        unclosed = pool.submit(_unclosed, tables, totals, written)
        counts = ledger.counts()
        complaints = [*_unfinished(totals), *unclosed.result()]
    return Outcome(plan, totals, counts, tuple(complaints))


def _unfinished(totals: Totals) -> list[str]:
    words = [
        f"batch {number} failed ({error}); run the same command again: only what is missing is done"
        for number, error in totals.failed_batches.items()
    ]
    if totals.failed_files:
        words.append(
            f"{totals.failed_files} files could not be read to their end: see the column `error` of warc_files where "
            "state = 'failed', mend the cause, and run the same command again"
        )
    return words


def _unclosed(tables: Tables, totals: Totals, batches: Sequence[int]) -> list[str]:
    """Every record is a page or skipped with a reason, and every page is exactly one row: checked on the table itself."""
    if not batches:
        return []
    rows = (
        tables.read("extractions")
        .where(F.col("batch").isin(list(batches)))
        .agg(F.count("*").alias("rows"), F.count_distinct("page_id").alias("pages"))
        .head()
    )
    assert rows is not None
    skipped = sum(totals.skipped.values())
    words = []
    if totals.records != totals.pages + skipped:
        words.append(f"{totals.records} records were seen, but {totals.pages} pages and {skipped} skipped were counted")
    if not totals.pages == rows["rows"] == rows["pages"] == totals.rows:
        words.append(f"{totals.pages} pages were read, but the table has {rows['rows']} rows of {rows['pages']} pages")
    return [f"{problem}: please report this, with the versions of Spark and Delta" for problem in words]
