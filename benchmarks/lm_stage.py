"""Measures Spark's overhead in the `label` stage: runs the `parallel` decoder on the same pages
within the stage and without Spark.

    python benchmarks/lm_stage.py --data DIR [--pages 30 240] [--most TOKENS] [--model FOLDER]

There is one engine with one thread. The stage first labels a few pages, so that the start of the
engine (once per worker) and the warm-up of the JVM do not count. After that, it labels one batch
with the first number of pages, and one with the second number. CPU seconds include all processes of
the job (JVM, driver, Python workers). Wall seconds are those of the stage, including its shuffle
and Delta commit. The time outside the engine's calls is Spark's overhead. It is reported per page
and per batch. The relative overhead is smaller for slower models, so a tiny model on a CPU is the
worst case.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from pyspark.sql import SparkSession

from dripper.labels import Labels, SimplifiedLabeler
from dripper.labels.base import SimplifiedPage
from dripper.labels.config import load
from dripper.labels.engine import groups, load_labeler
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.settings import LmSettings
from dripper.settings import Settings
from dripper.spark.run.run import run_stages
from dripper.spark.session.session import open_session
from dripper.spark.tables.store import Tables
from lm_pages import ONE_BLOCK, Choice, choose, write_archive
from support.tiny_lm import copy_tokenizer, make_checkpoint, make_config

WARM_UP = 4
"""The number of pages labelled before the measurement."""


class Cost(NamedTuple):
    """CPU and wall seconds."""

    cpu: float
    wall: float

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu - other.cpu, self.wall - other.wall)

    @classmethod
    def now(cls) -> "Cost":
        """Return the current clock values of this process."""
        return cls(time.process_time(), time.monotonic())


@dataclass(frozen=True, slots=True)
class Measured:
    """The costs of a batch. stage: the stage, without the engine's start. engine: the engine's
    calls within the stage. direct: the same pages without Spark."""

    pages: int
    stage: Cost
    engine: Cost
    direct: Cost

    @property
    def spark(self) -> Cost:
        """The part of the stage's cost outside the engine."""
        return self.stage - self.engine


