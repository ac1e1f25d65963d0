"""conf/emr/submit.sh with a fake spark-submit and yarn that only record their arguments."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dripper.spark.tables.log_store import log_store_problem

ROOT = Path(__file__).parents[1]

SPARK_SUBMIT = """#!/usr/bin/env bash
printf '%s\\n' "$@" > "$TOLD"
while (($#)); do
    if [[ $1 == --files ]]; then cp ${2//,/ } "$(dirname "$TOLD")"; fi
    shift
done
echo 'records of the job'
echo 'INFO Client: Application report for application_17_0042' >&2
[[ -z ${STATUS:-} ]] || echo "diagnostics: User application exited with status $STATUS" >&2
exit "${CODE:-0}"
"""
"""Keeps its arguments and the files that it is given; CODE is its exit code, STATUS the job's in
cluster mode."""

YARN = """#!/usr/bin/env bash
case "$*" in
    "applicationattempt -list application_17_0042")
        printf 'AM-Container-Id\\nFINISHED container_e07_17_0042_01_000001 http://h\\n' ;;
    "logs -applicationId application_17_0042 -containerId container_e07_17_0042_01_000001 -log_files stdout")
        [[ -e $TOLD.asked ]] || { touch "$TOLD.asked"; exit 1; }
        printf 'Container: c\\nLogContents:\\n61 = 61 pages\\n\\nEnd of LogType:stdout\\n****\\n' ;;
    *) exit 1 ;;
