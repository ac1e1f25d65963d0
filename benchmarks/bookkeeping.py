"""Measures the overhead of a run: SQL executions, Spark jobs, Delta commits and seconds.

    python benchmarks/bookkeeping.py                       # two minutes on two cores
    python benchmarks/bookkeeping.py --cases fresh --list  # and what each execution was for
    python benchmarks/bookkeeping.py --cluster             # on a standalone cluster, started here

All runs share one session, and their files contain one small page each. The cases (--cases) are:

- first: the first run in the session, which pays for classes that Java loads lazily
- fresh: a run with a new output
- again: a run with nothing to do
- more: a run with one more file
- batches: a run of several batches
- staged, staged-batches: staged runs of one batch and of several batches

Executions and jobs are counted in Spark's status stores, commits in the tables' logs. The
cost of each further batch is the difference between a run of several batches and a run of one,
divided by the number of further batches.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dripper.labels.config import load
from dripper.spark.run.run import run
from dripper.spark.session.session import open_session
from support.torture import cluster
from support.warcs import pages, write_warc

ROOT = Path(__file__).parents[1]
CASES = ("first", "fresh", "again", "more", "batches", "staged", "staged-batches")
RETAINED = 100_000
"""The number of executions and jobs that Spark remembers. Its default is the newest 1,000."""
REMEMBERED = {
    name: str(RETAINED)
    for name in ("spark.sql.ui.retainedExecutions", "spark.ui.retainedJobs", "spark.ui.retainedStages")
}
OF_A_CLUSTER = {"spark.driver.host": "127.0.0.1", "spark.cores.max": "2", "spark.executor.cores": "1"}
"""Two executors with one core each, so that `--cluster` has as many cores as `local[2]`."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run."""

    executions: float
    jobs: float
    commits: float
    seconds: float

    def a_further(self, one: "Cost", n_further: int) -> "Cost":
        """Return the mean cost of each of `n_further` batches. `one` is the cost of a run with one
        batch."""
        mine, others = ((cost.executions, cost.jobs, cost.commits, cost.seconds) for cost in (self, one))
        return Cost(*((all_ - first) / n_further for all_, first in zip(mine, others, strict=True)))

    def __str__(self) -> str:
        return f"{self.executions:11.1f} {self.jobs:7.1f} {self.commits:8.1f} {self.seconds:8.2f}"


class Meter:
    """Counts the executions, jobs and commits of a session."""

    def __init__(self, spark: SparkSession, is_listing: bool) -> None:
        self._context: Any = spark.sparkContext._jsc.sc()
        self._executions: Any = spark._jsparkSession.sharedState().statusStore()
        self._is_listing = is_listing

    def measure(self, name: str, output: Path, do: Callable[[], None]) -> Cost:
        """Call `do`, and return its cost."""
        before, commits, start = self._counts(), commits_below(output), time.perf_counter()
        do()
        seconds = time.perf_counter() - start
        after = self._counts()
        if self._is_listing:
            print(f"{name}:")
            for line, times in Counter(self._told(before[0])).items():
                print(f"  {times:3} × {line}")
        return Cost(after[0] - before[0], after[1] - before[1], commits_below(output) - commits, seconds)

    def _counts(self) -> tuple[int, int]:
        self._context.listenerBus().waitUntilEmpty()
        return self._executions.executionsCount(), self._context.statusStore().jobsList(None).size()

    def _told(self, since: int) -> list[str]:
        """Return a line for each execution after the first `since`: its description, the call that
        started it, and a leaf of its plan."""
        found = self._executions.executionsList(since, RETAINED)
        told = []
        for i in range(found.size()):
            plan = [line.strip() for line in found.apply(i).physicalPlanDescription().splitlines()]
            leaf = next((line for line in reversed(plan) if line.startswith(("Location", "(1) "))), "")
            place = found.apply(i).details().split("\n")
            mine = next((line for line in place if ".delta." in line), place[0])
            told.append(f"{found.apply(i).description()} [{mine.strip()[:90]}] {leaf[:90]}")
        return told


def commits_below(output: Path) -> int:
    """Return the number of commits in all tables of an output."""
    return len(list(output.glob("*/_delta_log/*.json")))


def measured(
    spark: SparkSession, folder: Path, n_batches: int, cases: Sequence[str], is_listing: bool
) -> dict[str, Cost]:
    """Run the cases, and return the cost of each."""
    for name, numbers in (("one", range(1)), ("another", range(1, 2)), ("many", range(n_batches))):
        (folder / name).mkdir()
        for i in numbers:
            write_warc(folder / name / f"{i}.warc.gz", pages(i, 1))
    meter = Meter(spark, is_listing)
    costs: dict[str, Cost] = {}
    for case in CASES:
        if case not in cases:
            continue
        assignments = ["batch.files=1"]
        if case.startswith("staged"):
            assignments += ["labeler.staged=true", "labeler.name=all"]
        source = folder / ("many" if case.endswith("batches") else "another" if case == "more" else "one")
        output = folder / f"out-{'fresh' if case in ('again', 'more') else case}"

        def do(source: Path = source, output: Path = output, assignments: list[str] = assignments) -> None:
            outcome = run(spark, str(source), str(output), load(assignments=assignments))
            if outcome.exit_code:
                sys.exit(f"{output}: {outcome}")

        costs[case] = meter.measure(case, output, do)
    return costs


def told(costs: dict[str, Cost], n_batches: int) -> list[str]:
    """Return the lines of the table to print."""
    names = {
        "first": "the first run in its session",
        "fresh": "a fresh run of one page",
        "again": "a run with nothing to do",
        "more": "a run with a file more",
        "batches": f"a run of {n_batches} batches",
        "staged": "a staged run of one page",
        "staged-batches": f"a staged run of {n_batches} batches",
    }
    lines = [f"{'':32}{'executions':>11} {'jobs':>7} {'commits':>8} {'seconds':>8}"]
    for case, cost in costs.items():
        lines.append(f"{names[case]:32}{cost}")
        one = costs.get({"batches": "fresh", "staged-batches": "staged"}.get(case, ""))
        if one:
            lines.append(f"{'    each further batch':32}{cost.a_further(one, n_batches - 1)}")
    return lines


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--cluster", action="store_true", help="start a standalone cluster of two workers for it")
    parser.add_argument("--batches", type=int, default=10, help="of the runs of several")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--list", action="store_true", help="print what each execution was for")
    asked = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        properties, master = dict(REMEMBERED), asked.master
        if asked.cluster:
            properties |= OF_A_CLUSTER
            master, _ = stack.enter_context(cluster(folder, ROOT / "lib"))
        assignments = [f"spark.properties.{name}={value}" for name, value in properties.items()]
        settings = load([ROOT / "conf/local.yml"], [f"spark.master={master}", *assignments])
        spark = open_session(settings.spark, "bookkeeping")
        stack.callback(spark.stop)
        costs = measured(spark, folder, asked.batches, asked.cases, asked.list)
    print("\n".join(told(costs, asked.batches)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
