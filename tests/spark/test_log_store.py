"""Several writers on S3."""

import pytest

from dripper.spark.log_store import log_store_problem

DYNAMO = "io.delta.storage.S3DynamoDBLogStore"


@pytest.mark.parametrize("output", ["out", "/data/out", "file:/out", "catalog.schema", "abfss://c@a/out", "gs://b/out"])
def test_other_storages_order_commits_themselves(output: str) -> None:
    assert log_store_problem(output, {}.get) is None


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_s3_says_what_to_set(scheme: str) -> None:
    problem = log_store_problem(f"{scheme}://b/out", {}.get) or ""
    assert f"spark.delta.logStore.{scheme}.impl={DYNAMO}" in problem
    assert "one run at a time" in problem


@pytest.mark.parametrize("key", ["spark.delta.logStore.s3a.impl", "spark.delta.logStore.class"])
def test_a_log_store_for_several_writers_is_enough(key: str) -> None:
    assert log_store_problem("s3a://b/out", {key: DYNAMO}.get) is None
    assert log_store_problem("s3a://b/out", {key: "io.delta.storage.S3SingleDriverLogStore"}.get) is not None


def test_a_log_store_of_another_scheme_is_not() -> None:
    assert log_store_problem("s3://b/out", {"spark.delta.logStore.s3a.impl": DYNAMO}.get) is not None


def test_databricks_orders_commits_itself() -> None:
    assert log_store_problem("s3://b/out", {"spark.databricks.clusterUsageTags.clusterId": "0101-1"}.get) is None