esac
"""
"""Has the log at the second time of asking, as YARN needs a moment to collect it."""


class Emr:
    """A node of a cluster with fake programs."""

    def __init__(self, folder: Path) -> None:
        self.told = folder / "submitted" / "told"
        self.told.parent.mkdir()
        self._folder = folder
        for name, program in (("spark-submit", SPARK_SUBMIT), ("yarn", YARN)):
            (folder / name).write_text(program)
            (folder / name).chmod(0o755)

    def submit(self, *flags: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        fakes = {name.upper().replace("-", "_"): str(self._folder / name) for name in ("spark-submit", "yarn")}
        of_node = {"TOLD": str(self.told), "PYTHON": sys.executable, "PAUSE_SECONDS": "0", **fakes}
        return subprocess.run(
            [str(ROOT / "conf/emr/submit.sh"), *flags],
            env={"PATH": os.environ["PATH"], **of_node, **environment},
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def arguments(self) -> list[str]:
        return self.told.read_text().splitlines()


@pytest.fixture
def emr(tmp_path: Path) -> Emr:
    return Emr(tmp_path)


def test_the_code_of_this_folder_is_shipped_unless_it_is_installed(emr: Emr) -> None:
    assert emr.submit("--warcs", "w").returncode == 0
    assert re.search(r"\n--py-files\n\S+/dripper\.zip\n.*jobs/run\.py\n--warcs\nw$", "\n".join(emr.arguments()))
    assert emr.submit("--warcs", "w", INSTALLED="1", JOB="label").returncode == 0
    assert "--py-files" not in emr.arguments()
    assert emr.arguments()[-3:] == [str(ROOT / "jobs/label.py"), "--warcs", "w"]


def test_the_clusters_own_properties_stay_in_force(emr: Emr) -> None:
    """With --properties-file Spark reads no spark-defaults.conf, with its dynamic allocation, event
    log and class path."""
    emr.submit("--warcs", "w", SPARK_SUBMIT_FLAGS="--master local[2] --conf spark.executor.cores=1")
    arguments = emr.arguments()
    assert "--properties-file" not in arguments
    lines = (ROOT / "conf/emr/spark.conf").read_text().splitlines()
    properties = ["=".join(line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]
    assert len(properties) > 5
    assert [value for name, value in pairwise(arguments) if name == "--conf"] == [
        *properties,
        "spark.executor.cores=1",
    ]
    # Later ones win.
    assert arguments.index("local[2]") > arguments.index("yarn")


def test_client_mode_takes_arguments_and_exit_codes_as_they_are(emr: Emr) -> None:
    told = emr.submit("--warcs", "@my list", "--conf", "c.yml", CODE="3")
    assert told.returncode == 3
    assert told.stdout == "records of the job\n"
    arguments = emr.arguments()
    assert arguments[-4:] == ["--warcs", "@my list", "--conf", "c.yml"]
    assert arguments[:4] == ["--master", "yarn", "--deploy-mode", "client"]
    assert "spark.yarn.maxAppAttempts=1" not in arguments


def test_files_of_the_node_travel_to_the_driver(emr: Emr, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for name in ("c.yml", "other/c.yml", "my list.gz", "b.list"):
        (tmp_path / name).write_text(name)
    warcs = "@my list.gz,s3://b/c.warc.gz,@s3://b/list,@b.list"
    told = emr.submit(
        *("--dry-run", "--conf", "c.yml", "--warcs", warcs, "--conf=other/c.yml", "--redo=@b.list", "--set", "a=@b"),
        MODE="cluster",
    )
    assert told.returncode == 0, told.stderr
    arguments = emr.arguments()
    assert arguments[-9:] == [
        *("--dry-run", "--conf", "0-c.yml"),
        *("--warcs", "@1-my_list.gz,s3://b/c.warc.gz,@s3://b/list,@2-b.list"),
        *("--conf=3-c.yml", "--redo=@4-b.list", "--set", "a=@b"),
    ]
    files = arguments[arguments.index("--files") + 1].split(",")
    assert [Path(file).name for file in files] == ["0-c.yml", "1-my_list.gz", "2-b.list", "3-c.yml", "4-b.list"]
    assert not Path(files[0]).exists()
    assert (emr.told.parent / "3-c.yml").read_text() == "other/c.yml"


def test_the_log_store_for_several_writers_is_one_variable(emr: Emr, tmp_path: Path) -> None:
    told = emr.submit("--warcs", "w", DYNAMODB="eu-central-1")
    assert (told.returncode, len(told.stderr.splitlines())) == (2, 1)
    assert "there is no /usr/share/aws/delta/lib/delta-storage-s3-dynamodb.jar; name Delta's" in told.stderr
    jar = tmp_path / "store.jar"
    jar.touch()
    assert emr.submit("--warcs", "w", DYNAMODB="eu-central-1", LOG_STORE_JAR=str(jar)).returncode == 0
    properties = dict(value.split("=", 1) for name, value in pairwise(emr.arguments()) if name == "--conf")
    assert properties["spark.jars"].endswith(f"/delta-storage.jar,{jar}")
    assert properties["spark.io.delta.storage.S3DynamoDBLogStore.ddb.region"] == "eu-central-1"
    for scheme in ("s3", "s3a"):
        assert log_store_problem(f"{scheme}://b/out", properties.get) is None


@pytest.mark.parametrize(
    ("flags", "mode", "words"),
    [
        (("--conf", "gone.yml"), "cluster", "--conf: there is no file gone.yml on this machine"),
        (("--warcs", "a,@gone.list"), "cluster", "--warcs: there is no file gone.list on this machine"),
        (("--warcs", "a"), "clutser", "MODE=clutser: it is client (the driver runs on this node) or cluster"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(emr: Emr, flags: tuple[str, ...], mode: str, words: str) -> None:
    told = emr.submit(*flags, MODE=mode)
    assert told.returncode == 2
    assert words in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert not emr.told.exists()


@pytest.mark.parametrize(
    ("of_spark", "of_job", "code"),
    [("0", "", 0), ("1", "2", 2), ("1", "3", 3), ("1", "4", 4), ("1", "", 1), ("137", "", 137)],
)
def test_cluster_mode_exits_as_the_job_did_and_tells_what_it_said(
    emr: Emr, of_spark: str, of_job: str, code: int
) -> None:
    told = emr.submit("--warcs", "w", MODE="cluster", CODE=of_spark, STATUS=of_job)
    assert told.returncode == code
    assert told.stdout == "records of the job\n61 = 61 pages\n"
    assert told.stderr.endswith("the driver's whole log: yarn logs -applicationId application_17_0042\n")
    # YARN must not run it again by itself.
    assert "spark.yarn.maxAppAttempts=1" in emr.arguments()


def test_yarn_keeps_containers_from_the_gpus_of_others() -> None:
    """YARN's path and the path that the bootstrap action mounts must be equal."""
    of_cluster = json.loads((ROOT / "conf/emr/gpu.json").read_text())
    (with_gpus,) = [group for group in instance_groups() if "Configurations" in group]
    assert with_gpus["InstanceType"].startswith("g")
    sites = {each["Classification"]: each for each in [*of_cluster, *with_gpus["Configurations"]]}
    yarn = {**of_cluster[0]["Properties"], **sites["yarn-site"]["Properties"]}
    executor = {each["Classification"]: each["Properties"] for each in sites["container-executor"]["Configurations"]}
    place = yarn["yarn.nodemanager.linux-container-executor.cgroups.mount-path"]
    assert yarn["yarn.resource-types"] == yarn["yarn.nodemanager.resource-plugins"] == "yarn.io/gpu"
    assert (executor["gpu"], executor["cgroups"]["root"]) == ({"module.enabled": "true"}, place)
    assert executor["cgroups"]["yarn-hierarchy"] == yarn["yarn.nodemanager.linux-container-executor.cgroups.hierarchy"]
    assert f"cgroupv1-devices {place}/devices" in (ROOT / "conf/emr/gpu_isolation.sh").read_text()
    assert "Dominant" in sites["capacity-scheduler"]["Properties"]["yarn.scheduler.capacity.resource-calculator"]


