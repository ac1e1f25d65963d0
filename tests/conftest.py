"""Shared fixtures: one Spark session per process, the folder of private data next to the checkout,
the sample WARCs.

`make test` and its like run the files of tests in several processes (pytest-xdist, `--dist
loadfile`): a test may share its folders, ports and environment only with the tests of its file.
README.md explains the marker `slow`.
"""

import fcntl
import os
import runpy
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"

# Engines in tests have tiny models, several in one process.
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")

# Tests are never timed: a busy machine, or a first call that loads a dictionary, is not a failure.
# The tests before a landing give the same result for the same commit, with few examples, as they
# are always the same; `make test-all` draws others each time, and more, as does `make fuzz`.
settings.register_profile("explore", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("explore"), derandomize=True, max_examples=30)
settings.load_profile("gate")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Compressed bytes include their time, but all processes must give a test the same name."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All but one of each draw are slow, and files that take long come first, so that no process
    runs one of them alone at the end."""
    for draw in _draws(items).values():
        for item in (*draw[: _commit() % len(draw)], *draw[_commit() % len(draw) + 1 :]):
            item.add_marker(pytest.mark.slow)
    weights: dict[Path, int] = {}
    for item in items:
        weight = 2 * (item.get_closest_marker("slow") is not None) + (item.get_closest_marker("spark") is not None)
        weights[item.path] = max(weights.get(item.path, 0), weight)
    items.sort(key=lambda item: -weights[item.path])


def _draws(items: list[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the tests of each draw: expensive tests of one kind, of which each commit runs one."""
    draws: dict[str, list[pytest.Item]] = {}
    for item in items:
        for mark in item.iter_markers("draw"):
            draws.setdefault(mark.args[0], []).append(item)
    return draws


@cache
def _commit() -> int:
    """Return the number of this commit; 0 outside of a checkout."""
    told = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(told.stdout or 0)


@pytest.fixture(autouse=True)
def _delta_is_fetched(request: pytest.FixtureRequest) -> None:
    """Before the first test of a process that starts Spark, in any way, its own session must have
    fetched Delta's jars."""
    if request.node.get_closest_marker("spark") and "PYTEST_XDIST_WORKER" in os.environ:
        request.getfixturevalue("spark")


@pytest.fixture(scope="session")
def setup_py() -> dict[str, Any]:
    """The names of setup.py: requirements by extra, and C modules. Nothing is built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["setup.py", "--name"])
        patch.setenv("DRIPPER_COMPILE", "0")
        return runpy.run_path(str(ROOT / "setup.py"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` next to the checkout: labelled pages and WARC files that must not be
    published."""
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


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same file."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """One session for all tests of a process: two cores, no UI, small tables, Delta; made as the
    job makes it."""
    from dripper.labels.config import load
    from dripper.spark.session.session import open_session
    from dripper.spark.tables.store import Tables
    from support.table_templates import copying

    warehouse = tmp_path_factory.mktemp("warehouse")
    settings = load(
        [ROOT / "conf" / "local.yml"],
        ["spark.master=local[2]", f"spark.properties.spark.sql.warehouse.dir={warehouse}"],
    )
    with (
        # Two sessions that fetch Delta's jars at once write the same files.
        alone(tmp_path_factory.getbasetemp().parent / "session.lock"),
        pytest.MonkeyPatch.context() as patch,
    ):
        # Workers import the test modules of the functions that they get, and their imports.
        patch.setenv("PYTHONPATH", str(ROOT / "tests"), prepend=os.pathsep)
        session = open_session(settings.spark, "tests")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tables, "bring_up", copying(Tables.bring_up, tmp_path_factory.mktemp("templates")))
        yield session
    session.stop()


@pytest.fixture(scope="session")
def python() -> str:
    """The interpreter that runs the tests."""
    return sys.executable
