"""The `published` table: the rows of `extractions`, laid out for queries and kept up to date.

The job writes `extractions` by batch, so a query for a host or a day reads the whole table.
`published` is clustered by host and fetch time. Each call copies the batches that have changed
since the last call. Every row has the state of its batch (`batch_version`). A single commit
therefore stores the rows and marks them as published.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.errors import InputError
from dripper.spark.ledger.lease import Lease, hold_lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED
from dripper.spark.ledger.reconcile import Difference, find_changes, reconcile
from dripper.spark.tables.schemas import PROPERTIES, PUBLISHED, TABLES
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import within
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.forget import SparkPages
from dripper.spark.wording import say_count
from dripper.warc.read.record import FORGOTTEN

logger = logging.getLogger(__name__)

TABLE = "published"
TARGET_BYTES = 256 << 20
"""Target size of a data file. It is large enough for good compression and short listings, and small
enough that a query for one host reads few bytes."""
_ROWS_A_COMMIT = 5_000_000
"""Maximum number of rows in a commit that only adds rows: about 40 GB of text, or an hour on a
small cluster. If the job is killed, at most this much work is lost."""
_CLUSTERED_BY = ("host", "fetched_at")
_KEY = ("warc_file", "finished_at", "pages")
"""Columns of the ledger that change for a file when the file's rows in `extractions` change."""


@dataclass(frozen=True, slots=True)
class State:
    """The state of a batch in `extractions`."""

    version: str
    """A hash that changes when one of the batch's files is read again."""
    rows: int
    """Number of rows."""
    is_settled: bool = True
    """Whether none of the batch's files is being read again."""


def publish(spark: SparkSession, output: str, with_main_html: bool = True) -> str:
    """Bring the `published` table up to date, and return a sentence about the result.

    `publish` holds the lease, because a run that reads files again would move rows from one batch
    to another.

    Args:
        with_main_html: Whether a new table has the column main_html, which takes most of the space.

    Raises:
        BusyError: If a run is active.
        InputError: If there is no table `extractions`, or if `published` has the column main_html
            but `with_main_html` is False.
        DifferenceError: If the rows of `extractions` do not match the ledger.
    """
    tables = Tables(spark, output)
    _prepare(tables, with_main_html)
    with hold_lease(SparkBooks(spark, tables), job="publish") as lease:
        return _publish(spark, tables, lease)


def _publish(spark: SparkSession, tables: Tables, lease: Lease) -> str:
    ledger = Ledger(SparkBooks(spark, tables), lease.run_id)
    reconcile(spark, tables, SparkPages(tables), ledger, lease)
    current, published = _read_states(tables), _read_published(tables)
    differing = _find_lost_rows(current, published)
    since = find_changes(spark, tables, TABLE, differing) if differing else {}
    groups = list(_groups(current, published))
    for group in groups:
        lease.check()
        _replace(spark, tables, group, current, published)
    name = tables.sql_name(TABLE)
    if not groups:
        return f"{name}: nothing to publish, all {len(current)} batches are there"
    before, after = optimize(tables)
    batches = [batch for group in groups for batch in group]
    n_rows = sum(current[batch].rows for batch in batches if batch in current)
    differed = ""
    if differing:
        when = ", ".join(sorted(set(since.values())))
        differed = (
            f"; {len(differing)} of them were published before, and had {sum(each.rows for each in differing)} of their "
            f"{sum(each.counted for each in differing)} rows{when and f' since version {when}'}"
        )
    return (
        f"{name}: {say_count(len(batches), 'batch')} with {say_count(n_rows, 'row')} published in "
        f"{say_count(len(groups), 'commit')}; {say_count(before, 'file')} clustered into {after}{differed}"
    )


def _prepare(tables: Tables, with_main_html: bool) -> None:
    existing = tables.require("extractions")
    for table in ("warc_files", "extractions", "runs"):
        tables.bring_up(table, table in existing)
    if TABLE not in existing:
        fields = [field for field in PUBLISHED if with_main_html or field.name != "main_html"]
        tables.make(TABLE, fields, TABLES[TABLE][1], f"CLUSTER BY ({', '.join(_CLUSTERED_BY)})", PROPERTIES[TABLE])
        return
    tables.bring_up(TABLE, is_there=True)
    if not with_main_html and "main_html" in tables.read(TABLE).columns:
        raise InputError(f"{tables.sql_name(TABLE)} has the column main_html: drop the table, and it is made without")


