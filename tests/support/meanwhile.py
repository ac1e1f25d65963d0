"""A commit of another, in the middle of a commit: after Delta has begun it, before it ends."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dripper.spark.tables.store import Tables


def held_up(rows: DataFrame, begun: Path, go: Path) -> DataFrame:
    """Return `rows`; their writer creates the file `begun`, and continues when `go` exists."""
    waited, until = str(begun), str(go)

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        Path(waited).touch()
        while not Path(until).exists():
            time.sleep(0.02)
        yield from batches

    return rows.coalesce(1).mapInArrow(wait, rows.schema)


def meanwhile(frame: Callable[..., DataFrame], do: Callable[[], Any]) -> Callable[..., DataFrame]:
    """Return `frame`, but that `do` is called while the rows of its first call are written."""
    folder = Path(tempfile.mkdtemp())
    begun, go, calls = folder / "begun", folder / "go", []

    def other() -> None:
        while not begun.exists():
            time.sleep(0.02)
        try:
            do()
        finally:
            go.touch()

    def held(*args: Any) -> DataFrame:
        calls.append(args)
        if len(calls) > 1:
            return frame(*args)
        threading.Thread(target=other, daemon=True).start()
        return held_up(frame(*args), begun, go)

    return held


def optimize(spark: SparkSession, tables: Tables, table: str) -> None:
    """Join the table's files; there must be several."""
    metrics = spark.sql(f"OPTIMIZE {tables.sql_name(table)}").select("metrics.*").head()
    assert metrics["numFilesRemoved"] > 1
