"""Runs OPTIMIZE and VACUUM on the tables of an output."""

from collections.abc import Iterator

from pyspark.sql import SparkSession

from dripper.errors import SettingsError
from dripper.spark.ledger.lease import hold_lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.reconcile import reconcile
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.schemas import PROPERTIES, TABLES
from dripper.spark.tables.session_settings import SharedSettings
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import quoted
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep import publish
from dripper.spark.upkeep.forget import SparkPages
from dripper.spark.upkeep.repair import repair
from dripper.spark.wording import say_count

MINIMUM_HOURS = 168
"""Minimum retention in hours. With a shorter time, a reader or a run in progress could lose files
that it still reads. Delta therefore rejects a shorter time unless its check is turned off."""


def maintain(
    spark: SparkSession,
    output: str,
    retain_hours: int | None = None,
    *,
    verifies: bool = False,
    repairs: bool = False,
    publishes: bool = False,
    with_main_html: bool = True,
    single_writer: bool = False,
) -> Iterator[str]:
    """Join the small files of every table, and delete files that only older versions need.

    Yields a sentence for each table.

    Args:
        retain_hours: Hours for which files of old versions are kept. If None, the table's own
            property applies, but at least MINIMUM_HOURS.
        verifies: Compare all rows with the ledger by their keys, and leave the files unchanged.
        repairs: Repair differences between the ledger and the rows (`dripper.spark.upkeep.repair`),
            and join no files.
        publishes: Bring the `published` table up to date first; see `dripper.spark.upkeep.publish`.
        single_writer: Whether the user guarantees that there is only one writer.

    Raises:
        SettingsError: If `retain_hours` is below MINIMUM_HOURS, or if two writers could overwrite
            each other's commits.
        InputError: If `output` has no tables.
        DifferenceError: If the rows do not match the ledger.
    """
    if retain_hours is not None and retain_hours < MINIMUM_HOURS:
        raise SettingsError(
            f"--retain-hours {retain_hours}: at least {MINIMUM_HOURS}, or running readers lose their files"
        )
    tables = Tables(spark, output)
    require_log_store(spark, tables, single_writer)
    existing = tables.require(*TABLES)
    if verifies:
        yield _verify(spark, tables)
    if repairs:
        yield from repair(spark, output)
    if publishes:
        yield publish.publish(spark, output, with_main_html)
    if repairs or verifies:
        # Do not delete older versions, because restoring one is another way to repair a table.
        return
    for table in filter(existing.__contains__, TABLES):
        yield _compact(spark, tables, table, retain_hours)


def _verify(spark: SparkSession, tables: Tables) -> str:
    """Compare the keys of every file's rows with the keys of its pages. Report that they match.

    Raises DifferenceError if they do not match.
    """
    for table in ("runs", "warc_files", "extractions"):
        tables.create(table)
    books = SparkBooks(spark, tables)
    with hold_lease(books, job="verify") as lease:
        ledger = Ledger(books, lease.run_id)
        _, rows = reconcile(spark, tables, SparkPages(tables), ledger, lease, every=True)
    n_rows, n_batches = say_count(sum(rows.values()), "row"), say_count(len(rows), "batch")
    return f"{tables.sql_name('extractions')}: {n_rows} in {n_batches}, each of a page that was read, none twice"


def _compact(spark: SparkSession, tables: Tables, table: str, retain_hours: int | None) -> str:
    """Join a table's small files, delete its old versions, and describe the result."""
    name = tables.sql_name(table)
    tables.purge(table)
    set_anew = tables.set_layout(table, PROPERTIES.get(table, {}))
    removed, added = publish.optimize(tables) if table == publish.TABLE else tables.optimize(table)
    with SharedSettings(spark, _AS_TOLD).set():
        spark.sql(f"VACUUM {name} RETAIN {retain_hours or _find_hours(spark, tables, table)} HOURS")
    altered = f"; properties of this release set: {', '.join(set_anew)}" if set_anew else ""
    return f"{name}: {say_count(removed, 'file')} joined into {added}, old versions cleared{altered}"


def _find_hours(spark: SparkSession, tables: Tables, table: str) -> int:
    """Return how many hours to keep files of old versions, according to a property of the table."""
    kept = tables.properties(table).get("delta.deletedFileRetentionDuration")
    if kept is None:
        return MINIMUM_HOURS
    seconds = f"unix_seconds(timestamp_seconds(0) + CAST({quoted(kept)} AS INTERVAL))"
    return max(MINIMUM_HOURS, int(spark.sql(f"SELECT ceil({seconds} / 3600)").collect()[0][0]))


_AS_TOLD = {
    # Without this, newer Delta versions (4.4) keep files for the time in the table's property.
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
    # Without this, Delta rejects a shorter time than the property has.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}
"""Settings that make VACUUM keep files for exactly the number of hours in its command."""
