"""Reads Delta tables with one reader: `python read_tables.py READER CASES` prints a JSON line for
each case in the file CASES (see write_tables.py).

A line is {"rows": …, "count": …, "found": …}: the rows as text, the reader's row count, and the
rows that a filter returns. Each value is the name of an error if the reader fails.
"""

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

Rows = list[list[str | None]]
Condition = tuple[str, Any]
Answer = Callable[[], Any]
Reader = Callable[[str, list[str], Condition], tuple[Answer, Answer, Answer]]
"""Takes a table's folder, its columns and a condition. Returns three functions: for the rows, the
row count, and the rows that meet the condition."""


def as_text(value: Any) -> Any:
    """Return a value as text in Spark's format, whatever type the reader uses."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if value.tzinfo else value.isoformat()
    if isinstance(value, float):
        return "NaN" if value != value else str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return sorted([key, as_text(one)] for key, one in value.items() if one is not None)
    if isinstance(value, list | tuple):
        items = [as_text(one) for one in value]
        # The items of a map are pairs, or structs of key and value.
        if items and all(
            isinstance(one, list) and [part[0] for part in one if isinstance(part, list)] == ["key", "value"]
            for one in items
        ):
            return sorted([one[0][1], one[1][1]] for one in items)
        return sorted(items, key=str) if items and all(isinstance(one, tuple) for one in value) else items
    return value if value is None else value.isoformat() if isinstance(value, date) else str(value)


def to_rows(table: Any, columns: list[str]) -> Rows:
    """Return the rows of an Arrow table as text, sorted. Raises KeyError if a column is missing."""
    rows = [[as_text(row[name]) for name in columns] for row in table.to_pylist()]
    return sorted(rows, key=str)


def by_spark(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """Spark, used as its documentation recommends for Delta tables."""
    from pyspark.sql import functions as F

    frame = spark_session().read.format("delta").load(folder)
    # Spark 4.0 cannot convert a VARIANT to Arrow.
    variants = [field.name for field in frame.schema if field.dataType.typeName() == "variant"]
    shown = frame.withColumns({name: F.to_json(name) for name in variants})
    return (
        lambda: shown.toArrow(),
        lambda: frame.count(),
        lambda: shown.where(F.col(where[0]) == F.lit(where[1])).toArrow(),
    )


@cache
def spark_session() -> Any:
    """Return a Spark session with Delta that runs one task at a time."""
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = configure_spark_with_delta_pip(builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def by_deltalake(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """`DeltaTable.to_pyarrow_table` and `DeltaTable.count`."""
    from deltalake import DeltaTable

    table = DeltaTable(folder)
    return (
        lambda: table.to_pyarrow_table(),
        lambda: table.count(),
        lambda: table.to_pyarrow_table(filters=[(where[0], "=", where[1])]),
    )


def by_query_builder(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """deltalake's SQL interface."""
    import pyarrow as pa
    from deltalake import DeltaTable, QueryBuilder

    table = DeltaTable(folder)

    def ask(query: str) -> Any:
        return pa.table(QueryBuilder().register("t", table).execute(query).read_all())

    return (
        lambda: ask("SELECT * FROM t"),
        lambda: ask("SELECT count(*) AS n FROM t")["n"][0].as_py(),
        lambda: ask(f"SELECT * FROM t WHERE {in_sql(where)}"),
    )


