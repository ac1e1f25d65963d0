"""What tests share: one Spark session a run, the folder of private data beside the checkout, the sample WARCs."""

import os
import runpy
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"

# Tests are never timed: a busy machine, or a first call that loads a dictionary, is no failure.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def setup_py() -> dict[str, Any]:
    """The names of setup.py: what it requires, by extra, and what it compiles. Nothing is built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["setup.py", "--name"])
        patch.setenv("DRIPPER_COMPILE", "0")
        return runpy.run_path(str(ROOT / "setup.py"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout: labelled pages and WARC files that are not ours to publish."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the folder ../shared with the labelled pages and WARC files is not there")
    return SHARED


@pytest.fixture(scope="session")
def archives(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 130 WARC and ARC files of `shared`, good and broken, unpacked."""
    folder = tmp_path_factory.mktemp("archives")
    with tarfile.open(shared / "data" / "warc.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def sample() -> Path:
    """The WARC files that `make run` reads."""
    return ROOT / "tests" / "data" / "sample"


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """One session for all tests: two cores, no UI, small tables, Delta; made as the job makes it."""
    from dripper.config import load
    from dripper.spark.session import open_session

    settings = load([ROOT / "conf" / "local.yml"], ["spark.master=local[2]"])
    with pytest.MonkeyPatch.context() as patch:
        # Workers import the test modules whose functions they are sent, and what those import.
        patch.setenv("PYTHONPATH", str(ROOT / "tests"), prepend=os.pathsep)
        session = open_session(settings.spark, "tests")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def python() -> str:
    """The interpreter that runs the tests."""
    return sys.executable
