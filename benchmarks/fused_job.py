"""Compares the pages per second of the main job and of datatrove with Trafilatura, on one core and
the same WARC files.

    python benchmarks/fused_job.py --data ../shared/data --peer-python .venv-bench/bin/python

Both jobs run in turn, pinned to one core, first on the files and then on five copies of them. The
difference between the two runs is the cost of pages. The rest of the first run is the fixed cost
(JVM, jars, commits, closing counts). The pages that each job lost are counted.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from _warcs import write_archives

ROOT = Path(__file__).parents[1]
COPIES = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """The wall seconds of a job for the files (`once`) and for COPIES copies of them, and the
    number of extracted pages in the first run."""

    once: float
    copies: float
    rows: int

    def pages_per_second(self, pages: int) -> float:
        """Return the pages per second, without the fixed cost."""
        return (COPIES - 1) * pages / (self.copies - self.once)

    def fixed(self) -> float:
        """Return the seconds that a run would take without any pages."""
        return self.once - (self.copies - self.once) / (COPIES - 1)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--peer-python", required=True, help="an interpreter that has datatrove[io,processing]")
    parser.add_argument("--sets", default="fundus,article-extraction-dataset", help="two or more data sets")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files, pages = write_archives(arguments.data, arguments.sets.split(","), folder / "once")
        (folder / "copies").mkdir()
        for copy in range(COPIES):
            for file in files:
                shutil.copy(file, folder / "copies" / f"{copy}-{file.name}")
        size = sum(file.stat().st_size for file in files)
        print(
            f"{pages} pages of {arguments.sets} in {len(files)} WARC files, {size / 1e6:.0f} MB; {platform.processor()}"
        )
        rounds = [(ours(folder, i), theirs(folder, arguments.peer_python, i)) for i in range(arguments.rounds)]
    for number, (mine, peer) in enumerate(rounds, 1):
        tell(f"round {number}: dripper-spark", mine, pages)
        tell(f"round {number}: datatrove + Trafilatura", peer, pages)
    ratio = statistics.median(mine.pages_per_second(pages) / peer.pages_per_second(pages) for mine, peer in rounds)
    print(
        f"pages a second and core beyond the fixed cost, ours over theirs, median of {len(rounds)} rounds: {ratio:.2f}"
    )
    return 0


def tell(name: str, timing: Timing, pages: int) -> None:
    """Print one line of the table."""
    print(
        f"{name:40} {timing.pages_per_second(pages):6.1f} pages/s/core, fixed {timing.fixed():5.1f} s, "
        f"{timing.rows} of {pages} pages came out"
    )


def ours(folder: Path, number: int) -> Timing:
    """Time the main job with its defaults, on one core."""

    def run(source: str) -> float:
        output = folder / f"ours-{source}-{number}"
        job = [
            sys.executable,
            str(ROOT / "jobs/run.py"),
            "--conf",
            str(ROOT / "conf/local.yml"),
            "--set",
            "spark.master=local[1]",
        ]
        return timed([*job, "--warcs", str(folder / source), "--output", str(output)])

    once, copies = run("once"), run("copies")
    from deltalake import DeltaTable

    table = DeltaTable(str(folder / f"ours-once-{number}" / "extractions")).to_pyarrow_table(columns=["error_code"])
    return Timing(once, copies, table.column("error_code").null_count)


def theirs(folder: Path, python: str, number: int) -> Timing:
    """Time datatrove with Trafilatura, on one core."""

    def run(source: str) -> float:
        output = folder / f"theirs-{source}-{number}"
        return timed([python, str(ROOT / "benchmarks/_datatrove_job.py"), str(folder / source), str(output)])

    once, copies = run("once"), run("copies")
    rows = [json.loads(line) for file in (folder / f"theirs-once-{number}/rows").glob("*") for line in file.open()]
    return Timing(once, copies, sum(bool(row["text"]) for row in rows))


def timed(command: list[str]) -> float:
    """Return the wall seconds of a command, pinned to the first available core. If the command
    fails, exit with the end of its output."""
    core = min(os.sched_getaffinity(0))
    start = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=lambda: os.sched_setaffinity(0, {core})
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
