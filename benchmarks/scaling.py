"""Measures the cost of a page in small and large runs, relative to the smallest case, and the cost
of a large ledger.

    python benchmarks/scaling.py                 # everything: a quarter of an hour on two cores
    python benchmarks/scaling.py --only ledger

Small pages (1 kB, 3 ms of CPU) are repeated:

- 1,000 to 100,000 pages in eight files
- 10,000 pages in 1 to 1,000 files
- 10,000 pages on one core and on two cores

Each case is a separate run of
jobs/run.py. The cost of a run with a single page is the fixed cost (starting Java and Python twice,
creating tables). It is printed separately, and subtracted from the other runs. The last part
measures a ledger of 100,000 files: planning, writing the plan, planning again, and recording a
finished batch. CPU seconds include all processes. On a shared machine, they are more reliable than
wall seconds.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from _processes import timed_run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import BatchSize, make_plan
from dripper.spark.run.run import BATCH_BYTES
from dripper.spark.session.session import open_session
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.warc import FileReport, expand
from dripper.warc.open.identity import opening_path
from support.warcs import pages, write_warc

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
PAGES = (1_000, 10_000, 100_000)
FILES = (1, 10, 100, 1_000)
SAME_PAGES = 10_000
IN_A_MEMBER = 100
"""The number of pages that are written once and then copied as a block of bytes."""
LEDGER_FILES = 100_000
COMMITS = 20


@dataclass(frozen=True, slots=True)
class Cost:
    """The wall and CPU seconds of a run."""

    wall: float
    cpu: float

    def a_page(self, fixed: "Cost", n_pages: int) -> "Cost":
        """Return the cost of a page, without the fixed cost of a run."""
        return Cost((self.wall - fixed.wall) / n_pages, (self.cpu - fixed.cpu) / n_pages)

    def __str__(self) -> str:
        return f"{self.wall:8.1f} s wall {self.cpu:8.1f} s CPU"


def archives(folder: Path, n_pages: int, n_files: int) -> Path:
    """Write `n_pages` pages to `n_files` files of equal size. Return their folder."""
    made = folder / f"{n_pages}-in-{n_files}"
    made.mkdir()
    a_file = n_pages // n_files
    block = write_warc(made / "block.warc.gz", pages(0, min(a_file, IN_A_MEMBER))).read_bytes()
    rest = (
        write_warc(made / "block.warc.gz", pages(0, a_file % IN_A_MEMBER)).read_bytes() if a_file > IN_A_MEMBER else b""
    )
    (made / "block.warc.gz").unlink()
    for i in range(n_files):
        (made / f"{i:04d}.warc.gz").write_bytes(block * max(1, a_file // IN_A_MEMBER) + rest)
    return made


def run(source: Path, cores: int, n_pages: int) -> Cost:
    """Run the job on a folder with the given number of cores, and return its cost."""
    mine = sorted(os.sched_getaffinity(0))[:cores]
    with tempfile.TemporaryDirectory() as output:
        job = [sys.executable, str(ROOT / "jobs/run.py"), "--conf", str(ROOT / "conf/local.yml")]
        job += ["--set", f"spark.master=local[{cores}]", "--warcs", str(source), "--output", f"{output}/out"]
        done = timed_run(job, mine)
        if done.code != 0:
            sys.exit(f"{' '.join(job)} failed:\n{done.stderr[-3000:]}")
        rows = DeltaTable(f"{output}/out/extractions").to_pyarrow_table(columns=["page_id"]).num_rows
    if rows != n_pages:
        sys.exit(f"{source}: {rows} rows of {n_pages} pages")
    return Cost(done.wall, done.cpu)


def median(rounds: int, source: Path, cores: int, n_pages: int) -> Cost:
    """Return the median cost of `rounds` runs."""
    costs = [run(source, cores, n_pages) for _ in range(rounds)]
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


def series(title: str, cases: Iterable[tuple[str, Path, int, int]], folder: Path, rounds: int) -> None:
    """Run cases (name, archives, cores, pages). Print the cost of a page in each, and its ratio to
    the first case."""
    print(title)
    first: Cost | None = None
    fixed: dict[int, Cost] = {}
    one = folder / "1-in-1"
    if not one.exists():
        archives(folder, 1, 1)
    for name, source, cores, n_pages in cases:
        if cores not in fixed:
            fixed[cores] = median(rounds, one, cores, 1)
            print(f"  {'fixed':>12}: {fixed[cores]}")
        # Small runs are repeated, because noise in the fixed cost may be a tenth of their time.
        whole = median(rounds if n_pages <= PAGES[1] else 1, source, cores, n_pages)
        cost = whole.a_page(fixed[cores], n_pages)
        first = first or cost
        print(
            f"  {name:>12}: {whole}; a page {1000 * cost.wall:6.2f} ms wall ({cost.wall / first.wall:.2f}) "
            f"{1000 * cost.cpu:6.2f} ms CPU ({cost.cpu / first.cpu:.2f})",
            flush=True,
        )


def by_pages(folder: Path, rounds: int, largest: int) -> None:
    """Measure runs with few to many pages."""
    cases = ((f"{n:,} pages", archives(folder, n, 8), 2, n) for n in PAGES if n <= largest)
    series("pages, in 8 files on 2 cores", cases, folder, rounds)


def by_files(folder: Path, rounds: int) -> None:
    """Measure the same pages in few to many files."""
    cases = ((f"{n:,} files", archives(folder, SAME_PAGES, n), 2, SAME_PAGES) for n in FILES)
    series(f"files with {SAME_PAGES:,} pages in all, on 2 cores", cases, folder, rounds)


def by_cores(folder: Path, rounds: int) -> None:
    """Measure the same pages on one core and on two cores."""
    source = folder / f"{SAME_PAGES}-in-8"
    source = source if source.exists() else archives(folder, SAME_PAGES, 8)
    cases = ((f"{n} cores", source, n, SAME_PAGES) for n in (1, 2))
    series(f"cores, for {SAME_PAGES:,} pages in 8 files", cases, folder, rounds)


def ledger(folder: Path, n_files: int) -> None:
    """Measure planning and recording in a ledger with many files."""
    settings = load([ROOT / "conf/local.yml"], ["spark.master=local[2]"])
    spark = open_session(settings.spark, "scaling")
    try:
        _ledger(Tables(spark, str(folder / "ledger")), folder, n_files, settings, spark)
    finally:
        spark.stop()


def _ledger(tables: Tables, folder: Path, n_files: int, settings: Settings, spark: SparkSession) -> None:
    print(f"a ledger of {n_files:,} files")
    jvm = spark.sparkContext._gateway.proc.pid
    listed = folder / "warc.paths"
    listed.write_text("".join(f"s3://bucket/crawl/{i // 100:05d}/CC-MAIN-{i:08d}.warc.gz\n" for i in range(n_files)))
    tables.create("warc_files")
    book = Ledger(SparkBooks(spark, tables), "scaling", is_new=True)
    size = BatchSize(settings.batch.files, BATCH_BYTES * 8)
    files = told("list them", jvm, lambda: _files(f"@{listed}", settings))
    plan = told("plan them", jvm, lambda: make_plan(files, book.entries(), size))
    told("write the plan down", jvm, lambda: book.record(plan))
    book = Ledger(SparkBooks(spark, tables), "scaling")
    again = told("plan them the next day", jvm, lambda: make_plan(files, book.entries(), size))
    noted = []
    for batch in again.resumed[:COMMITS]:
        reports = [asdict(FileReport(file.warc_file)) | {"rows": 0, "failed_pages": 0} for file in batch.files]
        start, before = time.perf_counter(), process_cpu(jvm)
        book.finish([(batch, reports)], datetime.now(UTC))
        noted.append(Cost(time.perf_counter() - start, process_cpu(jvm) - before))
    half = noted[COMMITS // 2 :]
    wall, cpu = (statistics.median(getattr(cost, name) for cost in half) for name in ("wall", "cpu"))
    print(f"  {'note a batch':>24}: {wall:6.2f} s wall {cpu:6.2f} s CPU, median of the last {len(half)} of {COMMITS}")


def _files(warcs: str, settings: Settings) -> list[PlannedFile]:
    found = expand(warcs, settings.reading)
    return [PlannedFile(file.address, file.size_bytes, file.version, opening_path(file.path)) for file in found]


def told(what: str, jvm: int, do: Callable[[], T]) -> T:
    """Return the result of `do`, and print its wall and CPU seconds."""
    start, before = time.perf_counter(), process_cpu(jvm) + time.process_time()
    result = do()
    print(
        f"  {what:>24}: {time.perf_counter() - start:6.2f} s wall {process_cpu(jvm) + time.process_time() - before:6.2f} s CPU"
    )
    return result


def process_cpu(process: int) -> float:
    """Return the CPU seconds that a running process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("pages", "files", "cores", "ledger"))
    parser.add_argument("--rounds", type=int, default=3, help="of runs over at most 10,000 pages; the median counts")
    parser.add_argument("--pages", type=int, default=PAGES[-1], help="the most")
    parser.add_argument("--ledger-files", type=int, default=LEDGER_FILES)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], None]] = {
            "ledger": lambda: ledger(folder, asked.ledger_files),
            "cores": lambda: by_cores(folder, asked.rounds),
            "files": lambda: by_files(folder, asked.rounds),
            "pages": lambda: by_pages(folder, asked.rounds, asked.pages),
        }
        for part, do in parts.items():
            if asked.only in (None, part):
                do()
    return 0


if __name__ == "__main__":
    sys.exit(main())
