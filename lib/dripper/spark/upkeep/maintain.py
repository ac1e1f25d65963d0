"""OPTIMIZE and VACUUM over the tables of one output."""

from collections.abc import Iterator

from pyspark.sql import SparkSession

from dripper.errors import InputError, SettingsError
from dripper.spark.ledger.reconcile import repair
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.schemas import TABLES
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep import publish
from dripper.spark.wording import say_count

MINIMUM_HOURS = 168
"""Delta refuses less unless told otherwise: a reader or a run that started before would lose its
files."""


def maintain(
    spark: SparkSession,
    output: str,
    retain_hours: int = MINIMUM_HOURS,
    *,
    repairs: bool = False,
    publishes: bool = False,
    with_main_html: bool = True,
    single_writer: bool = False,
) -> Iterator[str]:
    """Join the small files of every table that is there and delete what no version of the last
    hours needs.

    Args:
        repairs: Bring the ledger and the rows together again instead, see
            `dripper.spark.ledger.reconcile`.
        publishes: Bring the table `published` up to date before that, see
            `dripper.spark.upkeep.publish`. Yields a sentence a table.

    Raises:
        SettingsError: Below MINIMUM_HOURS, and where two writers could lose each other's
            commits (single_writer: a person says that there is one).
        InputError: If `output` has no table at all.
    """
    if retain_hours < MINIMUM_HOURS:
        raise SettingsError(
            f"--retain-hours {retain_hours}: at least {MINIMUM_HOURS}, or running readers lose their files"
        )
    tables = Tables(spark, output)
    require_log_store(spark, tables, single_writer)
    existing = [table for table in TABLES if tables.version(table) is not None]
    if not existing:
        raise InputError(f"--output {output}: none of the tables {', '.join(TABLES)} is there")
    if repairs:
        yield from repair(spark, output)
    if publishes:
        yield publish.publish(spark, output, with_main_html)
    if repairs:
        # Older versions are the other way to mend a table.
        return
    for table in existing:
        yield _compact(spark, tables, table, retain_hours)


def _compact(spark: SparkSession, tables: Tables, table: str, retain_hours: int) -> str:
    """Join the small files of a table, clear its old versions, and return what was done, in a
    sentence."""
    name = tables.sql_name(table)
    if table == publish.TABLE:
        removed, added = publish.optimize(spark, tables)
    else:
        metrics = spark.sql(f"OPTIMIZE {name}").select("metrics.*").head()
        assert metrics is not None
        removed, added = metrics["numFilesRemoved"], metrics["numFilesAdded"]
    spark.sql(f"VACUUM {name} RETAIN {retain_hours} HOURS")
    return f"{name}: {say_count(removed, 'file')} joined into {added}, old versions cleared"
