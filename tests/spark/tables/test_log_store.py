"""Several writers on S3."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.errors import SettingsError
from dripper.labels.config import load
from dripper.spark.run.run import run
from dripper.spark.tables.log_store import log_store_problem, require_log_store
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.maintain import maintain

DYNAMO = "io.delta.storage.S3DynamoDBLogStore"


@pytest.mark.parametrize("output", ["out", "/data/out", "file:/out", "catalog.schema", "abfss://c@a/out", "gs://b/out"])
def test_other_storages_order_commits_themselves(output: str) -> None:
    assert log_store_problem(output, {}.get) is None


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_s3_says_what_to_set(scheme: str) -> None:
    problem = log_store_problem(f"{scheme}://b/out", {}.get) or ""
    assert f"spark.delta.logStore.{scheme}.impl={DYNAMO}" in problem
    assert "--set output.single_writer=true" in problem


@pytest.mark.parametrize("key", ["spark.delta.logStore.s3a.impl", "spark.delta.logStore.class"])
def test_a_log_store_for_several_writers_is_enough(key: str) -> None:
    assert log_store_problem("s3a://b/out", {key: DYNAMO}.get) is None
    assert log_store_problem("s3a://b/out", {key: "io.delta.storage.S3SingleDriverLogStore"}.get) is not None


def test_a_log_store_of_another_scheme_is_not() -> None:
    assert log_store_problem("s3://b/out", {"spark.delta.logStore.s3a.impl": DYNAMO}.get) is not None


def test_databricks_orders_commits_itself() -> None:
    assert log_store_problem("s3://b/out", {"spark.databricks.clusterUsageTags.clusterId": "0101-1"}.get) is None


@pytest.mark.spark
def test_no_run_begins_where_it_could_lose_anothers_commits(spark: SparkSession, sample: Path) -> None:
    """Refused before any access to the output: there is not even a file system for it here."""
    with pytest.raises(SettingsError, match=r"s3a://b/out: .*S3DynamoDBLogStore.*output.single_writer=true"):
        run(spark, str(sample), "s3a://b/out", load())
    with pytest.raises(SettingsError, match=r"output\.single_writer"):
        list(maintain(spark, "s3a://b/out"))


@pytest.mark.spark
def test_a_person_or_databricks_may_vouch_for_it(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables(spark, "s3a://b/out")
    require_log_store(spark, tables, single_writer=True)
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "17.3")
    require_log_store(spark, tables, single_writer=False)


@pytest.mark.spark
def test_the_place_of_a_catalogs_schema_is_looked_up(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA spark_catalog.placed")
    try:
        assert Tables(spark, "spark_catalog.placed").location().startswith("file:")
        assert Tables(spark, "spark_catalog.absent").location() == ""
    finally:
        spark.sql("DROP SCHEMA spark_catalog.placed")
