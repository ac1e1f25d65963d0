"""A run that is killed in the stage `label`, whichever of its processes dies: nothing of it
remains, and the next run finishes its work."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.spark.run.run import run_stages
from support.killing import SETTINGS, Job, assert_nothing_stays, assert_the_next_run_ends_it, write_archive

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def preprocessed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive and an output that its stage `preprocess` has filled."""
    folder = tmp_path_factory.mktemp("preprocessed")
    run_stages(spark, ["preprocess"], str(folder / "out"), SETTINGS, str(write_archive(folder)))
    return folder


@pytest.fixture
def job(python: str, preprocessed: Path, tmp_path: Path) -> Iterator[Job]:
    shutil.copytree(preprocessed / "out", tmp_path / "out")
    started = Job(python, tmp_path, archive=preprocessed / "a.warc")
    yield started
    started.end()


@pytest.mark.parametrize("who", ["driver", "jvm", "worker"])
def test_a_killed_run_leaves_nothing_behind_and_the_next_one_ends_it(
    spark: SparkSession, job: Job, tmp_path: Path, who: str
) -> None:
    assert_nothing_stays(job, who)
    assert_the_next_run_ends_it(spark, job, tmp_path)