def by_polars(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """`polars.scan_delta`."""
    import polars as pl

    frame = pl.scan_delta(folder)
    return (
        lambda: frame.collect().to_arrow(),
        lambda: frame.select(pl.len()).collect().item(),
        lambda: frame.filter(pl.col(where[0]) == where[1]).collect().to_arrow(),
    )


def by_duckdb(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """`delta_scan` from DuckDB's Delta extension."""
    database = duckdb_with_delta()

    def ask(query: str) -> Any:
        return database.execute(query).fetch_arrow_table()

    return (
        lambda: ask(f"SELECT * FROM delta_scan('{folder}')"),
        lambda: ask(f"SELECT count(*) AS n FROM delta_scan('{folder}')")["n"][0].as_py(),
        lambda: ask(f"SELECT * FROM delta_scan('{folder}') WHERE {in_sql(where)}"),
    )


@cache
def duckdb_with_delta() -> Any:
    """Return a database with the Delta extension, which is in a separate package."""
    import duckdb
    import duckdb_extension_delta

    (file,) = Path(duckdb_extension_delta.__file__).parent.rglob("*.duckdb_extension*")
    database = duckdb.connect()
    database.execute(f"LOAD '{file}'")
    database.execute("SET TimeZone = 'UTC'")
    return database


def by_daft(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """`daft.read_deltalake`."""
    import daft

    frame = daft.read_deltalake(folder)
    return (
        lambda: frame.to_arrow(),
        lambda: frame.count_rows(),
        lambda: frame.where(daft.col(where[0]) == where[1]).to_arrow(),
    )


def by_datafusion(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """DataFusion with deltalake's table as table provider."""
    from datafusion import SessionContext
    from deltalake import DeltaTable

    context = SessionContext()
    context.register_table("t", DeltaTable(folder))
    return (
        lambda: context.sql("SELECT * FROM t").to_arrow_table(),
        lambda: context.sql("SELECT count(*) AS n FROM t").to_arrow_table()["n"][0].as_py(),
        lambda: context.sql(f"SELECT * FROM t WHERE {in_sql(where)}").to_arrow_table(),
    )


def by_chdb(folder: str, columns: list[str], where: Condition) -> tuple[Answer, Answer, Answer]:
    """`deltaLakeLocal` of chDB."""
    import chdb

    os.chdir("/")  # chDB reads only files below its working directory
    fits = in_sql(where, "toDateTime64('{}', 6, 'UTC')")

    def ask(query: str) -> Any:
        # By default, chDB returns strings as binary Arrow columns.
        return chdb.query(
            f"{query} SETTINGS output_format_arrow_string_as_string=1, session_timezone='UTC'", "ArrowTable"
        )

    return (
        lambda: ask(f"SELECT * FROM deltaLakeLocal('{folder}')"),
        lambda: ask(f"SELECT count() AS n FROM deltaLakeLocal('{folder}')")["n"][0].as_py(),
        lambda: ask(f"SELECT * FROM deltaLakeLocal('{folder}') WHERE {fits}"),
    )


READERS: dict[str, Reader] = {
    "Spark": by_spark,
    "deltalake": by_deltalake,
    "QueryBuilder": by_query_builder,
    "Polars": by_polars,
    "DuckDB": by_duckdb,
    "Daft": by_daft,
    "DataFusion": by_datafusion,
    "chDB": by_chdb,
}


def in_sql(where: Condition, time: str = "TIMESTAMP '{}+00:00'") -> str:
    """Return a condition as SQL. `time` is the format of a UTC timestamp literal."""
    name, value = where
    if isinstance(value, datetime):
        value = time.format(value.replace(tzinfo=None).isoformat(sep=" "))
    elif isinstance(value, str):
        value = f"'{value}'"
    return f'"{name}" = {value}'


def typed(find: list[str]) -> Condition:
    """Return the filter condition of a case, with the value converted to its column's type."""
    name, text = find
    if name == "at":
        return name, datetime.fromisoformat(text)
    return name, int(text) if name == "id" else float(text) if name == "score" else text


def ask_one(answer: Answer) -> Any:
    """Call `answer`. Return its result, or the name of the error."""
    try:
        return answer()
    except BaseException as error:  # Rust panics are not subclasses of Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"{type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
        return type(error).__name__


def answer_case(reader: Reader, folder: str, columns: list[str], find: list[str]) -> dict[str, Any]:
    """Return a reader's results for one table."""
    answers = ask_one(lambda: reader(folder, columns, typed(find)))
    if isinstance(answers, str):
        return {"rows": answers, "count": answers, "found": answers}
    rows, count, found = answers
    return {
        "rows": ask_one(lambda: to_rows(rows(), columns)),
        "count": ask_one(lambda: int(count())),
        "found": ask_one(lambda: to_rows(found(), columns)),
    }


def main(name: str, cases: str) -> None:
    """Print a line for each case."""
    for folder, case, columns, _, find in json.loads(Path(cases).read_text()):
        print(case, file=sys.stderr)
        print(json.dumps(answer_case(READERS[name], folder, columns, find)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