def test_yarn_looks_for_gpus_only_where_there_are_any() -> None:
    """A NodeManager that should use GPUs does not start without nvidia-smi."""
    of_cluster = json.loads((ROOT / "conf/emr/gpu.json").read_text())
    assert not [key for part in of_cluster for key in part["Properties"] if key.startswith("yarn.nodemanager.")]
    assert {group["InstanceGroupType"]: "Configurations" in group for group in instance_groups()} == {
        "MASTER": False,
        "CORE": False,
        "TASK": True,
    }


def instance_groups() -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = json.loads((ROOT / "conf/emr/instance_groups.json").read_text())
    return groups


BOOTSTRAP = """#!/bin/sh
# sudo, aws and pip: what is installed is written down.
case $1 in
    *pip) [ "$3" = --quiet ] && [ "$4" = --constraint ] && echo "$6" >> "$TOLD" ;;
    s3) case $3 in s3*whl) : > "$4/dripper-1-py3-none-any.whl" ;; esac ;;
esac
exit 0
"""


@pytest.mark.parametrize(("vendor", "extras"), [("0x10de", "cluster,gpu"), ("0x1d0f", "cluster")])
def test_engines_are_installed_where_a_gpu_is(tmp_path: Path, vendor: str, extras: str) -> None:
    (tmp_path / "pci/one").mkdir(parents=True)
    (tmp_path / "pci/one/vendor").write_text(f"{vendor}\n")
    for name in ("sudo", "aws"):
        (tmp_path / name).write_text(BOOTSTRAP)
        (tmp_path / name).chmod(0o755)
    command = [str(ROOT / "conf/emr/bootstrap.sh"), "s3://b/d.whl", "s3://b/c.txt", "cluster", "cluster,gpu"]
    given = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TOLD": str(tmp_path / "told"), "PCI": str(tmp_path / "pci")}
    subprocess.run(["sh", *command], env=given, check=True)
    assert (tmp_path / "told").read_text().endswith(f".whl[{extras}]\n")