class Timed:
    """A labeler that appends the cost of each call to a file."""

    def __init__(self, labeler: SimplifiedLabeler, file: Path) -> None:
        self._labeler = labeler
        self._file = file
        self.name, self.version = labeler.name, labeler.version

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Label the pages with the wrapped labeler, and record the cost."""
        before = Cost.now()
        labels = self._labeler.label_simplified(pages)
        note(self._file, "engine", Cost.now() - before)
        return labels


@dataclass(frozen=True)
class TimedLoader:
    """Starts an engine, and records the cost of its start and of each call in a file."""

    file: Path

    def __call__(self, settings: Settings) -> Any:
        """Return the labeler, after one warm-up call."""
        # The worker's CPU time so far, for starting Python and imports, is part of the engine's
        # start.
        wall = time.monotonic()
        os.environ["OMP_NUM_THREADS"] = "1"
        labeler = load_labeler(settings)
        labeler.label_simplified([ONE_BLOCK])
        note(self.file, "start", Cost(time.process_time(), time.monotonic() - wall))
        return Timed(labeler, self.file)


def note(file: Path, what: str, cost: Cost) -> None:
    """Append a cost to the file, with a label."""
    with file.open("a") as opened:
        opened.write(f"{what} {cost.cpu} {cost.wall}\n")


def noted(file: Path, what: str) -> Cost:
    """Return the sum of the costs with a label in the file."""
    costs = [line.split()[1:] for line in file.read_text().splitlines() if line.startswith(what)]
    return Cost(sum(float(cpu) for cpu, _ in costs), sum(float(wall) for _, wall in costs))


def main(arguments: list[str]) -> int:
    """Label the pages in both ways, and print the overhead of the stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--pages", type=int, nargs=2, default=(30, 240), metavar="N", help="of the two batches")
    parser.add_argument("--most", type=int, default=8192, metavar="TOKENS", help="leave longer pages out")
    parser.add_argument("--model", type=Path, help="a checkpoint instead of a tiny random one")
    options = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        measure(options, Path(folder))
    return 0


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Write the tables, run the stage, run the decoder without Spark, and print the figures."""
    bare = options.model or folder / "bare"
    if not options.model:
        bare.mkdir()
        make_config(bare)
        copy_tokenizer(bare)
    counter = PageEncoder.load(LmSettings.model_validate({"model": str(bare)})).count_tokens
    choice = choose(options.data, WARM_UP + sum(options.pages), 0, options.most, counter)
    model = options.model or make_checkpoint(folder / "tiny", sorted(choice.pages, key=lambda page: page.n_blocks)[5:9])
    settings = load(
        assignments=[
            "spark.master=local[1]", "labeler.name=lm", f"labels.lm.model={model}", "labels.lm.dtype=float32",
        ]
    )  # fmt: skip
    spark = open_session(settings.spark, "lm_stage")
    outputs = preprocessed(spark, settings, folder, choice, options.pages)
    stages = [through_spark(spark, settings, output) for output in outputs]
    start = noted(outputs[0] / "costs", "start")
    rows = [in_the_stages_order(spark, output) for output in outputs]
    spark.stop()
    directs = without_spark(settings, rows)
    few, many = (
        Measured(len(rows[at]), stages[at], noted(outputs[at] / "costs", "engine"), directs[at]) for at in (1, 2)
    )
    print(f"pages of at most {options.most} tokens ({choice.share:.0%} of all), one thread")
    print(f"engine start: {start.cpu:.1f} CPU s, {start.wall:.1f} s wall, once a worker")
    show(few)
    show(many)
    show_shares(few, many)


def preprocessed(
    spark: SparkSession, settings: Settings, folder: Path, choice: Choice, n_pages: Sequence[int]
) -> list[Path]:
    """Return a folder for the warm-up and one for each batch, with the tables `pages` and `blocks`.
    No page occurs twice, because an engine caches pages."""
    outputs, start = [], 0
    for number, n in enumerate((WARM_UP, *n_pages)):
        write_archive(folder / f"{number}.warc", choice.sources[start : start + n])
        output = folder / f"out{number}"
        made = run_stages(spark, ["preprocess"], str(output), settings, str(folder / f"{number}.warc"))
        if made.complaints:
            raise SystemExit(f"it did not end well: {made.complaints}")
        outputs.append(output)
        start += n
    return outputs


def through_spark(spark: SparkSession, settings: Settings, output: Path) -> Cost:
    """Return the cost of the stage, without the start of the engine."""
    before = cpu_of_all()
    outcome = run_stages(spark, ["label"], str(output), settings, loader=TimedLoader(output.parent / "costs"))
    cost = Cost(cpu_of_all() - before, outcome.totals.label.seconds)
    if outcome.complaints or outcome.totals.label.failed:
        raise SystemExit(f"it did not end well: {outcome.complaints}, {outcome.totals.label}")
    (output.parent / "costs").rename(output / "costs")
    return cost - noted(output / "costs", "start")


def in_the_stages_order(spark: SparkSession, output: Path) -> list[dict[str, Any]]:
    """Return the rows of `blocks` in the order in which the stage passes them to the engine."""
    columns = ("simplified_html", "item_ids", "tokens", "page_id")
    rows = [row.asDict() for row in Tables(spark, str(output)).read("blocks").select(*columns).collect()]
    return sorted(rows, key=lambda row: (-row["tokens"], row["page_id"]))


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and its descendants, including Spark."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def without_spark(settings: Settings, batches: Sequence[list[dict[str, Any]]]) -> list[Cost]:
    """Return the decoder's cost for each batch without Spark. Pages are grouped into calls as in
    the stage."""
    labeler = load_labeler(settings)
    labeler.label_simplified([ONE_BLOCK])
    costs = []
    for rows in batches:
        before = Cost.now()
        for group in groups(rows):
            labeler.label_simplified([SimplifiedPage(row["simplified_html"], len(row["item_ids"])) for row in group])
        costs.append(Cost.now() - before)
    return costs


def show(batch: Measured) -> None:
    """Print the figures of one batch."""
    print(
        f"{batch.pages} pages: stage {batch.stage.cpu:.1f} CPU s, {batch.stage.wall:.1f} s wall, of it in the engine "
        f"{batch.engine.cpu:.1f} and {batch.engine.wall:.1f}; decoder without Spark {batch.direct.cpu:.1f} and "
        f"{batch.direct.wall:.1f}; lost to Spark {1 - batch.direct.cpu / batch.stage.cpu:.1%} of CPU, "
        f"{1 - batch.direct.wall / batch.stage.wall:.1%} of wall"
    )


def show_shares(few: Measured, many: Measured) -> None:
    """Print Spark's overhead per page and per batch."""
    more = many.pages - few.pages
    for name, two, one, engine in (
        ("CPU", many.spark.cpu, few.spark.cpu, many.engine.cpu - few.engine.cpu),
        ("wall", many.spark.wall, few.spark.wall, many.engine.wall - few.engine.wall),
    ):
        page = (two - one) / more
        print(
            f"Spark's {name} seconds: {one - few.pages * page:.1f} a batch and {page:.4f} a page, which is "
            f"{page * more / (page * more + engine):.1%} of what a page takes"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
