"""Helpers for tests of staged runs."""

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from dripper.labels.config import load
from dripper.spark.tables.store import Tables

STAGED = load(assignments=["labeler.staged=true", "labeler.name=all", "labeler.fallback=body"])


def read(spark: SparkSession, output: Path, table: str = "extractions") -> DataFrame:
    return Tables(spark, str(output)).read(table)


def rows_of(spark: SparkSession, output: Path, table: str = "extractions") -> dict[str, dict[str, object]]:
    return {row["page_id"]: row.asDict(recursive=True) for row in read(spark, output, table).collect()}


@dataclass(frozen=True)
class Preprocessed:
    """An archive of seven pages, and an output that its stage `preprocess` has filled."""

    archive: str
    output: Path


POISON = ("http://example.org/poison", b"<p>this is poison<p>and more")
SHORT = ("http://example.org/short", b"<p>this is short<p>and more")
