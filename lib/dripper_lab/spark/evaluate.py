"""Distributes an evaluation over a cluster. Extractors and metrics are passed in as functions; this
module knows none of them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from dripper.spark.tables.schemas import EVALUATIONS
from dripper.spark.tables.store import Tables

Share = tuple[str, int, int]
"""A part of a data set: the set's name, the number of the part, and the number of parts."""

_LINES = StructType([StructField("line", StringType(), nullable=False)])


def evaluate(
    spark: SparkSession,
    tables: Tables,
    shares: Sequence[Share],
    lines: Callable[[Share], Iterator[str]],
    rows: Callable[[str], Iterator[tuple[Any, ...]]],
) -> Iterator[str]:
    """Evaluate all shares, append the rows to the `evaluations` table in one commit, and yield the
    lines.

    The lines are computed only once.

    Args:
        lines: Returns the lines of a share. It is pickled and runs on the executors, which must
            have access to the same data.
        rows: Returns the table rows for a line, in the order of the columns after `batch`. It is
            also pickled.
    """
    table = "evaluations"
    last = tables.read(table).agg(F.max("batch")).head()
    batch = (last[0] + 1) if last is not None and last[0] is not None else 0
    planned = spark.createDataFrame(list(shares), "data_set string, number int, of int").repartition(len(shares))
    computed = planned.mapInPandas(partial(_compute_lines, lines), _LINES).persist()
    try:
        tables.append(table, _table_rows(computed, rows, batch))
        yield from (row.line for row in computed.toLocalIterator())
    finally:
        computed.unpersist()


def _table_rows(computed: DataFrame, rows: Callable[[str], Iterator[tuple[Any, ...]]], batch: int) -> DataFrame:
    fields = [field for field in EVALUATIONS.fields if field.name != "batch"]
    scored = computed.mapInPandas(partial(_rows, rows, [field.name for field in fields]), StructType(fields))
    return scored.withColumn("batch", F.lit(batch).cast("long")).select(EVALUATIONS.fieldNames())


def _compute_lines(lines: Callable[[Share], Iterator[str]], frames: Iterator[Any]) -> Iterator[Any]:
    pandas: Any = import_module("pandas")
    for frame in frames:
        for share in frame.itertuples(index=False):
            yield pandas.DataFrame({"line": list(lines((share.data_set, int(share.number), int(share.of))))})


def _rows(
    rows: Callable[[str], Iterator[tuple[Any, ...]]], columns: Sequence[str], frames: Iterator[Any]
) -> Iterator[Any]:
    pandas: Any = import_module("pandas")
    for frame in frames:
        for line in frame["line"]:
            yield pandas.DataFrame(list(rows(line)), columns=list(columns))
