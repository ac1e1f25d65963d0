"""Kills processes of the main job at random moments, restarts it until it finishes, and compares
its tables with those of an undisturbed run.

    python benchmarks/torture.py --kills 100 --seed 1

Each kill sends SIGKILL to one process: the driver, the JVM, an executor, the daemon that forks
Python workers, a worker or a page process. The job runs in several ways (WAYS). It uses local mode,
or separate executors with speculation. Some ways add optimized writes, which shuffle before
writing. The job runs in one pass or in stages, one of them with a chain of labelers by layout. It
reads whole files, or the records that an index lists.

During one run in four, a second driver starts on the same output at a random moment. It must end
with a one-sentence message and exit code 3, or take over from a dead driver. In two ways, the
tables are changed between runs, as people might do: rows deleted, tables dropped or restored, pages
forgotten, archives moved, files compacted. The next run must report the change, and a repair must
fix it. The exit code is 1 if a row or the ledger differs, a process is left behind, or a run ends
in an unexpected way.
"""

import argparse
import contextlib
import json
import logging
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.mischief import Mischief
from support.torture import KINDS, Torture, Way, cluster, prepared, undisturbed

N_FILES, N_PAGES = 8, 15
LOCAL = ["spark.master=local[2,4]"]
LOCAL_KINDS = [kind for kind in KINDS if kind != "executor"]
SHUFFLE = ["spark.properties.spark.databricks.delta.optimizeWrite.enabled=true"]
STAGES = ["labeler.staged=true"]
CHAIN_BY_LAYOUT = ["labeler.name=cpu,slow_true", "layouts.enabled=true"]
EXECUTORS = [
    f"spark.properties.spark.{name}={value}"
    for name, value in {
        "driver.host": "127.0.0.1",
        "cores.max": "2",
        "executor.cores": "1",
        "executor.memory": "512m",
        "executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "sql.shuffle.partitions": "2",
        "databricks.delta.snapshotPartitions": "1",
        # Starts a second copy of tasks that still run after most tasks have ended.
        "speculation": "true",
        "speculation.quantile": "0.5",
        "speculation.multiplier": "1.01",
        "speculation.interval": "50ms",
    }.items()
]
WAYS = {
    "one pass": Way(LOCAL, LOCAL_KINDS),
    "one pass, executors, speculation": Way(EXECUTORS, KINDS, needs_cluster=True),
    "one pass, executors, speculation, optimized writes": Way([*EXECUTORS, *SHUFFLE], KINDS, needs_cluster=True),
    "stages": Way([*LOCAL, *STAGES], LOCAL_KINDS),
    "stages, executors, speculation, optimized writes": Way([*EXECUTORS, *SHUFFLE, *STAGES], KINDS, needs_cluster=True),
    "one pass, records of an index": Way(LOCAL, LOCAL_KINDS, selects=True),
    "stages, a chain by layout": Way([*LOCAL, *CHAIN_BY_LAYOUT], LOCAL_KINDS),
    "one pass, people": Way(LOCAL, LOCAL_KINDS, people=True),
    "stages, people": Way([*LOCAL, *STAGES], LOCAL_KINDS, people=True),
}


def tortured(folder: Path, way: Way, n_kills: int, chance: random.Random) -> tuple[Torture, int]:
    """Return the results of the kills, and the number of tasks with a second copy."""
    events = folder / "events"
    events.mkdir(exist_ok=True)
    logged = {"enabled": "true", "compress": "false", "dir": events}
    told = [f"spark.properties.spark.eventLog.{name}={value}" for name, value in logged.items()]
    job = prepared(folder, [*way.settings, *told], N_FILES, N_PAGES, way.selects)
    with contextlib.ExitStack() as stack:
        leader = None
        if way.needs_cluster:
            master, leader = stack.enter_context(cluster(folder, job.path))
            job = prepared(folder, [*job.settings, f"spark.master={master}"], N_FILES, N_PAGES, way.selects)
        seconds, expected = undisturbed(job, folder / "whole")
        torture = Torture(job, way.kinds, chance, expected, seconds, leader)
        torture.meddle = Mischief(chance) if way.people else None
        torture.until(folder, n_kills)
    return torture, sum(file.read_bytes().count(b'"Speculative":true') for file in events.rglob("*") if file.is_file())


def main() -> int:
    """Run the job in all ways, and print the killed processes and the differences. Return 1 if
    there are differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="in all (default 20)")
    parser.add_argument("--seed", type=int, default=1)
    every = ",".join(map(str, range(len(WAYS))))
    parser.add_argument("--ways", default=every, help=f"numbers of the ways (default {every})")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    ways = [list(WAYS.items())[int(number)] for number in arguments.ways.split(",")]
    differences = 0
    for number, (title, way) in enumerate(ways):
        with tempfile.TemporaryDirectory() as name:
            n_kills = arguments.kills // len(ways) + (number < arguments.kills % len(ways))
            torture, speculative = tortured(Path(name), way, n_kills, random.Random(arguments.seed + number))
        if torture.meddle is not None:
            print(f"people: {json.dumps(torture.meddle.report())}")
            torture.differences += torture.meddle.differences
        differences += len(torture.differences)
        print(f"{title} (undisturbed {torture.seconds:.0f} s)")
        print(f"  killed: {json.dumps(torture.killed)}; runs by who died and exit code: {json.dumps(torture.codes)}")
        print(f"  second drivers: {json.dumps(torture.seconds_told)}; second copies of tasks: {speculative}")
        print(f"  {torture.rows} rows of {torture.outputs} outputs compared; differences: {len(torture.differences)}")
        for difference in torture.differences[:20]:
            print(f"    {difference}")
        sys.stdout.flush()
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
