"""Kills at random moments: the main job is started again until it ends, and its tables compared with an undisturbed run's.

    python benchmarks/torture.py --kills 100 --seed 1

Each kill takes one process of the run with SIGKILL: the driver, the JVM, an executor, a Python worker or a page process.
Runs differ in how they work: in local mode, or with executors of their own; with optimized writes, which put a shuffle before
the write; in one pass, or in stages. Now and then a second driver is started on the same output, which must end with one
sentence and change nothing. Exit code 1 where a row or the ledger differs.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from deltalake import DeltaTable

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dripper.spark.schemas import OF_RUN
from support.processes import of_session
from support.warcs import pages, write_warc

ROOT = Path(__file__).parents[1]
N_FILES, N_PAGES = 12, 15
BATCHES = ["--set", "batch.files=4"]
EXECUTORS = ["--set", "spark.master=local-cluster[2,1,1024]"]
SHUFFLE = ["--set", 'spark.properties={"spark.databricks.delta.optimizeWrite.enabled": "true"}']
STAGES = ["--set", "labeler.staged=true", "--labeler", "all"]
WAYS: dict[str, list[str]] = {
    "one pass": ["--set", "spark.master=local[2,4]"],
    "one pass, executors, optimized writes": [*EXECUTORS, *SHUFFLE],
    "stages": ["--set", "spark.master=local[2,4]", *STAGES],
    "stages, executors": [*EXECUTORS, *STAGES],
}
WHO = {
    "driver": lambda command: "jobs/run.py" in command and "java" not in command.split(" ")[0],
    "JVM": lambda command: "SparkSubmit" in command or "org.apache.spark.deploy" in command,
    "executor": lambda command: "CoarseGrainedExecutorBackend" in command,
    "worker": lambda command: "pyspark.daemon" in command or "pyspark.worker" in command,
}
"""How the processes of a run are told apart, by their command lines; page processes are forks of workers."""
LONGEST_SECONDS = 900


def start(archives: Path, output: Path, way: list[str]) -> "subprocess.Popen[str]":
    """Start the job in a session of its own."""
    job = [sys.executable, str(ROOT / "jobs/run.py"), "--conf", str(ROOT / "conf/local.yml")]
    flags = ["--warcs", str(archives), "--output", str(output), *BATCHES, *way]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYSPARK"))}
    return subprocess.Popen(
        [*job, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        start_new_session=True,
    )


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for the job's end, and leave none of its processes behind."""
    told, _ = process.communicate(timeout=LONGEST_SECONDS)
    for left in of_session(process.pid):
        os.kill(left, signal.SIGKILL)
    return process.returncode, told


def kill_one(process: "subprocess.Popen[str]", chance: random.Random) -> str | None:
    """Kill a process of the run; return which, None where the run has ended."""
    alive = of_session(process.pid)
    by_kind = {who: [pid for pid, command in alive.items() if fits(command)] for who, fits in WHO.items()}
    kinds = [who for who, found in by_kind.items() if found]
    if not kinds or process.poll() is not None:
        return None
    who = chance.choice(kinds)
    # The last of the workers are page processes.
    os.kill(chance.choice(by_kind[who]), signal.SIGKILL)
    return who


def content(output: Path) -> tuple[dict[str, object], dict[str, object]]:
    """Return the rows of `extractions` by page, and those of the ledger by file, without what differs from run to run."""
    rows = DeltaTable(str(output / "extractions")).to_pyarrow_table().to_pylist()
    ledger = DeltaTable(str(output / "warc_files")).to_pyarrow_table().to_pylist()
    assert len({row["page_id"] for row in rows}) == len(rows), "a page is there twice"
    assert len({row["warc_file"] for row in ledger}) == len(ledger), "a file is in the ledger twice"
    return tuple(
        {row[key]: {name: value for name, value in row.items() if name not in OF_RUN} for row in table}
        for key, table in (("page_id", rows), ("warc_file", ledger))
    )  # type: ignore[return-value]


def torture(archives: Path, folder: Path, way: list[str], n_kills: int, chance: random.Random) -> Counter[str]:
    """Start the job again and again, and kill it, until so many kills are done; then let it end. Return who was killed."""
    killed: Counter[str] = Counter()
    output = folder / f"out-{chance.random()}"
    while killed.total() < n_kills:
        process = start(archives, output, way)
        time.sleep(chance.uniform(8, 30))
        second = start(archives, output, way) if chance.random() < 0.2 else None
        if who := kill_one(process, chance):
            killed[who] += 1
        if second is not None:
            code, told = finish(second)
            killed["(second drivers)"] += 0 if code == 0 else 1
            assert code in (0, 3), told
        code, _ = finish(process)
        if code == 0:
            # Done in spite of the kill, or before it: the next ones want an output of their own.
            shutil.rmtree(output, ignore_errors=True)
    code, told = finish(start(archives, output, way))
    assert code == 0, told
    (folder / "last").unlink(missing_ok=True)
    (folder / "last").symlink_to(output)
    return killed


def main() -> int:
    """Run all ways, print who was killed and what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="in all (default 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--ways", default=",".join(map(str, range(len(WAYS)))), help="numbers of the ways (default all)"
    )
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    ways = [list(WAYS.items())[int(number)] for number in arguments.ways.split(",")]
    differences = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archives = folder / "archives"
        archives.mkdir()
        for i in range(N_FILES):
            write_warc(archives / f"{i}.warc.gz", pages(100 * i, N_PAGES))
        for title, way in ways:
            whole = folder / "whole"
            shutil.rmtree(whole, ignore_errors=True)
            code, told = finish(start(archives, whole, way))
            assert code == 0, told
            killed = torture(archives, folder, way, arguments.kills // len(ways), chance)
            expected, got = content(whole), content((folder / "last").resolve())
            same = [a == b for a, b in zip(expected, got, strict=True)]
            differences += same.count(False)
            print(
                f"{title}: killed {dict(killed)}; {len(got[0])} rows and {len(got[1])} ledger rows compared: "
                f"{'no difference' if all(same) else 'DIFFERENT'}",
                flush=True,
            )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
