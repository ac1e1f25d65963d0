"""Tests which executor gets which GPU: a staged run on a real YARN with simulated GPUs, on one
machine.

    python benchmarks/yarn/gpus.py [--only one|three|shared]

The only node of MiniYarn.java has two GPUs, reported by a fake nvidia-smi. The configuration comes
from conf/emr: gpu.json, and the GPU group of instance_groups.json. YARN's own GPU plugin finds the
GPUs, and its scheduler assigns one to each executor of the `label` stage. YARN's own handler passes
the GPUs that a container must not use to container-executor. This program is fake, too. It records
these GPUs, and the fake nvidia-smi then hides them in the container, as NVIDIA's hides GPUs that
the kernel denies. Only the cgroups are therefore not tested.

Cases: `one` runs all stages in one command, with `stages.gpus=1`. `three` runs each stage as a
separate command, `label` with Spark's GPU properties. Both follow conf/emr/spark.conf. `shared` is
like `one`, but without isolation, so that both engines are expected on the same GPU. The labeler
(tests/support/gpu_labeler.py) waits until two engines have started. Needs PYTHONPATH=tests, what
benchmarks/yarn/run.py needs, and 10 GiB of memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable

from run import ROOT, environment, yarn
from support.gpu_labeler import MEETING
from support.warcs import pages, write_warc

N_PAGES = 8
N_GPUS = 2
NVIDIA_SMI = """\
#!/bin/sh
# What nvidia-smi says where the GPUs in the file named after the container are denied it.
denied=$(cat "{folder}/denied/${{CONTAINER_ID:-none}}" 2> /dev/null)
index=0
[ "$1" != -x ] || echo '<nvidia_smi_log><driver_version>pretended</driver_version>'
for minor in {minors}; do
    case ,$denied, in *,$minor,*) continue ;; esac
    case $1 in
        -x) echo "<gpu><product_name>pretended</product_name><uuid>GPU-$minor</uuid><minor_number>$minor</minor_number></gpu>" ;;
        --query-gpu=index) echo "$index" ;;
        --query-gpu=uuid) echo "GPU-$minor" ;;
        *) exit 1 ;;
    esac
    index=$((index + 1))
done
[ "$1" != -x ] || echo '</nvidia_smi_log>'
"""
CONTAINER_EXECUTOR = """\
#!/bin/sh
# YARN calls: container-executor --module-gpu --container_id ID [--excluded_gpus 0,1]
[ "$1" = --checksetup ] && exit 0
[ "$1 $2" = '--module-gpu --container_id' ] || exit 1
echo "${{5:-}}" > "{folder}/denied/$3"
"""
DISCOVERY = """\
#!/bin/sh
# As Spark's own getGpusResources.sh.
addresses=$("{folder}/bin/nvidia-smi" --query-gpu=index --format=csv,noheader | sed 's/.*/"&"/' | paste -s -d , -)
echo "{{\\"name\\": \\"gpu\\", \\"addresses\\": [$addresses]}}"
"""
SMALL = {
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
"""Properties that make a job of eight pages faster."""
STAGES = {
    "gpus": "1",
    "engines": "2",
    "commit_pages": "10",
    "executor_cores": "2",
    "executor_memory": "900m",
    "executor_memory_overhead": "1g",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A call of submit.sh. `flags` are passed to spark-submit."""

    job: str
    arguments: Sequence[str]
    flags: Sequence[str] = ()


