"""A run, a staged run, publishing and forgetting on this Spark and this Delta: `make test-runtimes`
takes it to every release that setup.py lets in."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import dripper.spark
from dripper.labels.config import load
from dripper.spark.ledger.forgotten import rule
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.forget import forget
from dripper.spark.upkeep.publish import publish
from support.warcs import pages, write_warc

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ALL = ["labeler.name=all", "labeler.fallback=body"]


def test_the_way_of_an_archive_from_its_first_run_to_forgetting(spark: SparkSession, tmp_path: Path) -> None:
    archive, out, staged = str(write_warc(tmp_path / "a.warc", pages(1, 4))), str(tmp_path / "out"), tmp_path / "staged"
    first = run(spark, archive, out, load(assignments=ALL))
    assert (first.exit_code, first.totals.pages, first.complaints) == (0, 4, ())

    again = run(spark, archive, str(staged), load(assignments=[*ALL, "labeler.staged=true"]))
    assert (again.exit_code, again.ledger) == (0, first.ledger)
    columns = ["page_id", "main_html", "markdown", "n_main", "method"]
    fused, by_stages = (Tables(spark, str(o)).read("extractions").select(columns).collect() for o in (out, staged))
    assert sorted(fused) == sorted(by_stages)

    assert "1 batch with 4 rows published" in publish(spark, out)
    gone = rule("url", "http://example.org/2")
    assert "1 page in 1 batch is forgotten" in " ".join(forget(spark, out, {gone}, "asked to"))
    for table in ("extractions", "published"):
        assert {row["url"][-1] for row in Tables(spark, out).read(table).collect()} == {"1", "3", "4"}

    html = spark.createDataFrame([("<title>T</title><p>One word.",)], "html string")
    assert [row["e"]["title"] for row in dripper.spark.extract_column(html, "html", column="e").collect()] == ["T"]
