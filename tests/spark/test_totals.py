"""Batches side by side: one that fails does not end the others."""

import threading

from dripper.spark.plan import Batch
from dripper.spark.totals import Totals, work_through

BATCHES = [Batch(number, ()) for number in range(1, 5)]


def test_what_fails_is_told_and_the_others_go_on() -> None:
    done = []

    def work(batch: Batch) -> None:
        if batch.number == 2:
            raise ValueError("no\nmore")
        done.append(batch.number)

    assert work_through(BATCHES, 1, work) == {2: "ValueError: no"}
    assert done == [1, 3, 4]


def test_batches_are_worked_on_at_once() -> None:
    """A barrier lets nobody through until two have come."""
    both = threading.Barrier(2, timeout=30)
    assert work_through(BATCHES, 2, lambda batch: both.wait() and None) == {}


def test_reports_add_up() -> None:
    totals = Totals()
    report = {"records": 5, "pages": 3, "n_problems": 0, "clipped": True, "error": None, "skipped": {"status": 2}}
    totals.read([report, report])
    totals.written([report | {"failed_pages": 1, "fallback_pages": 2}], 3)
    assert (totals.files, totals.records, totals.pages, totals.broken_files, totals.skipped) == (
        2,
        10,
        6,
        2,
        {"status": 4},
    )
    assert (totals.rows, totals.failed_pages, totals.fallback_pages) == (3, 1, 2)