def main() -> int:
    """Run the cases, and print the GPU of each engine. Return 1 if a case is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("one", "three", "shared"), help="one of the cases")
    only = parser.parse_args().only
    print("case / container / address told / CUDA_VISIBLE_DEVICES / GPU / pages", flush=True)
    failed = False
    for name in (only,) if only else ("one", "three", "shared"):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            prepare(folder)
            with yarn(folder, nodes=1, properties=cluster(folder, isolates=name != "shared")):
                commands = three_commands(folder) if name == "three" else one_command(folder)
                failed |= bool(try_case(folder, name, commands, 1 if name == "shared" else N_GPUS))
    return int(failed)


def prepare(folder: Path) -> None:
    """Write the archive, the fake programs, and the metadata that registers the labeler."""
    write_warc(folder / "a.warc", pages(1, N_PAGES))
    for name in ("bin", "denied", "events", "labeler-1.dist-info"):
        (folder / name).mkdir()
    minors = " ".join(map(str, range(N_GPUS)))
    programs = {"nvidia-smi": NVIDIA_SMI, "container-executor": CONTAINER_EXECUTOR, "gpus.sh": DISCOVERY}
    for name, text in programs.items():
        program = folder / "bin" / name
        program.write_text(text.format(folder=folder, minors=minors))
        program.chmod(0o755)
    (folder / "labeler-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: labeler\nVersion: 1\n")
    (folder / "labeler-1.dist-info/entry_points.txt").write_text(
        "[dripper.labelers]\ngpu = support.gpu_labeler:ENTRY\n"
    )


def cluster(folder: Path, *, isolates: bool) -> dict[str, str]:
    """Return the YARN properties for GPU nodes from conf/emr, with the paths of the fake
    programs."""
    properties: dict[str, str] = {}
    groups = json.loads((ROOT / "conf/emr/instance_groups.json").read_text())
    of_nodes = [part for group in groups for part in group.get("Configurations", [])]
    for part in [*json.loads((ROOT / "conf/emr/gpu.json").read_text()), *of_nodes]:
        if part["Classification"] != "container-executor":  # container-executor is fake, so its settings do not apply.
            properties |= part["Properties"]
    executor = (
        "MiniYarn$GpuExecutor" if isolates else "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"
    )
    return properties | {
        "yarn.nodemanager.resource-plugins.gpu.path-to-discovery-executables": str(folder / "bin"),
        "yarn.nodemanager.container-executor.class": executor,
        "yarn.nodemanager.linux-container-executor.path": str(folder / "bin/container-executor"),
        "yarn.minicluster.yarn.nodemanager.resource.memory-mb": "10240",
    }


def one_command(folder: Path) -> list[Command]:
    """Return the single command for a cluster with both kinds of nodes."""
    settings = STAGES | {"gpu_discovery_script": f"{folder}/bin/gpus.sh"}
    flags = [flag for key, value in settings.items() for flag in ("--set", f"stages.{key}={value}")]
    return [Command("run", ["--warcs", str(folder / "a.warc"), "--labeler", "gpu", *flags])]


def three_commands(folder: Path) -> list[Command]:
    """Return the commands for separate clusters, each with one kind of node."""
    gpus = {
        "spark.executor.resource.gpu.amount": "1",
        "spark.task.resource.gpu.amount": "1",
        "spark.executor.resource.gpu.discoveryScript": f"{folder}/bin/gpus.sh",
    }
    flags = [flag for key, value in gpus.items() for flag in ("--conf", f"{key}={value}")]
    label = ["--labeler", "gpu", "--set", "stages.commit_pages=10", "--set", "stages.engines=2"]
    return [
        Command("preprocess", ["--warcs", str(folder / "a.warc"), "--labeler", "gpu"]),
        Command("label", label, flags),
        Command("extract", []),
    ]


def try_case(folder: Path, name: str, commands: Sequence[Command], n_gpus: int) -> list[str]:
    """Run the commands on one output, print the engines that labelled pages, and return the
    problems found.

    Args:
        n_gpus: The expected number of different GPUs of the two engines.
    """
    output, meeting = folder / "out", folder / "meeting"
    meeting.mkdir()
    problems = [problem for command in commands if (problem := run_job(folder, command, output, meeting))]
    engines: Counter[str] = Counter()
    if not problems:
        versions = DeltaTable(output / "labels").to_pyarrow_table(columns=["labeler_version"])
        engines.update(versions["labeler_version"].to_pylist())
        problems += check(engines, DeltaTable(output / "extractions").to_pyarrow_table().num_rows, n_gpus)
    for version, n_pages in sorted(engines.items()):
        print(f"{name} / {' / '.join(version.split())} / {n_pages}", flush=True)
    notes = {file.name: file.read_text().strip() for file in (folder / "denied").iterdir()}
    without = sum(len(denied.split(",")) == N_GPUS for denied in notes.values())
    print(
        f"{name}: {without} of {len(notes)} containers had no GPU. {'; '.join(problems) or 'as expected'}", flush=True
    )
    return problems


def check(engines: Mapping[str, int], n_rows: int, n_gpus: int) -> list[str]:
    """Return the problems with the engines and the number of rows. `engines` maps a version string
    (see `GpuLabeler`) to its number of pages."""
    problems = []
    containers, told, visible, gpus = zip(*(version.split() for version in engines), strict=True)
    if n_rows != N_PAGES or sum(engines.values()) != N_PAGES:
        problems.append(f"{N_PAGES} pages expected, {sum(engines.values())} were labelled, {n_rows} are rows")
    if len(set(containers)) != len(engines) or len(engines) != 2:
        problems.append("one engine in each of two containers expected")
    if told != visible:
        problems.append("a worker uses another address than it was told")
    if len(set(gpus)) != n_gpus:
        problems.append(f"{n_gpus} different GPUs expected")
    return problems


def run_job(folder: Path, command: Command, output: Path, meeting: Path) -> str:
    """Run a command with submit.sh. Return the error output, or "" on success."""
    paths = os.pathsep.join(map(str, (folder, ROOT / "lib", ROOT / "tests")))
    given = environment(folder)
    executors = {"PYTHONPATH": paths, "PATH": f"{folder}/bin:{os.environ['PATH']}", MEETING: str(meeting)}
    flags = [part for name, value in executors.items() for part in ("--conf", f"spark.executorEnv.{name}={value}")]
    flags += [part for name, value in SMALL.items() for part in ("--conf", f"{name}={value}")]
    flags += command.flags
    given["SPARK_SUBMIT_FLAGS"] += " " + " ".join(flags)
    told = subprocess.run(
        [str(ROOT / "conf/emr/submit.sh"), *command.arguments, "--output", str(output)],
        cwd=folder,
        env=os.environ | given | {"JOB": command.job, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode == 0:
        return ""
    lines = [line for line in told.stderr.splitlines() if " INFO " not in line and not line.startswith("\tat ")]
    return "\n".join([f"{command.job} ended with {told.returncode}: {told.stdout[-1000:]}", *lines[-30:]])


if __name__ == "__main__":
    sys.exit(main())
