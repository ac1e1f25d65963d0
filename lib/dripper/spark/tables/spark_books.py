"""Implements the storage interface `Books` with Spark, on Delta tables."""

import uuid
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.books import EVERY_ROW, UNKNOWN, Row, Where
from dripper.spark.tables.counts import BatchCounts, FileRows, count_batches, count_files
from dripper.spark.tables.fence import Fence
from dripper.spark.tables.observed import wait_for_observed
from dripper.spark.tables.schemas import TABLES, nullable
from dripper.spark.tables.store import Tables

ROWS_A_FILE = 2500
"""Maximum number of rows in a data file. The rows of a batch are in the same or in neighbouring
files, so the commit of a batch rewrites few files."""


class SparkBooks:
    """See `dripper.spark.tables.books.Books`."""

    def __init__(self, spark: SparkSession, tables: Tables) -> None:
        self._spark = spark
        self._tables = tables
        self._ids: dict[str, str] = {}

    @property
    def fence(self) -> Fence | None:
        """The fence of the tables."""
        return self._tables.fence

    @fence.setter
    def fence(self, fence: Fence | None) -> None:
        """Set the fence."""
        self._tables.fence = fence

    def read(self, table: str, where: Where = EVERY_ROW, columns: Sequence[str] = ()) -> list[Row]:
        """Return rows; see `Books`."""
        # Check first, because reading a missing table would run a query before it fails.
        if not self._tables.exists(table):
            return []
        frame = self._tables.read(table)
        names = [name for name in columns or frame.columns if name in frame.columns]
        rows = frame if where is EVERY_ROW else frame.where(where.sql)
        return rows_of(rows.select(*(f"`{name}`" for name in names)).toArrow())

    def append(self, table: str, rows: Sequence[Row], sequence: tuple[str, int] | None = None) -> int | None:
        """Add rows; see `Books`."""
        frame, before = self.frame(table, rows), self.version(table)
        if sequence is None:
            return self._find_version(table, self._tables.append(table, frame, maxRecordsPerFile=ROWS_A_FILE), before)
        observation = Observation()
        self._tables.append(table, frame.observe(observation, F.count("*").alias("rows")), sequence)
        # Delta skips the write if another run has just used the same sequence. In that case,
        # nothing is observed, and the commit in the log is the other run's.
        if wait_for_observed(observation) is None:
            return None
        version = self._find_version(table, sequence, before)
        return UNKNOWN if version is None else version

    def replace(self, table: str, rows: Sequence[Row], where: Where) -> int | None:
        """Replace rows; see `Books`."""
        before = self.version(table)
        return self._find_version(table, self._tables.replace_where(table, self.frame(table, rows), where.sql), before)

    def amend(self, table: str, amended: Sequence[tuple[Row, Row]], where: Where) -> bool:
        """Replace rows that have not changed since they were read; see `Books`."""
        pairs, view = self.pairs(table, amended), f"amended_{uuid.uuid4().hex}"
        columns = [field for field in self._kind(table, amended[0]) if field.name in amended[0][0]]
        same = " AND ".join(map(_same, columns))
        new = ", ".join(f"t.`{field.name}` = a.`{NOW}{field.name}`" for field in columns)
        pairs.createOrReplaceTempView(view)
        try:
            metrics = self._tables.change(
                table,
                f"MERGE INTO {self.name(table)} t USING (SELECT * FROM {view}) a ON ({where.sql}) AND {same} "
                f"WHEN MATCHED THEN UPDATE SET {new}",
            ).head()
        finally:
            self._spark.catalog.dropTempView(view)
        return metrics is not None and bool(metrics["num_affected_rows"] == len(amended))

    def version(self, table: str) -> int | None:
        """Return the number of the newest version; see `Books`."""
        newest = self._tables.log(table).newest()
        # If somebody has created the table again, its version numbers are unrelated to the old
        # ones.
        is_same = newest is not None and newest.table == self._ids.setdefault(table, newest.table)
        return newest.version if newest is not None and is_same else None

    def count_batches(self, table: str) -> BatchCounts:
        """Return the counts of each batch of the table; see `Books`."""
        return count_batches(self._tables.read(table))

    def count_files(self, table: str, batches: Collection[int] | None) -> dict[tuple[int, str], FileRows]:
        """Return the counts of each archive file in batches; see `Books`."""
        return count_files(self._tables.read(table), batches)

    def shut_out(self, lanes: int) -> None:
        """Shut out the commits of earlier runs; see `Books`."""
        self._tables.shut_out(lanes)

    def name(self, table: str) -> str:
        """Return the table's name in SQL."""
        return self._tables.sql_name(table)

    def _find_version(self, table: str, sequence: tuple[str, int] | None, before: int | None) -> int | None:
        """Return the version that the commit with this sequence created."""
        if sequence is None or before is None:
            return UNKNOWN
        commit = self._tables.log(table).find(sequence, before)
        return None if commit is None else commit.version

    def frame(self, table: str, rows: Sequence[Row]) -> DataFrame:
        """Return rows as a data frame with the table's columns."""
        kind = self._kind(table, rows)
        frame = self._spark.createDataFrame(_arrow(rows, kind), kind)
        return frame.coalesce(1) if len(rows) <= ROWS_A_FILE else frame

    def pairs(self, table: str, amended: Sequence[tuple[Row, Row]]) -> DataFrame:
        """Return the distinct pairs of rows as a data frame that has the table's columns twice."""
        once = list({repr(sorted(old.items())): (old, new) for old, new in amended}.values())
        kind = self._kind(table, [new for _, new in once])
        sides = [_arrow([pair[i] for pair in once], kind) for i in range(2)]
        both = StructType([StructField(side + field.name, field.dataType) for side in (WAS, NOW) for field in kind])
        return self._spark.createDataFrame(
            pa.Table.from_arrays([column for side in sides for column in side.columns], names=both.names), both
        )

    def _kind(self, table: str, rows: Sequence[Row]) -> StructType:
        """Return the columns of these rows of a table."""
        declared = TABLES[table][0]
        # Rows that were read and are written back may also have columns that users added.
        more = {name for row in rows for name in row} - {*declared.names}
        added = [field for field in self._tables.read(table).schema if field.name in more] if more else []
        return nullable([*declared.fields, *added])


WAS, NOW = "was ", "now "
"""Prefixes of the old and the new columns in `pairs`."""


def _arrow(rows: Sequence[Row], kind: StructType) -> pa.Table:
    schema = arrow_schema(kind)
    columns = [pa.array([_storable(row.get(field.name), field.type) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _same(column: StructField) -> str:
    """Return the SQL condition that a column of the table `t` is unchanged.

    Maps are compared as JSON, because SQL cannot compare maps.
    """
    sides = f"t.`{column.name}`", f"a.`{WAS}{column.name}`"
    if "map<" in column.dataType.simpleString():
        sides = f"to_json({sides[0]})", f"to_json({sides[1]})"
    return " <=> ".join(sides)


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows of an Arrow table, with maps as dictionaries.

    >>> maps = pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))
    >>> rows_of(pa.table({"counts": maps}))
    [{'counts': {'a': 1}}, {'counts': None}]
    """
    rows: list[Row] = table.to_pylist()
    maps = [field.name for field in table.schema if pa.types.is_map(field.type)]
    for row in rows if maps else ():
        for name in maps:
            row[name] = None if row[name] is None else dict(row[name])
    return rows


def _storable(value: Any, kind: pa.DataType) -> Any:
    """Return a value in a form that Arrow accepts: maps become lists of pairs."""
    return list(value.items()) if isinstance(value, dict) and pa.types.is_map(kind) else value
