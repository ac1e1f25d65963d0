"""An output that a first stage has filled, for tests of the stages after it."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.spark.run.run import run_stages
from support.staged_runs import POISON, SHORT, STAGED, Preprocessed
from support.warcs import pages, write_warc


@pytest.fixture(scope="session")
def template(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Preprocessed:
    folder = tmp_path_factory.mktemp("preprocessed")
    archive = str(write_warc(folder / "a.warc", [*pages(1, 3), POISON, *pages(4, 2), SHORT]))
    run_stages(spark, ["preprocess"], str(folder / "out"), STAGED, archive)
    return Preprocessed(archive, folder / "out")


@pytest.fixture
def preprocessed(template: Preprocessed, tmp_path: Path) -> Preprocessed:
    """A copy, so that a test of the stages after `preprocess` need not wait for it."""
    return Preprocessed(template.archive, shutil.copytree(template.output, tmp_path / "out"))
