"""Files that take their worker down: found among good ones, set aside, and no others with them."""

import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.spark.run.isolation import Isolation, suspects
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.spark.workers.parts import FilePart, Tasks, split_into_tasks
from dripper.warc.read.record import Span

CRASH = (
    "Job aborted due to stage failure: Task {task} in stage 3.0 failed 4 times, most recent failure: Lost task "
    "1.3 (TID 9) (host executor 2): org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"
)
NAMES = [f"f{i:02}" for i in range(40)]


class MemoryLedger:
    """The ledger's part in it, without tables."""

    def __init__(self) -> None:
        self.last = 1
        self.aside: dict[str, str] = {}

    def isolate(self, batch: Batch, groups: Sequence[Collection[str]]) -> list[Batch]:
        inside = {name for group in groups for name in group}
        rest = tuple(file for file in batch.files if file.warc_file not in inside)
        made = [replace(batch, files=rest)] if rest else []
        for group in groups:
            self.last += 1
            mine = (file for file in batch.files if file.warc_file in group)
            made.append(
                Batch(self.last, tuple(replace(file, attempts=file.attempts + (len(group) == 1)) for file in mine))
            )
        return made

    def set_aside(self, batch: Batch, reason: str, now: datetime) -> None:
        self.aside |= {file.warc_file: reason for file in batch.files}


class Slow(int):
    """A count that changes before its reader writes."""

    def __add__(self, other: int) -> "Slow":
        time.sleep(0.002)
        return Slow(int(self) + other)


def test_failures_of_batches_in_flight_are_all_counted() -> None:
    isolation = Isolation(MemoryLedger(), lambda: True)  # type: ignore[arg-type]
    isolation._in_a_row = Slow()

    def fail(batch: Batch, tasks: Tasks) -> None:
        raise RuntimeError("no")

    def work_off_some(number: int) -> None:
        for _ in range(5):
            with suppress(RuntimeError):
                isolation.work_off(Batch(number, ()), lambda batch: [], fail, lambda batch, why: None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work_off_some, range(4)))
    assert isolation._in_a_row == 20


def work_off(poison: set[str], names: Sequence[str], slots: int = 2) -> tuple[list[str], dict[str, str]]:
    """Return the files that were done, and the files that were set aside."""
    ledger, done = MemoryLedger(), []

    def attempt(batch: Batch, tasks: Tasks) -> None:
        for i, task in enumerate(tasks):
            if poison & {part.file.warc_file for part in task}:
                raise RuntimeError(CRASH.format(task=i))
        done.extend(file.warc_file for file in batch.files)

    batch = Batch(1, tuple(PlannedFile(name, 300_000) for name in names))
    isolation = Isolation(ledger, lambda: False)  # type: ignore[arg-type]
    isolation.work_off(batch, lambda b: split_into_tasks(b, slots), attempt, lambda b, why: None)
    return done, ledger.aside


@given(st.lists(st.sampled_from(NAMES), unique=True, min_size=2), st.sets(st.sampled_from(NAMES), max_size=3))
def test_the_good_ones_are_done_once_and_the_bad_ones_named(names: list[str], poison: set[str]) -> None:
    bad = poison & set(names)
    if bad == set(names):
        return
    done, aside = work_off(poison, names)
    assert sorted(done) == sorted(set(names) - bad)
    assert set(aside) == bad


def test_one_bad_file_among_many_costs_few_attempts_and_leaves_its_reason() -> None:
    done, aside = work_off({"f07"}, NAMES)
    assert len(done) == 39
    assert aside["f07"].startswith("RuntimeError: Job aborted due to stage failure: Task")


def test_a_machine_on_which_nothing_works_sets_no_file_aside() -> None:
    ledger = MemoryLedger()

    def attempt(batch: Batch, tasks: Tasks) -> None:
        raise RuntimeError(CRASH.format(task=0))

    isolation = Isolation(ledger, lambda: False)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError):
        isolation.work_off(
            Batch(1, tuple(PlannedFile(name, 1) for name in NAMES)),
            lambda b: split_into_tasks(b, 2),
            attempt,
            print,
        )
    assert ledger.aside == {}


def test_who_is_suspected() -> None:
    a, b, c = (FilePart(PlannedFile(name), 1) for name in "abc")
    tasks = [[a], [b, c, replace(b, span=Span(9))]]
    assert suspects(RuntimeError(CRASH.format(task=1)), tasks) == ["b", "c"]
    assert suspects(RuntimeError("ExecutorLostFailure (executor 1 exited)"), tasks) == ["a", "b", "c"]
    assert suspects(RuntimeError("Task 1 in stage 3.0 failed 4 times: java.io.IOException: disk full"), tasks) is None


def test_what_is_no_files_fault_is_raised() -> None:
    def attempt(batch: Batch, tasks: Tasks) -> None:
        raise OSError("the output cannot be written")

    with pytest.raises(OSError, match="cannot be written"):
        Isolation(MemoryLedger(), lambda: False).work_off(  # type: ignore[arg-type]
            Batch(1, (PlannedFile("a"),)), lambda b: [b.files], attempt, print
        )
