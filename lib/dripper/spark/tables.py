"""Reading and writing the Delta tables: by folder or by catalog name, one batch at a time,
atomically."""

import logging
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.types import StructField

from dripper.errors import InputError
from dripper.spark.plan import Batch
from dripper.spark.schemas import PARTITIONED, PROPERTIES, READABLE, SCHEMA_VERSION, TABLES
from dripper.spark.text import first_line, quoted

logger = logging.getLogger(__name__)

_CATALOG_SCHEMA = re.compile(r"[A-Za-z_][\w-]*\.[A-Za-z_][\w-]*")
"""Unity Catalog allows hyphens in names (`my-catalog.crawl`), which SQL then wants quoted."""
VERSION_PROPERTY = "dripper.schema_version"


class Tables:
    """The tables below one output: a folder or `s3a://` prefix (`O/extractions`), or
    `catalog.schema`.

    Tables of pages are partitioned by `batch`; a batch is replaced as a whole in one commit, so
    that writing it again after a kill changes nothing.
    """

    def __init__(self, spark: SparkSession, output: str) -> None:
        if not output.strip():
            raise InputError("--output is empty: give a folder, an s3a:// prefix, or catalog.schema")
        self._spark = spark
        self.in_catalog = bool(_CATALOG_SCHEMA.fullmatch(output)) and not Path(output).exists()
        is_plain_path = not self.in_catalog and "://" not in output
        self.output = str(Path(output).absolute()) if is_plain_path else output.rstrip("/")

    def sql_name(self, table: str) -> str:
        """Return how SQL addresses the table: `catalog.schema.table`, or delta.`path`."""
        if self.in_catalog:
            return ".".join(f"`{part}`" for part in (*self.output.split("."), table))
        return f"delta.`{self._path(table)}`"

    def location(self) -> str:
        """Return the folder or prefix that the tables are below, of a catalog's schema too; ""
        where the catalog does not say."""
        if not self.in_catalog:
            return self.output
        schema = ".".join(f"`{part}`" for part in self.output.split("."))
        try:
            told = self._spark.sql(f"DESCRIBE SCHEMA EXTENDED {schema}").collect()
        except _SPARK_ERRORS:
            # Whatever is wrong with it is told where the tables are opened.
            return ""
        return next((row[1] for row in told if row[0] == "Location"), "") or ""

    def create(self, table: str) -> bool:
        """Make the table if it is not there, with comments on its columns; return whether it is
        new.

        One that is there gets the columns that it lacks, at its end; a user's own columns stay.
        Raises InputError if it is there with another schema version (`dripper.spark.migrate` goes
        first), or if something else is in its place.
        """
        return self.bring_up(table, self.version(table))

    def bring_up(self, table: str, version: int | None) -> bool:
        """As `create`, for a table whose version is known."""
        schema, comment = TABLES[table]
        if version == SCHEMA_VERSION:
            self._add_columns(table)
            return False
        if version is not None:
            raise InputError(
                f"{self.sql_name(table)} has schema version {version}, this program writes {SCHEMA_VERSION}: choose another "
                "--output, or the release that wrote the table"
            )
        layout = "PARTITIONED BY (batch)" if table in PARTITIONED else ""
        return self.make(table, schema, comment, layout, PROPERTIES.get(table))

    def make(
        self,
        table: str,
        fields: Iterable[StructField],
        comment: str,
        layout: str = "",
        properties: Mapping[str, str] | None = None,
    ) -> bool:
        """Make a table that is not there. layout: how SQL says that it is partitioned or clustered.
        Raises InputError."""
        columns = ", ".join(_column_ddl(field) for field in fields)
        told = {VERSION_PROPERTY: str(SCHEMA_VERSION)} | READABLE | dict(properties or {})
        try:
            self._spark.sql(
                f"CREATE TABLE {self.sql_name(table)} ({columns}) USING delta {layout} COMMENT {quoted(comment)} "
                f"TBLPROPERTIES ({', '.join(f'{quoted(key)} = {quoted(value)}' for key, value in told.items())})"
            )
        except _SPARK_ERRORS as error:
            # Another driver may have been here first: which of the two may write is the lease's to
            # say.
            if self.version(table) == SCHEMA_VERSION:
                return False
            raise self._unusable("create", table, error) from None
        return True

    def _add_columns(self, table: str) -> None:
        missing = self._missing(table)
        if not missing:
            return
        logger.info("%s gets the columns %s", self.sql_name(table), ", ".join(field.name for field in missing))
        columns = ", ".join(_column_ddl(as_added(field)) for field in missing)
        try:
            self._spark.sql(f"ALTER TABLE {self.sql_name(table)} ADD COLUMNS ({columns})")
        except _SPARK_ERRORS as error:
            if self._missing(table):
                raise self._unusable("add columns to", table, error) from None

    def _missing(self, table: str) -> list[StructField]:
        there = {name.lower() for name in self.read(table).columns} | OPTIONAL.get(table, set())
        return [field for field in TABLES[table][0] if field.name.lower() not in there]

    def version(self, table: str) -> int | None:
        """Return the table's schema version; 0 for a Delta table that another program made, None if
        there is no table.

        Raises InputError where it cannot be opened.
        """
        try:
            # Table properties alone: DESCRIBE DETAIL has them too, but counts the table's files for
            # it, 4 times the time.
            properties = {
                row["key"]: row["value"]
                for row in self._spark.sql(f"SHOW TBLPROPERTIES {self.sql_name(table)}").collect()
            }
        except _SPARK_ERRORS as error:
            if isinstance(error, AnalysisException) and error.getCondition() in _ABSENT:
                return None
            raise self._unusable("open", table, error) from None
        return int(properties.get(VERSION_PROPERTY, 0))

    def _unusable(self, action: str, table: str, error: Exception) -> InputError:
        words = first_line(error)
        hint = ""
        if "S3AFileSystem not found" in words:
            hint = ". Start the job with spark-submit --packages org.apache.hadoop:hadoop-aws:VERSION, that of your Spark's Hadoop"
        elif self.in_catalog:
            hint = f". This Spark may not know such a catalog; a folder of that name is --output ./{self.output}"
        return InputError(f"cannot {action} {self.sql_name(table)}: {words}{hint}")

    def read(self, table: str, version: int | None = None) -> DataFrame:
        """Return the table as it is now, or as it was at a version."""
        reader = self._spark.read if version is None else self._spark.read.option("versionAsOf", version)
        if self.in_catalog:
            return reader.table(self.sql_name(table))
        return reader.format("delta").load(self._path(table))

    def replace_batch(self, table: str, rows: DataFrame, batch: Batch) -> None:
        """Make `rows` the whole content of `batch`, and of what its files left in other batches, in
        one commit."""
        self.replace_where(table, rows, replaced_rows(batch))

    def replace_where(self, table: str, rows: DataFrame, condition: str, **options: str | int) -> None:
        """Put `rows` in the place of those for which the SQL `condition` holds, in one commit.
        options: of Delta's writer."""
        self._save(table, rows.write.mode("overwrite").options(**options).option("replaceWhere", condition))

    def replace_table(self, table: str, rows: DataFrame) -> None:
        """Make `rows` the whole content of the table, and give it back without partitions, in one
        commit."""
        self._save(table, rows.write.mode("overwrite").option("overwriteSchema", "true"))

    def append(
        self, table: str, rows: DataFrame, sequence: tuple[str, int] | None = None, **options: str | int
    ) -> None:
        """Add `rows`, in one commit.

        sequence: a name and a number; nothing is added where this number or a higher one of that
        name was there before (Delta's `txnAppId` and `txnVersion`). options: of Delta's writer.
        """
        writer = rows.write.mode("append").options(**options)
        if sequence is not None:
            writer = writer.option("txnAppId", sequence[0]).option("txnVersion", sequence[1])
        self._save(table, writer)

    def delete(self, table: str, condition: str) -> None:
        """Delete the rows for which the SQL `condition` holds."""
        self._spark.sql(f"DELETE FROM {self.sql_name(table)} WHERE {condition}")

    def delete_matching(self, table: str, other: str, key: str, condition: str, within: str = "TRUE") -> None:
        """Delete the rows whose `key` is that of a row in the table `other` for which the SQL
        `condition` holds.

        within: a condition on the rows `t` of the table itself; what lies outside may be written by
        others at the same time.
        """
        self._spark.sql(
            f"MERGE INTO {self.sql_name(table)} t USING (SELECT {key} FROM {self.sql_name(other)} WHERE {condition}) o "
            f"ON {within} AND t.{key} = o.{key} WHEN MATCHED THEN DELETE"
        )

    def _save(self, table: str, writer: DataFrameWriter) -> None:
        if self.in_catalog:
            writer.format("delta").saveAsTable(self.sql_name(table))
        else:
            writer.format("delta").save(self._path(table))

    def _path(self, table: str) -> str:
        return f"{self.output}/{table}"


