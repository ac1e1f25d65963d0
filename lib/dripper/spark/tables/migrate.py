"""Tables of an older release are brought up to this one, by the first run that writes into them.

From schema version 1 to 2: a file's key is its canonical address, not its path as it was typed. So
the rows of files whose path was typed in another way get the address, and the page ids that are
made of it; of a file that was read several times under several names, the rows of its last whole
reading stay. The ledger is not partitioned by batch any more. Columns that a table lacks are added
by `Tables.create`.
"""

import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.errors import InputError
from dripper.spark.tables.schemas import PROPERTIES, SCHEMA_VERSION, TABLES
from dripper.spark.tables.sql import quoted
from dripper.spark.tables.store import VERSION_PROPERTY, Tables
from dripper.warc.open.identity import canonical_address

logger = logging.getLogger(__name__)

_PAGE_ID = (
    "substring(sha2(concat(s.address, '\\n', if(array_contains(t.flags, 'inflated offset'), '+', ''), "
    "cast(t.warc_offset AS string)), 256), 1, 32)"
)
"""`dripper.warc.read.pages.page_id` in SQL."""


def tables_to_migrate(tables: Tables, versions: Sequence[int | None], names: Sequence[str]) -> list[str]:
    """Return those of `names` that are of an older version. Raises InputError where one is of a
    newer one."""
    for name, version in zip(names, versions, strict=True):
        if version is not None and version > SCHEMA_VERSION:
            raise InputError(
                f"{tables.sql_name(name)} has schema version {version}, this release writes {SCHEMA_VERSION}: use the release "
                "that wrote the table, or a newer one"
            )
        if version == 0:
            raise InputError(f"{tables.sql_name(name)} was made by another program: choose another --output")
    return [name for name, version in zip(names, versions, strict=True) if version not in (None, SCHEMA_VERSION)]


def migrate(spark: SparkSession, tables: Tables) -> None:
    """Bring all tables below the output up to SCHEMA_VERSION. A kill at any time leaves what
    another call goes on with: the ledger, whose version says that it is still to do, comes last."""
    ledger = tables.read("warc_files").select("warc_file", "batch", "state", "finished_at").collect()
    logger.info("%s is of an older release: its tables are migrated", tables.output)
    renamed, dropped = renamings([row.asDict() for row in ledger])
    others = [name for name in TABLES if name not in ("warc_files", "runs") and tables.version(name) == 1]
    for name in others:
        _rename(spark, tables, name, renamed, dropped)
        _stamp(spark, tables, name)
    _migrate_ledger(spark, tables, renamed, dropped)


def renamings(ledger: Sequence[dict[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Return the new address of every file that has another, and the names of files that were read
    again under another name.

    A relative path means the file of that name in the working folder, if there is one; else it
    stays, as nobody knows what it meant.
    """
    by_address: dict[str, list[dict[str, Any]]] = {}
    for row in ledger:
        by_address.setdefault(_address(row["warc_file"]), []).append(row)
    renamed, dropped = {}, []
    for address, rows in by_address.items():
        *others, kept = sorted(
            rows, key=lambda row: (row["state"] == "done", str(row["finished_at"]), row["warc_file"])
        )
        dropped += [row["warc_file"] for row in others]
        if kept["warc_file"] != address:
            renamed[kept["warc_file"]] = address
    return renamed, dropped


def _address(name: str) -> str:
    is_relative = "://" not in name and not Path(name.removeprefix("file:")).is_absolute()
    return name if is_relative and not Path(name).exists() else canonical_address(name)


def _rename(spark: SparkSession, tables: Tables, table: str, renamed: dict[str, str], dropped: Sequence[str]) -> None:
    if "warc_file" not in tables.read(table).columns:
        return
    addresses = renamed if table == "extractions" else {}
    if addresses and tables.read(table).where(F.col("warc_file").isin(list(addresses))).isEmpty():
        # A kill came after this: what is called as one of `dropped` was, may be a renamed file by
        # now.
        dropped = [name for name in dropped if name not in addresses.values()]
    gone = dropped if addresses else [*dropped, *renamed]
    if not (gone or addresses):
        return
    with _view(spark, [*addresses.items(), *((name, "") for name in gone)]) as view:
        if table == "pages":
            # What lies between stages is made again, under the new page ids.
            for other in ("blocks", "labels"):
                tables.delete_matching(other, "pages", "page_id", f"warc_file IN (SELECT name FROM {view})")
        tables.change(
            table,
            f"MERGE INTO {tables.sql_name(table)} t USING {view} s ON t.warc_file = s.name "
            "WHEN MATCHED AND s.address = '' THEN DELETE "
            f"WHEN MATCHED THEN UPDATE SET t.page_id = {_PAGE_ID}, t.warc_file = s.address",
        )


@contextmanager
def _view(spark: SparkSession, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Give the name of a view of (name, address) that is there inside."""
    view = f"renamed_{uuid.uuid4().hex}"
    spark.createDataFrame(list(rows), "name string, address string").createOrReplaceTempView(view)
    try:
        yield view
    finally:
        spark.catalog.dropTempView(view)


def _migrate_ledger(spark: SparkSession, tables: Tables, renamed: dict[str, str], dropped: Sequence[str]) -> None:
    names = spark.createDataFrame([*renamed.items(), *((name, "") for name in dropped)], "name string, address string")
    rows = tables.read("warc_files")
    joined = rows.join(F.broadcast(names), rows["warc_file"] == names["name"], "left")
    # Rows between stages of a renamed file were deleted: its batch begins again.
    touched = [row["batch"] for row in joined.where("name IS NOT NULL").select("batch").distinct().collect()]
    begins_again = F.col("state").isin("preprocessed", "labelled") & F.col("batch").isin(touched)
    kept = (
        joined.where("address IS NULL OR address <> ''")
        .withColumn("warc_file", F.coalesce("address", "warc_file"))
        .withColumn("state", F.when(begins_again, "planned").otherwise(F.col("state")))
        .drop("name", "address")
    )
    tables.replace_table("warc_files", kept)
    _stamp(spark, tables, "warc_files")


def _stamp(spark: SparkSession, tables: Tables, table: str) -> None:
    told = {VERSION_PROPERTY: str(SCHEMA_VERSION)} | PROPERTIES.get(table, {})
    properties = ", ".join(f"{quoted(key)} = {quoted(value)}" for key, value in told.items())
    spark.sql(f"ALTER TABLE {tables.sql_name(table)} SET TBLPROPERTIES ({properties})")
