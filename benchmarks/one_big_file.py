"""Tests whether one big file keeps all cores busy: times the main job on one WARC file, and on the
same pages in eight files.

    python benchmarks/one_big_file.py --megabytes 100

The pages of tests/data/sample are repeated. jobs/run.py processes both inputs in turn, on the same
two cores. Prints the ratio of wall seconds, and fails if the numbers of rows differ. CPU seconds
are also printed: on a shared machine, they show whether a run did more work or the machine was
busier.
"""

import argparse
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable

from _processes import timed_run

ROOT = Path(__file__).parents[1]
FILES = 8
CORES = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """The wall and CPU seconds of a run, and the number of rows that it wrote."""

    wall: float
    cpu: float
    rows: int


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write(folder, arguments.megabytes * 1e6)
        print(f"{size / 1e6:.0f} MB of pages from tests/data/sample, local[{CORES}] on {CORES} cores")
        ratios = []
        for number in range(1, arguments.rounds + 1):
            order = ("one", "eight") if number % 2 else ("eight", "one")
            found = {name: timed(folder / name, folder / f"out-{name}-{number}") for name in order}
            one, eight = found["one"], found["eight"]
            ratios.append(one.wall / eight.wall)
            print(
                f"round {number}: one file {one.wall:.1f} s ({one.cpu:.1f} of CPU), {FILES} files {eight.wall:.1f} s "
                f"({eight.cpu:.1f}), ratio {one.wall / eight.wall:.2f} ({one.cpu / eight.cpu:.2f}); {one.rows} rows"
            )
            if one.rows != eight.rows:
                sys.exit(f"{one.rows} rows of one file, but {eight.rows} of {FILES}")
    print(f"one file takes {statistics.median(ratios):.2f} times as long as {FILES}, median of {len(ratios)} rounds")
    return 0


def write(folder: Path, size: float) -> int:
    """Write the pages to one file, and distribute them over eight files. Return the number of
    bytes."""
    members = [file.read_bytes() for file in sorted((ROOT / "tests/data/sample").glob("*.warc.gz"))]
    for name in ("one", "eight"):
        (folder / name).mkdir()
    written = copies = 0
    with (folder / "one" / "pages.warc.gz").open("wb") as one:
        while written < size or copies % FILES:
            whole = b"".join(members)
            one.write(whole)
            with (folder / "eight" / f"{copies % FILES}.warc.gz").open("ab") as part:
                part.write(whole)
            written += len(whole)
            copies += 1
    return written


def timed(source: Path, output: Path) -> Timing:
    """Run and time the job on a folder."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    job = [sys.executable, str(ROOT / "jobs/run.py"), "--conf", str(ROOT / "conf/local.yml")]
    job += ["--set", f"spark.master=local[{CORES}]", "--warcs", str(source), "--output", str(output)]
    done = timed_run(job, cores)
    if done.code != 0:
        sys.exit(f"{' '.join(job)} failed:\n{done.stderr[-3000:]}")
    rows = DeltaTable(str(output / "extractions")).to_pyarrow_table(columns=["page_id"]).num_rows
    return Timing(done.wall, done.cpu, rows)


if __name__ == "__main__":
    sys.exit(main())