OPTIONAL = {"published": {"main_html"}}
"""Columns that a table may be made without."""

_SPARK_ERRORS = (PySparkException, Py4JJavaError)
"""What Spark raises for an output it cannot use: a file in its place, no right to write, an unknown
file system."""
_ABSENT = {"DELTA_MISSING_DELTA_TABLE", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST", "TABLE_OR_VIEW_NOT_FOUND"}


def replaced_rows(batch: Batch) -> str:
    """Return the SQL condition for the rows that a commit of `batch` replaces.

    Those of its number; and those that an earlier reading of its files left under other numbers.
    The first part prunes partitions, which Delta does for a condition on `batch` alone.
    """
    again = [file for file in batch.files if file.has_earlier_rows]
    if not again:
        return f"batch = {batch.number}"
    names = [file.warc_file for file in again]
    of_files = f"warc_file IN ({', '.join(map(quoted, names))})"
    return f"{within(touched_batches(batch))} AND (batch = {batch.number} OR {of_files})"


def touched_batches(batch: Batch) -> set[int]:
    """Return the numbers of the batches in which a commit of `batch` puts or replaces rows."""
    replaced = {file.replaces for file in batch.files if file.replaces is not None}
    return {batch.number, *replaced, *(number for file in batch.files for number in file.supersedes)}


def within(numbers: Collection[int]) -> str:
    """Return the SQL condition for the rows of these batches.

    >>> within([]), within([2, 1])
    ('FALSE', 'batch IN (1, 2)')
    """
    return f"batch IN ({', '.join(map(str, sorted(numbers)))})" if numbers else "FALSE"


def as_added(field: StructField) -> StructField:
    """Return the column as it can be added to a table that has rows: they have no value in it."""
    return StructField(field.name, field.dataType, True, field.metadata)


def _column_ddl(field: StructField) -> str:
    required = "" if field.nullable else " NOT NULL"
    comment = field.metadata.get("comment")
    return f"`{field.name}` {field.dataType.simpleString()}{required}" + (
        f" COMMENT {quoted(comment)}" if comment else ""
    )
