"""How many rows each batch of a table has, by what Delta's log says."""

from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def rows_by_batch(table: DataFrame) -> dict[int, int]:
    """Return how many rows each batch of a table has.

    By the statistics in Delta's log: one job over the log, which Delta keeps in memory for the
    run's own commits. Where the log is out of reach (Spark Connect, Databricks' own Delta) or has
    no numbers, rows are counted, for which Spark reads only the footers of the data files.
    """
    files = _files_in_log(table)
    if files is not None:
        deleted = F.coalesce(F.col("deletionVector.cardinality"), F.lit(0))
        n_rows = F.get_json_object("stats", "$.numRecords").cast("long") - deleted
        counts = files.groupBy(F.col("partitionValues")["batch"].cast("long").alias("batch")).agg(
            F.sum(n_rows).alias("rows"), F.count_if(n_rows.isNull()).alias("uncounted")
        )
        rows = counts.collect()
        if not any(row["uncounted"] or row["batch"] is None for row in rows):
            return {row["batch"]: row["rows"] for row in rows if row["rows"]}
    return {row["batch"]: row["count"] for row in table.groupBy("batch").count().collect()}


def _files_in_log(table: DataFrame) -> DataFrame | None:
    """Return the data files of a Delta table, as its log has them; None where Python cannot reach
    it."""
    try:
        leaf: Any = table._jdf.queryExecution().analyzed().collectLeaves().head()
        return DataFrame(leaf.relation().location().getSnapshot().allFiles().toDF(), table.sparkSession)
    except (AttributeError, TypeError, Py4JError, PySparkException):
        return None
