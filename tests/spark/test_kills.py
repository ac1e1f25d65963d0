"""A run that is killed in the stage `label`, whichever of its processes dies: nothing of it stays, and the next run ends it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.killing import Job, assert_nothing_stays, assert_the_next_run_ends_it

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def job(python: str, tmp_path: Path) -> Iterator[Job]:
    started = Job(python, tmp_path)
    yield started
    started.end()


@pytest.mark.parametrize("who", ["driver", "jvm", "worker"])
def test_a_killed_run_leaves_nothing_behind_and_the_next_one_ends_it(
    spark: SparkSession, job: Job, tmp_path: Path, who: str
) -> None:
    assert_nothing_stays(job, who)
    assert_the_next_run_ends_it(spark, tmp_path)
