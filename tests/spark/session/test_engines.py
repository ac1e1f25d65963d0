"""The executors of the stage `label`: on a cluster with fake GPUs it runs on those, and nothing
else does."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from dripper.errors import MachineError, SettingsError
from dripper.labels.config import load
from dripper.settings import StageSettings
from dripper.spark.run.run import run
from dripper.spark.session.capacity import is_local, properties
from dripper.spark.session.engines import engine_profile, gives_profiles, n_engines, own_workers
from support.processes import require_proc
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark

TESTS = Path(__file__).parents[2]


def test_one_engine_where_nothing_is_said_and_no_gpu_is(spark: SparkSession) -> None:
    assert n_engines(spark, StageSettings()) == 1
    assert n_engines(spark, StageSettings(engines=3)) == 3
    assert engine_profile(spark, StageSettings()) is None


def test_a_session_that_cannot_give_gpus_says_what_to_do(spark: SparkSession) -> None:
    assert not gives_profiles(spark)
    with pytest.raises(SettingsError, match=r"run jobs/preprocess\.py, jobs/label\.py and jobs/extract\.py") as caught:
        engine_profile(spark, StageSettings(gpus=1))
    assert "spark.dynamicAllocation.enabled=true" in str(caught.value)
    assert "spark.task.resource.gpu.amount=1" in str(caught.value)


def test_a_checkpoint_that_is_not_here_ends_a_local_run_before_it_begins(spark: SparkSession, tmp_path: Path) -> None:
    assert is_local(properties(spark))
    write_warc(tmp_path / "a.warc", pages(0, 1))
    settings = load(assignments=["labeler.name=encoder", f"labels.encoder.model={tmp_path}/nowhere"])
    with pytest.raises(MachineError, match="nowhere: there is no such folder"):
        run(spark, str(tmp_path / "a.warc"), str(tmp_path / "out"), settings)
    assert not (tmp_path / "out").exists()


def test_workers_are_kept_apart_while_a_stage_is_planned(spark: SparkSession) -> None:
    before = dict(spark.sparkContext.environment)
    with own_workers(spark):
        assert spark.sparkContext.environment == before | {"DRIPPER_STAGE": "label"}
    assert spark.sparkContext.environment == before
    with contextlib.suppress(ZeroDivisionError), own_workers(spark):
        raise ZeroDivisionError
    assert spark.sparkContext.environment == before


def test_a_session_without_a_context_keeps_its_platforms_workers() -> None:
    """Spark Connect: serverless, and shared clusters."""

    class Connected:
        @property
        def sparkContext(self) -> None:
            raise PySparkAttributeError(errorClass="JVM_ATTRIBUTE_NOT_SUPPORTED", messageParameters={"attr_name": "x"})

    with own_workers(Connected()):  # type: ignore[arg-type]
        pass


@pytest.mark.slow
def test_only_the_stage_label_runs_on_executors_with_gpus(tmp_path: Path, python: str) -> None:
    """Executors of two resource profiles on a standalone cluster; a script reports fake GPUs."""
    script = tmp_path / "gpus.sh"
    script.write_text('#!/bin/sh\necho \'{"name": "gpu", "addresses": ["0"]}\'\n')
    script.chmod(0o755)
    archive = write_warc(tmp_path / "a.warc", pages(1, 4))
    path = os.pathsep.join([str(TESTS.parent / "lib"), str(TESTS), os.environ.get("PYTHONPATH", "")])
    told = subprocess.run(
        [python, str(TESTS / "support" / "gpu_job.py"), str(archive), str(tmp_path / "out"), str(script)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        timeout=900,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    seen = json.loads(told.stdout.splitlines()[-1])
    assert seen["complaints"] == []
    assert seen["labelled_with"] == ["gpu"] * 4
    # The default profile is 0. Its executors have no GPU and did all the rest.
    on_gpus = [(gpus, tasks) for profile, gpus, tasks in seen["executors"] if profile != 0]
    assert on_gpus
    assert all(gpus for gpus, _ in on_gpus)
    assert not any(gpus for profile, gpus, _ in seen["executors"] if profile == 0)
    assert sum(tasks for _, tasks in on_gpus) == 1
    assert [tasks for profile, tasks in seen["stages"] if profile != 0 and tasks] == [1]
    assert sum(tasks for profile, tasks in seen["stages"] if profile == 0) > 5


@pytest.mark.slow
def test_a_lost_executor_takes_no_more_than_its_partitions_with_it(tmp_path: Path, python: str) -> None:
    """Two executors, one killed after 25 of 60 pages: with one partition an engine 47 pages were
    labelled again."""
    require_proc()
    archive = write_warc(tmp_path / "a.warc", pages(1, 60))
    path = os.pathsep.join([str(TESTS.parent / "lib"), str(TESTS), os.environ.get("PYTHONPATH", "")])
    job = subprocess.run(
        [python, str(TESTS / "support" / "lost_executor_job.py"), str(archive), str(tmp_path / "out"), "50", "25"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        timeout=900,
        start_new_session=True,
    )
    assert job.returncode == 0, job.stderr[-3000:]
    seen = json.loads(job.stdout.splitlines()[-1])
    assert (seen["complaints"], seen["exit_code"]) == ([], 0)
    assert 60 <= seen["labelled"] <= 60 + 2 * 5
