"""Five kills and five faults of storage change no row, by the code of benchmarks/torture.py and
benchmarks/storage_faults.py."""

import random
from collections.abc import Sequence
from itertools import chain, repeat
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.labels.config import load
from dripper.spark.run.run import run
from support.fault_proxy import Fault
from support.mischief import Mischief
from support.processes import require_proc
from support.storage_job import nights
from support.torture import KINDS, Torture, prepared, undisturbed

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_five_kills_change_nothing(tmp_path: Path) -> None:
    require_proc()
    job = prepared(tmp_path, ["spark.master=local[2,4]"], n_files=6, n_pages=10)
    seconds, expected = undisturbed(job, tmp_path / "whole")
    kinds = [kind for kind in KINDS if kind != "executor"]
    torture = Torture(job, kinds, random.Random(1), expected, seconds, second_share=0, kills_a_run=5)
    torture.until(tmp_path, 5)
    assert torture.differences == []
    assert torture.killed.total() == 5
    assert torture.rows == torture.outputs * sum(map(len, expected))


def test_what_people_do_to_the_tables_is_named_and_mended(tmp_path: Path) -> None:
    """Each thing once, between runs that are killed."""
    require_proc()
    job = prepared(tmp_path, ["spark.master=local[2,4]"], n_files=6, n_pages=5)
    seconds, expected = undisturbed(job, tmp_path / "whole")
    chance = random.Random(2)
    people = Mischief(chance)
    torture = Torture(job, ["driver", "worker"], chance, expected, seconds, second_share=0, meddle=people)
    torture.until(tmp_path, 3)
    assert torture.differences + people.differences == []
    assert people.done.total() >= 3


def test_five_faults_of_storage_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    bad = chain((Fault.SLOW_DOWN, Fault.RESET, Fault.LONG_LENGTH, Fault.EXPIRED, Fault.REFUSED), repeat(None))

    def work(warcs: str, output: Path, settings: Sequence[str]) -> int:
        return run(spark, warcs, str(output), load(assignments=["labeler.name=all", *settings])).exit_code

    told = nights(work, tmp_path, 6, 5, lambda _, path: next(bad) if ".warc.gz" in path else None)
    assert told.faults.total() == 5
    assert told.codes == [0], "credentials that have expired are renewed once, and the run goes on"
    assert (told.rows, told.differences) == (36, [])
