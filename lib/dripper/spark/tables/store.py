"""Reads and writes the Delta tables, by folder or by catalog name, one batch at a time,
atomically."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.types import StructField, StructType

from dripper.errors import InputError, StorageError
from dripper.places import output_place
from dripper.spark.tables.batches import Batch, replaced_rows, touched_batches
from dripper.spark.tables.fence import SPARK_ERRORS, Fence, persistently
from dripper.spark.tables.log import TableLog
from dripper.spark.tables.schemas import PARTITIONED, PROPERTIES, READABLE, SCHEMA_VERSION, TABLES
from dripper.spark.tables.sql import column_ddl, first_line, is_full, missing_fields, quoted, within

logger = logging.getLogger(__name__)

VERSION_PROPERTY = "dripper.schema_version"
FILES_TO_JOIN = 200
"""Every commit of a batch adds a data file to the ledger, and reading 2,800 of them takes 7 s: so
many are joined into one."""
BOOKS = frozenset({"warc_files", "runs", "forgotten", "relocated"})
"""Tables whose commits are small, and are tried again where an OPTIMIZE was first."""
_VECTORS = "delta.feature.deletionVectors"
"""A property of tables whose data files may have deletion vectors, also where they are off by
now."""
_VERSIONS_SEEN = 30
"""Versions of a table's history that are looked at: those since the last run began, which looked,
too."""
_WITHOUT_VECTORS = {
    "spark.databricks.delta.delete.deletionVectors.persistent": "false",
    "spark.databricks.delta.merge.deletionVectors.persistent": "false",
}
"""REORG alone does not do it: Delta 4.0 leaves the files of a clustered table out, as of
`published`."""
_TXN_OF_SQL = ("spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion")
"""Settings for a DELETE, MERGE or UPDATE in place of the options txnAppId and txnVersion."""


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
        self.fence: Fence | None = None
        """Fence of the run that holds the lease; None: there is no run."""
        self._changing = threading.Lock()
        place = output_place("--output", output, catalogs=True)
        self._names = place.names
        self.in_catalog = place.kind == "catalog"
        self.output = str(Path(place.text).absolute()) if place.kind == "path" else place.text

    def sql_name(self, table: str) -> str:
        """Return how SQL addresses the table: `catalog.schema.table`, or delta.`path`."""
        if self.in_catalog:
            return _join_names(*self._names, table)
        return f"delta.`{self._path(table)}`"

    def location(self) -> str:
        """Return the folder or prefix that the tables are below, of a catalog's schema too; ""
        where the catalog does not say."""
        if not self.in_catalog:
            return self.output
        try:
            rows = self._spark.sql(f"DESCRIBE SCHEMA EXTENDED {_join_names(*self._names)}").collect()
        except SPARK_ERRORS:
            # Whatever is wrong with it is told where the tables are opened.
            return ""
        return next((row[1] for row in rows if row[0] == "Location"), "") or ""

    def create(self, table: str) -> bool:
        """Make the table if it is not there, with comments on its columns; return whether it is
        new.

        One that is there gets the columns that it lacks, at its end; a user's own columns stay.
        Raises InputError if it is there with another schema version, or if something else is in its
        place.
        """
        return self.bring_up(table, self.version(table))

    def bring_up(self, table: str, version: int | None) -> bool:
        """Do as `create` does, for a table whose version is known."""
        schema, comment = TABLES[table]
        if version == SCHEMA_VERSION:
            self._add_columns(table)
            return False
        self.check_version(table, version)
        layout = "PARTITIONED BY (batch)" if table in PARTITIONED else ""
        return self.make(table, schema, comment, layout, PROPERTIES.get(table))

    def check_version(self, table: str, version: int | None) -> None:
        """Raise InputError unless a table of this schema version can be written to; None: there is
        no table."""
        if version == 0:
            raise InputError(f"{self.sql_name(table)} was made by another program: choose another --output")
        if version not in (None, SCHEMA_VERSION):
            raise InputError(
                f"{self.sql_name(table)} has schema version {version}, this release writes {SCHEMA_VERSION}: use the release "
                "that wrote the table, or choose another --output"
            )

    def make(
        self,
        table: str,
        fields: Iterable[StructField],
        comment: str,
        layout: str = "",
        properties: Mapping[str, str] | None = None,
    ) -> bool:
        """Make a table that is not there.

        Raises InputError.

        Args:
            layout: How SQL says that it is partitioned or clustered.
        """
        columns = ", ".join(column_ddl(field) for field in fields)
        table_properties = {VERSION_PROPERTY: str(SCHEMA_VERSION)} | READABLE | dict(properties or {})
        try:
            self._spark.sql(
                f"CREATE TABLE {self.sql_name(table)} ({columns}) USING delta {layout} COMMENT {quoted(comment)} "
                f"TBLPROPERTIES ({', '.join(f'{quoted(key)} = {quoted(value)}' for key, value in table_properties.items())})"
            )
        except SPARK_ERRORS as error:
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
        self._refuse_gone(table, missing)
        logger.info("%s gets the columns %s", self.sql_name(table), ", ".join(missing))
        # The rows that are there have no value in it.
        added = ((StructField(of.name, of.dataType, metadata=of.metadata), path) for path, of in missing.items())
        columns = ", ".join(column_ddl(*each) for each in added)
        try:
            self._spark.sql(f"ALTER TABLE {self.sql_name(table)} ADD COLUMNS ({columns})")
        except SPARK_ERRORS as error:
            if self._missing(table):
                raise self._unusable("add columns to", table, error) from None

    def _missing(self, table: str) -> dict[str, StructField]:
        """Return the columns that the table lacks, and the fields within columns, by their path."""
        required = [field for field in TABLES[table][0] if field.name not in OPTIONAL.get(table, set())]
        return missing_fields(StructType(required), self.read(table).schema)

    def _refuse_gone(self, table: str, missing: Mapping[str, StructField]) -> None:
        """Raise InputError where one of the columns was there: somebody renamed or dropped it."""
        name = self.sql_name(table)
        new_names = {path: "" for path, field in missing.items() if not field.nullable}
        for row in self._spark.sql(f"DESCRIBE HISTORY {name}").where(_IS_OF_COLUMNS).collect():
            of = row["operationParameters"]
            before, after = (of.get(key, "").replace("`", "") for key in ("oldColumnPath", "newColumnPath"))
            dropped = re.findall(r"[\w.]+", of.get("columns", "")) if not before else [before]
            # The newest comes first, and says what it is called now.
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

    def version(self, table: str) -> int | None:
        """Return the table's schema version; 0 for a Delta table that another program made, None if
        there is no table.

        Raises InputError where it cannot be opened.
        """
        newest = self.log(table).newest()
        if newest is not None:
            return int(newest.properties.get(VERSION_PROPERTY, 0))
        if self.log(table).is_absent():
            return None
        try:
            properties = self.properties(table)
        except SPARK_ERRORS as error:
            if isinstance(error, AnalysisException) and error.getCondition() in _ABSENT:
                return None
            raise self._unusable("open", table, error) from None
        return int(properties.get(VERSION_PROPERTY, 0))

    def log(self, table: str) -> TableLog:
        """Return the table's log, of which nothing is known in a catalog."""
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
        """Return the table as it is now, or as it was at a version."""
        reader = self._spark.read if version is None else self._spark.read.option("versionAsOf", version)
        if self.in_catalog:
            return reader.table(self.sql_name(table))
        return reader.format("delta").load(self._path(table))

    def replace_batch(self, table: str, rows: DataFrame, batch: Batch) -> tuple[str, int] | None:
        """Make `rows` the whole content of `batch`, and of what its files left in other batches, in
        one commit. Returns as `append`."""
        return self.replace_where(table, rows, replaced_rows(batch).sql)

    def replace_where(
        self,
        table: str,
        rows: DataFrame,
        condition: str,
        sequence: tuple[str, int] | None = None,
        **options: str | int,
    ) -> tuple[str, int] | None:
        """Put `rows` in the place of those for which the SQL `condition` holds, in one commit.

        Args:
            sequence: As for `append`.
            options: Of Delta's writer. Returns as `append`.
        """
        return self._save(
            table, rows.write.mode("overwrite").options(**options).option("replaceWhere", condition), sequence
        )

    def append(
        self, table: str, rows: DataFrame, sequence: tuple[str, int] | None = None, **options: str | int
    ) -> tuple[str, int] | None:
        """Add `rows`, in one commit; return the sequence that the commit has, or had, where Delta
        left it out.

        Args:
            sequence: A name and a number; nothing is added where this number or a higher one of
                that name was there before (Delta's `txnAppId` and `txnVersion`); None: those of the
                run's fence.
            options: Of Delta's writer.
        """
        return self._save(table, rows.write.mode("append").options(**options), sequence)

    def delete(self, table: str, condition: str) -> None:
        """Delete the rows for which the SQL `condition` holds."""
        self.change(table, f"DELETE FROM {self.sql_name(table)} WHERE {condition}")

    def check_deletable(self, table: str) -> None:
        """Raise InputError where no row of the table may be deleted, by its properties or by
        rights. Deletes nothing."""
        try:
            self._spark.sql(f"DELETE FROM {self.sql_name(table)} WHERE FALSE")
        except SPARK_ERRORS as error:
            raise self._unusable("delete rows of", table, error) from None

    def purge(self, table: str) -> None:
        """Let no data file have rows that are deleted: with deletion vectors, statements of others,
        or where `_WITHOUT_VECTORS` says nothing, leave them where they are, and only mark them."""
        properties = self.properties(table)
        if _VECTORS in properties or properties.get("delta.enableDeletionVectors") == "true":
            self._spark.sql(f"REORG TABLE {self.sql_name(table)} APPLY (PURGE)")

    def properties(self, table: str) -> dict[str, str]:
        """Return the properties of a table, as SQL shows them: those of Delta's protocol too.

        Table properties alone: DESCRIBE DETAIL has them too, but counts the table's files for it, 4
        times the time.
        """
        rows = self._spark.sql(f"SHOW TBLPROPERTIES {self.sql_name(table)}").collect()
        return {row["key"]: row["value"] for row in rows}

    def is_restored(self, table: str) -> bool:
        """Tell whether somebody has restored the table to an older version, in the newest part of
        its history."""
        history = self._spark.sql(f"DESCRIBE HISTORY {self.sql_name(table)} LIMIT {_VERSIONS_SEEN}")
        return not history.where("operation = 'RESTORE'").isEmpty()

    def join_files(self, table: str) -> None:
        """Join the data files that the commits of many batches left, where they are as many as
        FILES_TO_JOIN."""
        if len(self.read(table).inputFiles()) < FILES_TO_JOIN:
            return
        try:
            self._spark.sql(f"OPTIMIZE {self.sql_name(table)}")
        except SPARK_ERRORS as error:
            # The rows are there all the same, and the next run tries again.
            logger.warning("the files of %s were not joined: %s", table, first_line(error))

    def delete_matching(self, table: str, other: str, key: str, condition: str, where: str = "TRUE") -> None:
        """Delete the rows whose `key` is that of a row in the table `other` for which the SQL
        `condition` holds. key: one column, or several with commas.

        Args:
            where: A condition on the rows `t` of the table itself; what lies outside may be
                written by others at the same time.
        """
        same = " AND ".join(f"t.{name} = o.{name}" for name in key.split(", "))
        self.change(
            table,
            f"MERGE INTO {self.sql_name(table)} t USING (SELECT {key} FROM {self.sql_name(other)} WHERE {condition}) o "
            f"ON {where} AND {same} WHEN MATCHED THEN DELETE",
        )

    def delete_earlier(self, batch: Batch, tables: Iterable[str]) -> None:
        """Delete what an earlier reading of the batch's files left in tables whose rows do not name
        a file; the table `pages` tells which rows those are."""
        if any(file.has_earlier_rows for file in batch.files):
            condition, touched = replaced_rows(batch).sql, within(touched_batches(batch))
            for table in tables:
                self.delete_matching(table, "pages", "page_id", condition, f"t.{touched}")

    def change(self, table: str, statement: str) -> DataFrame:
        """Run a DELETE, MERGE or UPDATE of the table: one commit. Return what it tells of itself:
        no row, where Delta left it out."""
        results: list[DataFrame] = []

        def run(sequence: tuple[str, int] | None) -> None:
            with self._in_sequence(sequence):
                results[:] = [self._spark.sql(statement)]

        # What they are given is the session's, and so is of one statement at a time.
        with self._changing:
            self._commit(table, run)
        return results[0]

    @contextmanager
    def _in_sequence(self, sequence: tuple[str, int] | None) -> Iterator[None]:
        """Give the session's statements a sequence, and let them write data files anew rather than
        mark rows in them as deleted."""
        settings = dict(zip(_TXN_OF_SQL, map(str, sequence or ()), strict=False)) | _WITHOUT_VECTORS
        try:
            for key, value in settings.items():
                self._spark.conf.set(key, value)
        except PySparkException as error:
            # Serverless sessions take few settings. Rows are written by other ways there, too.
            logger.info("statements are not fenced: %s", first_line(error))
        try:
            yield
        finally:
            for key in settings:
                with suppress(PySparkException):
                    self._spark.conf.unset(key)

    def shut_out(self, lanes: int) -> None:
        """Put the number of this run into so many lanes of all tables that are there, so that
        commits of earlier runs that are under way fail, and later ones are left out."""
        fence = self.fence
        assert fence is not None

        def shut(table: str) -> None:
            if self.version(table) is None:
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
        """Call `do`, which commits, with the run's next sequence, and return that."""
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
"""Columns that a table may be made without."""

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
"""Error classes of Spark that say that there is no table."""


def _join_names(*names: str) -> str:
    return ".".join(f"`{name.replace('`', '``')}`" for name in names)
