"""Reads and writes the Delta tables of an output. Each batch is written in a single commit."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from time import sleep

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.types import StructField, StructType

from dripper.errors import InputError, StorageError
from dripper.parse_place import output_place
from dripper.release import describe_release
from dripper.spark.tables.batches import Batch, replaced_rows, touched_batches
from dripper.spark.tables.data_files import DATA_FILES, ORDER, WITHOUT_VECTORS
from dripper.spark.tables.fence import SPARK_ERRORS, Fence, persistently
from dripper.spark.tables.log import TableLog
from dripper.spark.tables.refused import undo_refused, undo_required
from dripper.spark.tables.schemas import PARTITIONED, PROPERTIES, READABLE, SCHEMA_VERSION, TABLES
from dripper.spark.tables.session_settings import SharedSettings
from dripper.spark.tables.sql import column_ddl, first_line, is_full, missing_fields, quoted, within

logger = logging.getLogger(__name__)

VERSION_PROPERTY = "dripper.schema_version"
_OLDER_RELEASES = {1: "a release of before 24 November 2026, or read the archives again"}
FILES_TO_JOIN = 200
"""Minimum number of data files for `Tables.join_files`. Every commit of a batch adds a data file to
the ledger, and reading 2,800 such files takes 7 s."""
BOOKS = frozenset({"warc_files", "runs", "forgotten", "relocated"})
"""Small tables. A commit to one of them is retried if it conflicts with an OPTIMIZE."""
_VECTORS = "delta.feature.deletionVectors"
"""A property of tables that may contain deletion vectors, even if deletion vectors are now turned
off."""
_VERSIONS_SEEN = 30
"""Number of versions to check in a table's history, newest first. They must reach back only to the
start of the last run, which did the same check."""
_TXN_OF_SQL = ("spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion")
"""Session settings that have the effect of the options txnAppId and txnVersion. DELETE, MERGE and
UPDATE accept no options."""
_IS_THERE = re.compile("NON_EMPTY_LOCATION|ALREADY_EXISTS")


class Tables:
    """The tables of one output: a folder, an `s3a://` prefix, or `catalog.schema`.

    Page tables are partitioned by `batch`. A commit replaces the whole batch, so writing the batch
    again after a kill gives the same rows.
    """

    def __init__(self, spark: SparkSession, output: str) -> None:
        if not output.strip():
            raise InputError("--output is empty: give a folder, an s3a:// prefix, or catalog.schema")
        self._spark = spark
        self.fence: Fence | None = None
        """The fence of the run that holds the lease; None if there is no run."""
        self._changing = threading.Lock()
        self._writing = SharedSettings(spark, WITHOUT_VECTORS | DATA_FILES)
        place = output_place("--output", output, catalogs=True)
        self._names = place.names
        self.in_catalog = place.kind == "catalog"
        self.output = str(Path(place.text).absolute()) if place.kind == "path" else place.text

    def sql_name(self, table: str) -> str:
        """Return the table's name in SQL: `catalog.schema.table`, or delta.`path`."""
        if self.in_catalog:
            return _join_names(*self._names, table)
        return f"delta.`{self._path(table)}`"

    def location(self) -> str:
        """Return the folder or prefix of the tables, also for a catalog schema; "" if unknown."""
        if not self.in_catalog:
            return self.output
        try:
            rows = self._spark.sql(f"DESCRIBE SCHEMA EXTENDED {_join_names(*self._names)}").collect()
        except SPARK_ERRORS:
            # Any problem with the schema is reported when the tables are opened.
            return ""
        return next((row[1] for row in rows if row[0] == "Location"), "") or ""

    def create(self, table: str) -> bool:
        """Create the table if it does not exist. Return whether it is new.

        If the table exists, missing columns are added at its end. A user's own columns are kept.
        Raises InputError as `exists` does.
        """
        return self.bring_up(table, self.exists(table))

    def bring_up(self, table: str, is_there: bool) -> bool:
        """Like `create`, but for callers that know the result of `exists` (`is_there`)."""
        if is_there:
            self._add_columns(table)
            return False
        schema, comment = TABLES[table]
        layout = "PARTITIONED BY (batch)" if table in PARTITIONED else ""
        return self.make(table, schema, comment, layout, PROPERTIES.get(table))

    def exists(self, table: str) -> bool:
        """Return whether the table exists, and check that this release can work with it.

        Every command calls this before it reads or writes a table. Therefore all commands reject
        the same outputs.

        Raises:
            InputError: If the table has another schema version, was created by another program, has
                properties that block a run's writes, or cannot be opened.
        """
        found = self._find(table)
        if found is None:
            return False
        properties, schema = found
        name, version = self.sql_name(table), int(properties.get(VERSION_PROPERTY, 0))
        if not version:
            raise InputError(
                f"{name} was made by another program, or removed beside a run: choose another --output, or move it away"
            )
        if version != SCHEMA_VERSION:
            raise InputError(
                f"{name} has schema version {version}, this release ({describe_release()}) writes {SCHEMA_VERSION}: "
                f"use {_OLDER_RELEASES.get(version, 'a newer release')}, or choose another --output"
            )
        if undo := undo_refused(name, properties) or undo_required(name, TABLES[table][0], schema):
            raise InputError(f"{name} {undo}, then run the same command again")
        return True

    def find_existing(self) -> set[str]:
        """Return the names of the tables that exist. Raises InputError as `exists` does."""
        # Check in parallel, because each check mostly waits for the file system.
        with ThreadPoolExecutor(max_workers=len(TABLES)) as pool:
            return {name for name, is_there in zip(TABLES, pool.map(self.exists, TABLES), strict=True) if is_there}

    def require(self, *tables: str) -> set[str]:
        """Return the names of all existing tables.

        Raises InputError if none of `tables` exists, or as `exists` does.
        """
        existing = self.find_existing()
        if existing.isdisjoint(tables):
            raise InputError(f"--output {self.output}: there is no table {' or '.join(tables)}; jobs/run.py makes it")
        return existing

    def make(
        self,
        table: str,
        fields: Iterable[StructField],
        comment: str,
        layout: str = "",
        properties: Mapping[str, str] | None = None,
    ) -> bool:
        """Create a table that does not exist. Return whether this call created it.

        Args:
            layout: SQL clause that partitions or clusters the table.

        Raises:
            InputError: If the table cannot be created.
        """
        columns = ", ".join(column_ddl(field) for field in fields)
        table_properties = {VERSION_PROPERTY: str(SCHEMA_VERSION)} | READABLE | dict(properties or {})
        try:
            self._spark.sql(
                f"CREATE TABLE {self.sql_name(table)} ({columns}) USING delta {layout} COMMENT {quoted(comment)} "
                f"TBLPROPERTIES ({_list_properties(table_properties)})"
            )
        except SPARK_ERRORS as error:
            # Another driver may have created the table first, or may be creating it now: then the
            # folder is not empty, but has no version yet. The lease decides which driver may write.
            for seconds in (0, 1, 2) if _IS_THERE.search(str(error)) else (0,):
                sleep(seconds)
                if self._find(table):
                    return not self.exists(table)
            raise self._unusable("create", table, error) from None
        return True

    def _add_columns(self, table: str) -> None:
        missing = self._missing(table)
        if not missing:
            return
        self._refuse_gone(table, missing)
        logger.info("%s gets the columns %s", self.sql_name(table), ", ".join(missing))
        # Declare the column nullable, because existing rows have no value in it.
        added = ((StructField(of.name, of.dataType, metadata=of.metadata), path) for path, of in missing.items())
        columns = ", ".join(column_ddl(*each) for each in added)
        try:
            self._spark.sql(f"ALTER TABLE {self.sql_name(table)} ADD COLUMNS ({columns})")
        except SPARK_ERRORS as error:
            if self._missing(table):
                raise self._unusable("add columns to", table, error) from None

    def _missing(self, table: str) -> dict[str, StructField]:
        """Return the columns, and the fields within columns, that the table lacks, keyed by
        path."""
        required = [field for field in TABLES[table][0] if field.name not in OPTIONAL.get(table, set())]
        return missing_fields(StructType(required), self.read(table).schema)

    def _refuse_gone(self, table: str, missing: Mapping[str, StructField]) -> None:
        """Raise InputError if somebody renamed or dropped one of the missing columns."""
        name = self.sql_name(table)
        new_names = {path: "" for path, field in missing.items() if not field.nullable}
        for row in self._spark.sql(f"DESCRIBE HISTORY {name}").where(_IS_OF_COLUMNS).collect():
            of = row["operationParameters"]
            before, after = (of.get(key, "").replace("`", "") for key in ("oldColumnPath", "newColumnPath"))
            dropped = re.findall(r"[\w.]+", of.get("columns", "")) if not before else [before]
            # The newest row of the history comes first. It has the column's current name.
            new_names = {
                path: after for path in missing if path.lower() in [each.lower() for each in dropped]
            } | new_names
        if new_names:
            path, now = next(iter(new_names.items()))
            cure = f"name it so again (ALTER TABLE {name} RENAME COLUMN `{now}` TO `{path}`)" if now else "restore it"
            raise InputError(
                f"{name} had the column {path}, which was {f'renamed to {now}' if now else 'dropped'}: {cure}, or choose "
                "another --output"
            )

    def _find(self, table: str) -> tuple[dict[str, str], StructType] | None:
        """Return a table's properties and columns; None if the table does not exist.

        Raises InputError if the table cannot be opened.
        """
        newest = self.log(table).newest()
        if newest is not None:
            return newest.properties, newest.schema
        if self.log(table).is_absent():
            return None
        try:
            return self.properties(table), self.read(table).schema
        except SPARK_ERRORS as error:
            if isinstance(error, AnalysisException) and error.getCondition() in _ABSENT:
                return None
            raise self._unusable("open", table, error) from None

    def log(self, table: str) -> TableLog:
        """Return the table's log. The log of a table in a catalog cannot be read."""
        return TableLog(self._spark, None if self.in_catalog else self._path(table))

    def _unusable(self, action: str, table: str, error: Exception) -> InputError | StorageError:
        words = first_line(error).rstrip(".")
        if is_full(error):
            return StorageError(
                f"cannot {action} {self.sql_name(table)}: {words}; run the same command again when there is"
            )
        hint = ""
        if "S3AFileSystem not found" in words:
            hint = ". Start the job with spark-submit --packages org.apache.hadoop:hadoop-aws:VERSION, that of your Spark's Hadoop"
        elif "ALREADY_EXISTS" in words and not self.in_catalog:
            hint = (
                ". It has files but no Delta log: put its folder _delta_log back, or move the table's folder away, start the "
                "run again, and do as it then says"
            )
        elif self.in_catalog:
            hint = f". This Spark may not know such a catalog; a folder of that name is --output ./{self.output}"
        return InputError(f"cannot {action} {self.sql_name(table)}: {words}{hint}")

    def read(self, table: str, version: int | None = None) -> DataFrame:
        """Return the current table, or the table at a version."""
        reader = self._spark.read if version is None else self._spark.read.option("versionAsOf", version)
        if self.in_catalog:
            return reader.table(self.sql_name(table))
        return reader.format("delta").load(self._path(table))

    def replace_batch(self, table: str, rows: DataFrame, batch: Batch) -> tuple[str, int] | None:
        """Replace a batch with `rows` in one commit. Returns the same as `append`.

        The commit also replaces rows that earlier readings of the batch's files left in other
        batches.
        """
        return self.replace_where(table, rows, replaced_rows(batch).sql)

    def replace_where(
        self,
        table: str,
        rows: DataFrame,
        condition: str,
        sequence: tuple[str, int] | None = None,
        **options: str | int,
    ) -> tuple[str, int] | None:
        """Replace the rows for which the SQL `condition` holds with `rows` in one commit.

        Returns the same as `append`.

        Args:
            sequence: As for `append`.
            options: Options of Delta's writer.
        """
        return self._save(
            table,
            self._sort(table, rows).write.mode("overwrite").options(**options).option("replaceWhere", condition),
            sequence,
        )

    def append(
        self, table: str, rows: DataFrame, sequence: tuple[str, int] | None = None, **options: str | int
    ) -> tuple[str, int] | None:
        """Add `rows` in one commit. Return the commit's sequence, even if Delta skipped the commit.

        Args:
            sequence: A name and a number (Delta's `txnAppId` and `txnVersion`). Delta skips the
                commit if the table has already seen this number or a higher one under that name. If
                None, use the next sequence of the run's fence.
            options: Options of Delta's writer.
        """
        return self._save(table, self._sort(table, rows).write.mode("append").options(**options), sequence)

    def _sort(self, table: str, rows: DataFrame) -> DataFrame:
        return rows.sortWithinPartitions(*ORDER[table]) if table in ORDER else rows

    def delete(self, table: str, condition: str) -> None:
        """Delete the rows for which the SQL `condition` holds."""
        self.change(table, f"DELETE FROM {self.sql_name(table)} WHERE {condition}")

    def check_deletable(self, table: str) -> None:
        """Raise InputError if a table property or a missing permission prevents deleting rows.

        Nothing is deleted.
        """
        try:
            self._spark.sql(f"DELETE FROM {self.sql_name(table)} WHERE FALSE")
        except SPARK_ERRORS as error:
            raise self._unusable("delete rows of", table, error) from None

    def purge(self, table: str) -> None:
        """Remove deleted rows from the data files.

        A deletion vector marks rows as deleted but leaves them in the files. Other programs can
        write deletion vectors, and so can statements that `WITHOUT_VECTORS` does not cover.
        """
        properties = self.properties(table)
        if _VECTORS in properties or properties.get("delta.enableDeletionVectors") == "true":
            self._spark.sql(f"REORG TABLE {self.sql_name(table)} APPLY (PURGE)")

    def properties(self, table: str) -> dict[str, str]:
        """Return a table's properties as SQL shows them, including properties of Delta's protocol.

        DESCRIBE DETAIL also returns them but takes 4 times as long, because it counts the table's
        files.
        """
        rows = self._spark.sql(f"SHOW TBLPROPERTIES {self.sql_name(table)}").collect()
        return {row["key"]: row["value"] for row in rows}

    def is_restored(self, table: str) -> bool:
        """Return whether the table was recently restored to an older version (RESTORE)."""
        history = self._spark.sql(f"DESCRIBE HISTORY {self.sql_name(table)} LIMIT {_VERSIONS_SEEN}")
        return not history.where("operation = 'RESTORE'").isEmpty()

    def join_files(self, table: str) -> None:
        """Join the table's small data files if it has at least FILES_TO_JOIN files."""
        if len(self.read(table).inputFiles()) < FILES_TO_JOIN:
            return
        try:
            self.optimize(table)
        except SPARK_ERRORS as error:
            # The rows are not affected, and the next run tries again.
            logger.warning("the files of %s were not joined: %s", table, first_line(error))

    def optimize(self, table: str, settings: Mapping[str, str] | None = None) -> tuple[int, int]:
        """Join the small data files of a table. If the table is clustered, cluster its rows.

        Return the numbers of files removed and added.

        Args:
            settings: Session settings for Delta's command.
        """
        with self._writing.set(), SharedSettings(self._spark, settings or {}).set():
            metrics = self._spark.sql(f"OPTIMIZE {self.sql_name(table)}").select("metrics.*").head()
        assert metrics is not None
        return metrics["numFilesRemoved"], metrics["numFilesAdded"]

    def set_layout(self, table: str, properties: Mapping[str, str]) -> list[str]:
        """Set the `properties` that are missing from the table, and return their names.

        Values that a user has chosen are kept.
        """
        known = self.properties(table)
        lacking = {key: value for key, value in properties.items() if key not in known}
        if lacking:
            self._spark.sql(f"ALTER TABLE {self.sql_name(table)} SET TBLPROPERTIES ({_list_properties(lacking)})")
        return sorted(lacking)

    def delete_matching(self, table: str, other: str, key: str, condition: str, where: str = "TRUE") -> None:
        """Delete the rows that have the same `key` as certain rows of the table `other`.

        Args:
            key: A column, or several columns separated by ", ".
            condition: SQL condition that selects the rows of `other`.
            where: SQL condition on the table's own rows `t`. Other drivers can write rows outside
                this condition at the same time.
        """
        same = " AND ".join(f"t.{name} = o.{name}" for name in key.split(", "))
        self.change(
            table,
            f"MERGE INTO {self.sql_name(table)} t USING (SELECT {key} FROM {self.sql_name(other)} WHERE {condition}) o "
            f"ON {where} AND {same} WHEN MATCHED THEN DELETE",
        )

    def delete_earlier(self, batch: Batch, tables: Iterable[str]) -> None:
        """Delete earlier rows of the batch's files from tables without a file name column.

        The rows are found through the `pages` table.
        """
        if any(file.has_earlier_rows for file in batch.files):
            condition, touched = replaced_rows(batch).sql, within(touched_batches(batch))
            for table in tables:
                self.delete_matching(table, "pages", "page_id", condition, f"t.{touched}")

    def change(self, table: str, statement: str) -> DataFrame:
        """Run a DELETE, MERGE or UPDATE on the table in one commit.

        Return the statement's metrics, which are empty if Delta skipped the commit.
        """
        results: list[DataFrame] = []

        def run(sequence: tuple[str, int] | None) -> None:
            with self._in_sequence(sequence):
                results[:] = [self._spark.sql(statement)]

        # The sequence is a session setting, so only one statement at a time can use it.
        with self._changing:
            self._commit(table, run)
        return results[0]

    def _in_sequence(self, sequence: tuple[str, int] | None) -> AbstractContextManager[object]:
        """Apply this sequence to the session's statements inside the context."""
        return SharedSettings(self._spark, dict(zip(_TXN_OF_SQL, map(str, sequence or ()), strict=False))).set()

    def shut_out(self, lanes: int) -> None:
        """Write this run's number to the first `lanes` lanes of all existing tables.

        Commits of earlier runs then fail if they are in progress, and Delta skips their later
        commits.
        """
        fence = self.fence
        assert fence is not None

        def shut(table: str) -> None:
            if not self.exists(table):
                return
            nothing = self._spark.createDataFrame([], self.read(table).schema)
            for lane in range(lanes):
                sequence = fence.sequence(lane)
                persistently(partial(self.append, table, nothing, sequence), fence.confirm)

        tables = TABLES.keys() - {"evaluations"}
        with ThreadPoolExecutor(max_workers=len(tables)) as pool:
            list(pool.map(shut, sorted(tables)))

    def _save(
        self, table: str, writer: DataFrameWriter, sequence: tuple[str, int] | None = None
    ) -> tuple[str, int] | None:
        def save(transaction: tuple[str, int] | None) -> None:
            if transaction is not None:
                writer.option("txnAppId", transaction[0]).option("txnVersion", transaction[1])
            if self.in_catalog:
                writer.format("delta").saveAsTable(self.sql_name(table))
            else:
                writer.format("delta").save(self._path(table))

        if sequence is None:
            return self._commit(table, save)
        save(sequence)
        return sequence

    def _commit(self, table: str, do: Callable[[tuple[str, int] | None], None]) -> tuple[str, int] | None:
        """Call `do`, which commits, with the next sequence of the run. Return the sequence."""
        with self._writing.set():
            return self._commit_fenced(table, do)

    def _commit_fenced(self, table: str, do: Callable[[tuple[str, int] | None], None]) -> tuple[str, int] | None:
        if self.fence is None:
            do(None)
            return None
        with self.fence.lane(table) as sequence:
            if table in BOOKS:
                persistently(lambda: do(sequence), self.fence.confirm)
            else:
                do(sequence)
        return sequence

    def _path(self, table: str) -> str:
        return f"{self.output}/{table}"


OPTIONAL = {"published": {"main_html"}}
"""Columns that may be missing from an existing table, keyed by table."""

_IS_OF_COLUMNS = "operation IN ('RENAME COLUMN', 'DROP COLUMNS')"
_ABSENT = frozenset(
    {
        "DELTA_MISSING_DELTA_TABLE",
        "DELTA_PATH_DOES_NOT_EXIST",
        "DELTA_TABLE_NOT_FOUND",
        "PATH_NOT_FOUND",
        "TABLE_OR_VIEW_NOT_FOUND",
    }
)
"""Spark error classes that mean that a table does not exist."""


def _list_properties(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(key)} = {quoted(value)}" for key, value in properties.items())


def _join_names(*names: str) -> str:
    return ".".join(f"`{name.replace('`', '``')}`" for name in names)
