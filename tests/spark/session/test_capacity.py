"""How far a session may grow: by its properties, as YARN, Kubernetes, Databricks and Spark Connect
report them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from dripper.spark.session.capacity import (
    UNTOLD_SLOTS,
    Live,
    Losses,
    count_losses,
    live,
    most_executors,
    most_slots,
    properties,
    slots,
)
from dripper.spark.tables.fence import SPARK_ERRORS

TAGS = "spark.databricks.clusterUsageTags."
DYNAMIC = {"spark.dynamicAllocation.enabled": "true"}
ON_EMR = DYNAMIC | {"spark.master": "yarn", "spark.executor.cores": "4"}
NONE_UP = Live(executors=0, slots=0)


@pytest.mark.parametrize(
    ("given", "up", "expected"),
    [
        # Dynamic allocation: its maximum counts, not the executors at the start of a job (none).
        (ON_EMR | {"spark.dynamicAllocation.maxExecutors": "20"}, NONE_UP, 80),
        (ON_EMR | {"spark.dynamicAllocation.maxExecutors": "20", "spark.task.cpus": "2"}, NONE_UP, 40),
        (ON_EMR | {"spark.dynamicAllocation.maxExecutors": "20", "spark.executor.instances": "2"}, NONE_UP, 80),
        (DYNAMIC | {"spark.master": "k8s://https://k", "spark.dynamicAllocation.maxExecutors": "9"}, NONE_UP, 9),
        # A standalone executor has all cores of its machine: the same number as in running
        # executors.
        (DYNAMIC | {"spark.master": "spark://m", "spark.dynamicAllocation.maxExecutors": "4"}, Live(1, 8), 32),
        (DYNAMIC | {"spark.master": "spark://m", "spark.dynamicAllocation.maxExecutors": "4"}, NONE_UP, UNTOLD_SLOTS),
        # No bound: Spark's default is Java's largest integer.
        (ON_EMR, NONE_UP, UNTOLD_SLOTS),
        (ON_EMR | {"spark.dynamicAllocation.maxExecutors": "2147483647"}, NONE_UP, UNTOLD_SLOTS),
        (ON_EMR | {"spark.dynamicAllocation.maxExecutors": "infinity"}, Live(100, 400), 400),
        # A fixed number of executors, some of them still on their way.
        ({"spark.master": "yarn", "spark.executor.instances": "6", "spark.executor.cores": "4"}, Live(2, 8), 24),
        ({"spark.master": "yarn", "spark.executor.instances": "6"}, NONE_UP, 6),
        ({"spark.master": "spark://m"}, Live(2, 8), 8),
        ({"spark.master": "local[2]"}, Live(0, 2), 2),
        (DYNAMIC | {"spark.master": "local[2]"}, Live(0, 2), 2),
        ({"spark.master": "spark://m"}, NONE_UP, 1),
        # Databricks: an executor a worker, all of its cores; one worker is up.
        ({TAGS + "clusterScalingType": "autoscaling", TAGS + "clusterMaxWorkers": "8"}, Live(1, 16), 128),
        ({TAGS + "clusterScalingType": "fixed_size", TAGS + "clusterWorkers": "4"}, Live(1, 16), 64),
        ({TAGS + "clusterScalingType": "fixed_size", TAGS + "clusterWorkers": "0"}, Live(0, 16), 16),
        ({TAGS + "clusterScalingType": "autoscaling"}, Live(1, 16), UNTOLD_SLOTS),
        # Spark Connect reports at most properties.
        ({}, None, UNTOLD_SLOTS),
        ({"spark.executor.instances": "10", "spark.executor.cores": "8"}, None, 80),
        # Nonsensical values are ignored.
        (ON_EMR | {"spark.dynamicAllocation.maxExecutors": "0"}, NONE_UP, UNTOLD_SLOTS),
        ({"spark.executor.instances": "6", "spark.executor.cores": "1", "spark.task.cpus": "4"}, Live(1, 3), 3),
    ],
)
def test_slots_that_a_session_may_grow_to(given: dict[str, str], up: Live | None, expected: int) -> None:
    assert most_slots(given, up) == expected


def test_executors_that_a_session_may_get() -> None:
    assert most_executors({"spark.executor.instances": "3"}) == 3
    assert most_executors(DYNAMIC | {"spark.executor.instances": "3"}) is None
    assert most_executors({}) is None


class Refusing:
    """A Connect session on serverless machines: no context, and no word of its properties."""

    @property
    def sparkContext(self) -> Any:
        raise RuntimeError("[JVM_ATTRIBUTE_NOT_SUPPORTED]")

    conf = SimpleNamespace(get=lambda name, default: [][0])


def test_a_session_that_refuses_to_tell() -> None:
    spark: Any = Refusing()
    assert live(spark) is None
    assert properties(spark) == {}
    assert slots(spark) == UNTOLD_SLOTS


@pytest.mark.spark
def test_a_session_on_one_machine(spark: Any) -> None:
    assert live(spark) == Live(executors=0, slots=2)
    assert properties(spark)["spark.master"] == "local[2]"
    assert slots(spark) == 2


@pytest.mark.spark
def test_failed_tasks_are_losses(spark: Any) -> None:
    def fail(_: int) -> None:
        raise ValueError("no such luck")

    before = count_losses(spark)
    with pytest.raises(SPARK_ERRORS, match="no such luck"):
        spark.sparkContext.parallelize([1], 1).foreach(fail)
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert count_losses(spark).describe(before) == ["1 task failed and was tried again"]
    assert count_losses(spark).describe(count_losses(spark)) == []


def test_a_session_that_reports_no_losses() -> None:
    assert count_losses(cast(SparkSession, object())) == Losses()
