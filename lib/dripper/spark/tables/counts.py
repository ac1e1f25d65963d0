"""Uses Delta's log to count the rows of each batch in a table, and to detect lost data files."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from dripper.spark.tables.log import UNREACHABLE
from dripper.spark.tables.row_keys import page_keys
from dripper.spark.tables.sql import within

_OLDEST_TRIED = 10
"""Number of data files to check individually, oldest first. The lifecycle rules of a bucket delete
the oldest files first."""


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """The counts of each batch in a table."""

    rows: dict[int, int]
    lost: tuple[int, ...] = ()
    """Batches that cannot be read, because something other than Delta deleted some of their data
    files."""
    written: Mapping[int, datetime] = field(default_factory=dict)
    """Time of each batch's newest data file; empty if unknown."""


@dataclass(frozen=True, slots=True)
class FileRows:
    """Counts of the rows that a batch has from one archive file."""

    rows: int = 0
    failed: int = 0
    """Number of error rows."""
    keys: int = 0
    """Sum of the pages' keys (`dripper.spark.tables.row_keys`)."""


def count_batches(table: DataFrame) -> BatchCounts:
    """Return the counts of each batch in the newest version of a table.

    To detect lost data files, this checks the folders of all batches and the oldest files. The
    check lists the table's folder and makes a few more requests. It is skipped if the log is out of
    reach (see `rows_by_batch`).
    """
    counted = _count_in_log(table)
    written = {
        row["batch"]: datetime.fromtimestamp(row["newest_at"] / 1000, UTC) for row in counted or () if row["rows"]
    }
    return BatchCounts(_rows_of(table, counted), _find_lost(table, counted or ()), written)


def count_files(table: DataFrame, batches: Collection[int] | None) -> dict[tuple[int, str], FileRows]:
    """Return the number of rows of each archive file in these batches of a table, keyed by batch
    and file.

    If `batches` is None, all batches are counted. Spark scans a few columns of the rows.
    """
    rows = table if batches is None else table.where(within(batches))
    counts = rows.groupBy("batch", "warc_file").agg(
        F.count("*").alias("rows"), F.count("error_code").alias("failed"), page_keys().alias("keys")
    )
    return {
        (row["batch"], row["warc_file"]): FileRows(row["rows"], row["failed"], row["keys"]) for row in counts.collect()
    }


def rows_by_batch(table: DataFrame) -> dict[int, int]:
    """Return the number of rows of each batch in a table.

    The numbers come from the statistics in Delta's log. This takes one Spark job over the log,
    which Delta keeps in memory after the run's own commits. If the log is out of reach (Spark
    Connect, Databricks' own Delta) or has no numbers, Spark counts the rows by reading the footers
    of the data files.
    """
    return _rows_of(table, _count_in_log(table))


def _rows_of(table: DataFrame, counted: Sequence[Row] | None) -> dict[int, int]:
    """Return the number of rows of each batch. Count the rows if the log has no numbers."""
    if counted is None:
        return {row["batch"]: row["count"] for row in table.groupBy("batch").count().collect()}
    return {row["batch"]: row["rows"] for row in counted if row["rows"]}


def _count_in_log(table: DataFrame) -> list[Row] | None:
    """Return the row count and data file times of each batch; None if the log lacks the counts.

    Each row has the number of rows, the oldest data file, and the times of the oldest and newest
    data files.
    """
    files = _files_in_log(table)
    if files is None:
        return None
    deleted = F.coalesce(F.col("deletionVector.cardinality"), F.lit(0))
    n_rows = F.get_json_object("stats", "$.numRecords").cast("long") - deleted
    counts = files.groupBy(F.col("partitionValues")["batch"].cast("long").alias("batch")).agg(
        F.sum(n_rows).alias("rows"),
        F.count_if(n_rows.isNull()).alias("uncounted"),
        F.min_by("path", "modificationTime").alias("oldest_file"),
        F.min("modificationTime").alias("written_at"),
        F.max("modificationTime").alias("newest_at"),
    )
    rows = counts.collect()
    return None if any(row["uncounted"] or row["batch"] is None for row in rows) else rows


def _files_in_log(table: DataFrame) -> DataFrame | None:
    """Return the data files that a Delta table's log lists; None if Python cannot reach the log."""
    try:
        return DataFrame(_index(table).getSnapshot().allFiles().toDF(), table.sparkSession)
    except UNREACHABLE:
        return None


def count_lost_files(table: DataFrame, batch: int) -> int:
    """Return how many data files of a batch are in the log but not in storage; 0 if unknown."""
    files = _files_in_log(table)
    if files is None:
        return 0
    try:
        is_lost = _lost_file_test(table)
        of_batch = files.where(F.col("partitionValues")["batch"] == str(batch)).select("path").collect()
        return sum(is_lost(row["path"]) for row in of_batch)
    except UNREACHABLE:
        return 0


def _index(table: DataFrame) -> Any:
    """Return the JVM's file index of a Delta table."""
    leaf: Any = table._jdf.queryExecution().analyzed().collectLeaves().head()
    return leaf.relation().location()


def _lost_file_test(table: DataFrame) -> Callable[[str], bool]:
    """Return a function that checks whether a data file in the table's log is missing from
    storage."""
    place, storage = _place_and_storage(table)
    jvm: Any = table.sparkSession._jvm
    path = jvm.org.apache.hadoop.fs.Path

    def is_lost(name: str) -> bool:
        file = unquote(name)
        # Shallow clones refer to files in other folders with full URLs.
        is_inside = ":/" not in name and not file.startswith("/")
        return is_inside and not storage.exists(path(place, file))

    return is_lost


def _place_and_storage(table: DataFrame) -> tuple[Any, Any]:
    """Return the JVM's path of the table's folder, and the file system of the path."""
    index = _index(table)
    place = index.path()
    return place, place.getFileSystem(index.deltaLog().newDeltaHadoopConf())


def _find_lost(table: DataFrame, counted: Sequence[Row]) -> tuple[int, ...]:
    """Return the batches with data files that are missing from storage."""
    if not counted:
        return ()
    try:
        place, storage = _place_and_storage(table)
        folders = {entry.getPath().getName() for entry in storage.listStatus(place)}
        is_lost, lost = _lost_file_test(table), list[int]()
        for at, row in enumerate(sorted(counted, key=lambda row: row["written_at"])):
            folder = unquote(row["oldest_file"]).partition("/")[0]
            if (at < _OLDEST_TRIED or folder not in folders) and is_lost(row["oldest_file"]):
                lost.append(row["batch"])
    except UNREACHABLE:
        return ()
    return tuple(sorted(lost))
