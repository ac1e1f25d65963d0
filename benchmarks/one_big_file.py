"""Does one big file keep all cores busy? The main job over one WARC file, and over the same pages in eight, in one run.

    python benchmarks/one_big_file.py --megabytes 100

The pages are those of tests/data/sample, over and over. Both go through jobs/run.py on the same two cores, in turn; the ratio of
their wall seconds is printed, and that both gave as many rows.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deltalake import DeltaTable

ROOT = Path(__file__).parents[1]
FILES = 8
CORES = 2


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
            one, rows = timed(folder / "one", folder / f"out-one-{number}")
            eight, rows_of_eight = timed(folder / "eight", folder / f"out-eight-{number}")
            ratios.append(one / eight)
            print(
                f"round {number}: one file {one:.1f} s, {FILES} files {eight:.1f} s, ratio {one / eight:.2f}; {rows} rows"
            )
            if rows != rows_of_eight:
                sys.exit(f"{rows} rows of one file, but {rows_of_eight} of {FILES}")
    print(f"one file takes {statistics.median(ratios):.2f} times as long as {FILES}, median of {len(ratios)} rounds")
    return 0


def write(folder: Path, size: float) -> int:
    """Write the pages into one file, and dealt out into eight; return how many bytes that is."""
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


def timed(source: Path, output: Path) -> tuple[float, int]:
    """Return the wall seconds of the job over a folder, and the rows that it wrote."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    job = [sys.executable, str(ROOT / "jobs/run.py"), "--conf", str(ROOT / "conf/local.yml")]
    job += ["--set", f"spark.master=local[{CORES}]", "--warcs", str(source), "--output", str(output)]
    start = time.perf_counter()
    done = subprocess.run(
        job, capture_output=True, text=True, check=False, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(job)} failed:\n{done.stderr[-3000:]}")
    seconds = time.perf_counter() - start
    return seconds, DeltaTable(str(output / "extractions")).to_pyarrow_table(columns=["page_id"]).num_rows


if __name__ == "__main__":
    sys.exit(main())
