"""Measures the time saved by overlapping the stages of different batches: compares one staged run
with three separate stages.

    python benchmarks/lm_overlap.py --data DIR [--pages 240] [--batches 6] [--engine-seconds 5]

The engine is simulated: it sleeps for --engine-seconds per batch, like a CPU that waits for a GPU.
Both ways write the same tables. The saving depends on the ratio of CPU time to GPU time. With equal
times and many batches, it approaches one half.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from dripper.labels import Labels, SimplifiedPage
from dripper.labels.config import load
from dripper.labels.cost import estimate_tokens
from dripper.labels.fallback import AllLabeler
from dripper.settings import Settings
from dripper.spark.run.run import run, run_stages
from dripper.spark.run.staged import STAGES
from dripper.spark.session.session import open_session
from lm_pages import choose, write_archive

ALL = 1 << 30


class Sleeping(AllLabeler):
    """A labeler that sleeps for a fixed time per page, without using the CPU."""

    def __init__(self, seconds_a_page: float) -> None:
        self._seconds = seconds_a_page

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return labels that are all main."""
        time.sleep(self._seconds * len(pages))
        return super().label_simplified(pages)


@dataclass(frozen=True)
class SleepingLoader:
    """Creates the labeler in the worker."""

    seconds_a_page: float

    def __call__(self, settings: Settings) -> Sleeping:
        """Return the labeler."""
        return Sleeping(self.seconds_a_page)


def main(arguments: list[str]) -> int:
    """Run both ways and print the wall seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--pages", type=int, default=240)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--engine-seconds", type=float, default=5, help="of a batch")
    options = parser.parse_args(arguments)
    settings = load(assignments=["spark.master=local[2]", "labeler.staged=true", "labeler.name=all", "batch.files=1"])
    choice = choose(options.data, options.pages, 0, ALL, estimate_tokens)
    spark = open_session(settings.spark, "lm_overlap")
    loader = SleepingLoader(options.engine_seconds * options.batches / options.pages)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.batches):
            write_archive(Path(folder) / f"{i}.warc", choice.sources[i :: options.batches])
        # A warm-up run, because the JVM and the workers are slow at first.
        run(spark, f"{folder}/0.warc", f"{folder}/warm", settings, loader=loader)
        apart = one_by_one(spark, Path(folder), settings, loader)
        together = at_once(spark, Path(folder), settings, loader)
    spark.stop()
    names = ", ".join(f"{name} {seconds:.1f}" for name, seconds in apart.items())
    total = sum(apart.values())
    print(f"{options.pages} pages in {options.batches} batches, engine asleep {options.engine_seconds:g} s a batch")
    print(f"stages one after the other: {total:.1f} s wall ({names})")
    print(f"in one run: {together:.1f} s wall, {1 - together / total:.0%} less")
    return 0


def one_by_one(spark: SparkSession, folder: Path, settings: Settings, loader: SleepingLoader) -> dict[str, float]:
    """Return the wall seconds of each stage, run over all batches before the next one begins."""
    seconds = {}
    for stage in STAGES:
        start = time.monotonic()
        warcs = f"{folder}/*.warc" if stage == "preprocess" else None
        outcome = run_stages(spark, [stage], f"{folder}/apart", settings, warcs, loader=loader)
        seconds[stage] = time.monotonic() - start
        if outcome.complaints:
            raise SystemExit(f"{stage}: {outcome.complaints}")
    return seconds


def at_once(spark: SparkSession, folder: Path, settings: Settings, loader: SleepingLoader) -> float:
    """Return the wall seconds of a single run with overlapping stages."""
    start = time.monotonic()
    outcome = run(spark, f"{folder}/*.warc", f"{folder}/together", settings, loader=loader)
    if outcome.complaints:
        raise SystemExit(f"together: {outcome.complaints}")
    return time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
