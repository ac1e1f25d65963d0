"""Concurrent batches: one failure does not end the others; many failures in a row do, and an
interrupt does at once. Batches that replace each other's rows take turns."""

import signal
import threading
import time

import pytest

from dripper.errors import BusyError
from dripper.spark.run.scheduler import BatchLocks, Breaker, work_through
from dripper.spark.tables.batches import Batch, PlannedFile

BATCHES = [Batch(number, ()) for number in range(1, 7)]


def nothing() -> None:
    """A cancel function that does nothing."""


def test_what_fails_is_told_and_the_others_go_on() -> None:
    done = []
    breaker = Breaker(2)

    def work(batch: Batch) -> None:
        if batch.number % 2:
            raise ValueError("no\nmore")
        breaker.succeeded()
        done.append(batch.number)

    worked = work_through(BATCHES, 1, work, breaker, nothing)
    assert (set(worked.failed), worked.failed[1], worked.not_begun) == ({1, 3, 5}, "ValueError: no", [])
    assert done == [2, 4, 6]


def test_many_failures_in_a_row_end_the_run() -> None:
    def work(batch: Batch) -> None:
        raise OSError("disk full")

    worked = work_through(BATCHES, 1, work, Breaker(3), nothing)
    assert (set(worked.failed), worked.not_begun) == ({1, 2, 3}, [4, 5, 6])


def test_batches_are_worked_on_at_once() -> None:
    """A barrier lets no batch through until two have arrived."""
    both = threading.Barrier(2, timeout=30)
    assert work_through(BATCHES, 2, lambda batch: both.wait() and None, Breaker(1), nothing).failed == {}


def test_a_lost_lease_ends_the_run() -> None:
    def work(batch: Batch) -> None:
        raise BusyError("another run has taken over")

    with pytest.raises(BusyError, match="taken over"):
        work_through(BATCHES, 1, work, Breaker(9), nothing)


def test_an_interrupt_cancels_what_is_at_work_and_begins_nothing_more() -> None:
    """As Ctrl-C in the main thread: the batch at work ends only because it is cancelled."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
    begun, cancelled = [], threading.Event()

    def work(batch: Batch) -> None:
        begun.append(batch.number)
        threading.Thread(target=lambda: (time.sleep(0.2), signal.raise_signal(signal.SIGINT))).start()
        assert cancelled.wait(60)
        raise RuntimeError("the job was cancelled")

    try:
        with pytest.raises(KeyboardInterrupt):
            work_through(BATCHES, 1, work, Breaker(9), cancelled.set)
    finally:
        signal.signal(signal.SIGINT, before)
    assert begun == [1]


def test_batches_that_touch_the_same_rows_take_turns_and_others_do_not_wait() -> None:
    locks, told = BatchLocks(), list[str]()
    first = Batch(2, (PlannedFile("a", supersedes=(1,)),))
    second = Batch(3, (PlannedFile("b", replaces=1),))

    def work() -> None:
        with locks.hold(second):
            told.append("second")

    waiting = threading.Thread(target=work)
    with locks.hold(first):
        waiting.start()
        with locks.hold(Batch(4, (PlannedFile("c"),))):
            time.sleep(0.05)
        told.append("first")
    waiting.join()
    assert told == ["first", "second"]
