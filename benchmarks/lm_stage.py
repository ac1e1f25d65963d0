"""What Spark costs the stage `label`: the decoder `parallel` in the stage, and called without Spark, on the same pages.

    python benchmarks/lm_stage.py --data DIR [--pages 100] [--most TOKENS] [--model FOLDER]

One engine of one thread. The engine's start, paid once a worker, is told apart from the work. CPU seconds are those of all
processes of the job (JVM, driver, Python workers), wall seconds those of the stage with its shuffle and its Delta commit. The
figure is a share, so it falls with the time that the model takes: a tiny one on a CPU is the hardest case.
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

from dripper.config import Settings, lm_settings, load
from dripper.labels import Labels, SimplifiedLabeler
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm import PageEncoder
from dripper.spark.label_worker import groups, load_labeler
from dripper.spark.run import run_stages
from dripper.spark.session import open_session
from dripper.spark.tables import Tables
from lm_pages import choose, write_archive
from tiny_lm import copy_tokenizer, make_checkpoint, make_config


class Cost(NamedTuple):
    """Seconds."""

    cpu: float
    wall: float

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu - other.cpu, self.wall - other.wall)


class Timed:
    """A labeler that writes down when it was ready."""

    def __init__(self, labeler: SimplifiedLabeler, start: Cost, file: Path) -> None:
        self._labeler = labeler
        self.name, self.version = labeler.name, labeler.version
        file.write_text(f"{start.cpu} {start.wall}")

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """As the labeler does."""
        return self._labeler.label_simplified(pages)


@dataclass(frozen=True)
class TimedLoader:
    """Starts an engine, and leaves in a file what the start took."""

    file: Path

    def __call__(self, settings: Settings) -> Any:
        """Return the labeler, warm."""
        # The worker's CPU so far is Python's own start and its imports: part of what is paid once.
        wall = time.monotonic()
        labeler = load_labeler(settings)
        labeler.label_simplified([SimplifiedPage('<html><body><p _item_id="1">One.</p></body></html>', 1)])
        return Timed(labeler, Cost(time.process_time(), time.monotonic() - wall), self.file)


def main(arguments: list[str]) -> int:
    """Label the pages both ways and print what the stage takes more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--most", type=int, default=8192, metavar="TOKENS", help="leave longer pages out")
    parser.add_argument("--model", type=Path, help="a checkpoint instead of a tiny random one")
    options = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        measure(options, Path(folder))
    return 0


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Make the tables, run the stage, run the decoder."""
    bare = options.model or folder / "bare"
    if not options.model:
        bare.mkdir()
        make_config(bare)
        copy_tokenizer(bare)
    counter = PageEncoder.load(lm_settings({"model": str(bare)})).count_tokens
    choice = choose(options.data, options.pages, 0, options.most, counter)
    model = options.model or make_checkpoint(folder / "tiny", sorted(choice.pages, key=lambda page: page.n_blocks)[5:9])
    settings = load(
        assignments=[
            "spark.master=local[1]", "labeler.name=lm", f"labels.lm.model={model}", "labels.lm.dtype=float32",
            "stages.engine_threads=1",
        ]
    )  # fmt: skip
    write_archive(folder / "pages.warc", choice.sources)
    rows, stage, start = through_spark(settings, folder)
    direct = without_spark(settings, rows)
    print(f"{len(rows)} pages of at most {options.most} tokens ({choice.share:.0%} of all), one thread")
    print(f"engine start: {start.cpu:.1f} CPU s, {start.wall:.1f} s wall, once a worker")
    work = stage - start
    print(f"stage label without it: {work.cpu:.1f} CPU s, {work.wall:.1f} s wall")
    print(f"decoder without Spark: {direct.cpu:.1f} CPU s, {direct.wall:.1f} s wall")
    print(f"lost to Spark: {1 - direct.cpu / work.cpu:.1%} of CPU, {1 - direct.wall / work.wall:.1%} of wall")


def through_spark(settings: Settings, folder: Path) -> tuple[list[dict[str, Any]], Cost, Cost]:
    """Return the rows of `blocks` in the stage's order, what the stage cost, and the engine's start in it."""
    spark = open_session(settings.spark, "lm_stage")
    output = str(folder / "out")
    made = run_stages(spark, ["preprocess"], output, settings, str(folder / "pages.warc"))
    before = cpu_of_all()
    outcome = run_stages(spark, ["label"], output, settings, loader=TimedLoader(folder / "start"))
    if made.complaints or outcome.complaints or outcome.totals.label.failed:
        raise SystemExit(f"it did not end well: {made.complaints}, {outcome.complaints}, {outcome.totals.label}")
    stage = Cost(cpu_of_all() - before, outcome.totals.label.seconds)
    columns = ("simplified_html", "item_ids", "tokens", "page_id")
    rows = [row.asDict() for row in Tables(spark, output).read("blocks").select(*columns).collect()]
    spark.stop()
    start = Cost(*map(float, (folder / "start").read_text().split()))
    return sorted(rows, key=lambda row: (-row["tokens"], row["page_id"])), stage, start


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and those that it started, Spark's included."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def without_spark(settings: Settings, rows: list[dict[str, Any]]) -> Cost:
    """Return what the decoder takes for the same batches of pages."""
    labeler = load_labeler(settings)
    labeler.label_simplified([SimplifiedPage('<html><body><p _item_id="1">One.</p></body></html>', 1)])
    cpu, wall = time.process_time(), time.monotonic()
    for group in groups(rows, settings.stages):
        labeler.label_simplified([SimplifiedPage(row["simplified_html"], len(row["item_ids"])) for row in group])
    return Cost(time.process_time() - cpu, time.monotonic() - wall)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