def _read_states(tables: Tables) -> dict[int, State]:
    """Return the states of the batches in `extractions`, according to the ledger.

    While a file is being read again, its earlier rows still exist in the batch of the earlier
    reading.
    """
    ledger = tables.read("warc_files").where("pages > 0")
    is_on_its_way = F.col("state").isin(list(UNFINISHED))
    batch = F.when(is_on_its_way, F.col("replaces")).otherwise(F.col("batch"))
    # Use microseconds, because the time as text would depend on the session's time zone.
    finished = F.unix_micros("finished_at").alias("finished_at")
    # Pages that were forgotten later are also deleted from `published`, so they do not change the
    # state of a batch.
    pages_read = F.col("pages") + F.coalesce(F.try_element_at("skipped", F.lit(FORGOTTEN)), F.lit(0))
    replaced = {"finished_at": finished, "pages": pages_read}
    values = F.concat_ws("|", *(replaced.get(name, F.col(name)) for name in _KEY))
    states = (
        ledger.withColumn("holds", batch)
        .where("holds IS NOT NULL")
        .groupBy("holds")
        .agg(
            F.substring(F.sha2(F.concat_ws("\n", F.sort_array(F.collect_list(values))), 256), 1, 16).alias("version"),
            F.sum("pages").alias("rows"),
            (F.count_if(is_on_its_way) == 0).alias("is_settled"),
        )
    )
    return {row["holds"]: State(row["version"], row["rows"], row["is_settled"]) for row in states.collect()}


def _read_published(tables: Tables) -> dict[int, State]:
    """Return the states of the batches in `published`, keyed by batch number.

    The version is "" if the rows of a batch have several states. This program never writes such
    rows.
    """
    versions = F.array_sort(F.collect_set("batch_version")).alias("versions")
    rows = tables.read(TABLE).groupBy("batch").agg(versions, F.count("*").alias("rows")).collect()
    return {row["batch"]: State(row["versions"][0] if len(row["versions"]) == 1 else "", row["rows"]) for row in rows}


def _find_lost_rows(current: dict[int, State], published: dict[int, State]) -> list[Difference]:
    """Return the batches that are published in their current state but with missing or extra
    rows."""
    return [
        Difference(batch, state.rows, current[batch].rows)
        for batch, state in sorted(published.items())
        if batch in current
        and state.version == current[batch].version
        and current[batch].is_settled
        and state.rows != current[batch].rows
    ]


def _groups(current: dict[int, State], published: dict[int, State]) -> Iterator[list[int]]:
    """Yield the batches for each commit.

    If any batch was replaced or is gone, all batches go into one commit, because a file that was
    read again has moved from one batch to another.
    """
    fresh = sorted(current.keys() - published.keys())
    differing = {each.batch for each in _find_lost_rows(current, published)}
    changed = sorted(
        batch
        for batch, state in published.items()
        if batch not in current or current[batch].version != state.version or batch in differing
    )
    if changed:
        yield [*changed, *fresh]
        return
    group: list[int] = []
    rows = 0
    for batch in fresh:
        if group and rows + current[batch].rows > _ROWS_A_COMMIT:
            yield group
            group, rows = [], 0
        group.append(batch)
        rows += current[batch].rows
    if group:
        yield group


def _replace(
    spark: SparkSession, tables: Tables, group: list[int], current: dict[int, State], published: dict[int, State]
) -> None:
    """Publish the batches of a group in one commit."""
    columns = [name for name in tables.read(TABLE).columns if name in PUBLISHED.names]
    states = [(batch, current[batch].version) for batch in group if batch in current]
    rows = tables.read("extractions").where(F.col("batch").isin(group))
    versions = spark.createDataFrame(states, "batch long, batch_version string")
    rows = rows.join(F.broadcast(versions), "batch").select(*columns)
    logger.info("publishing %d batches", len(group))
    if not published.keys().isdisjoint(group):
        tables.replace_where(TABLE, rows, within(group))
    else:
        tables.append(TABLE, rows)


def optimize(tables: Tables) -> tuple[int, int]:
    """Cluster the table and join its small files.

    Return the number of old files and the number of new files that replace them.
    """
    sizes = ("spark.databricks.delta.optimize.maxFileSize", "spark.databricks.delta.optimize.minFileSize")
    return tables.optimize(TABLE, dict.fromkeys(sizes, str(TARGET_BYTES)))
