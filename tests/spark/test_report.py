"""The words at the end of a run."""

from dripper.spark.fused import Totals
from dripper.spark.plan import Batch, Plan, PlannedFile
from dripper.spark.report import plan_summary, summary
from dripper.spark.run import Outcome

LEDGER = {"done": 3, "failed": 1, "planned": 0, "records": 100, "pages": 40, "failed_pages": 2, "skipped": 60}
EMPTY = Plan((), (), (), 0, 0)


def report(pages: int, **more: object) -> dict[str, object]:
    return {
        "records": pages,
        "pages": pages,
        "failed_pages": 0,
        "skipped": {},
        "n_problems": 0,
        "clipped": False,
        "error": None,
    } | more


def test_counts_of_a_run() -> None:
    totals = Totals()
    totals.add(
        [report(30, records=80, skipped={"status": 9, "not html": 41}), report(10, failed_pages=2, clipped=True)], 40
    )
    totals.add([report(0, records=10, skipped={"not html": 10}, error="gone")], 0)
    words = summary(Outcome(EMPTY, totals, LEDGER, ()), "out")
    assert "files     3 read, 1 with faults, 1 failed" in words
    assert "records   100 = 40 pages + 60 skipped" in words
    assert "skipped   51 not html, 9 status" in words
    assert "rows      40 = 38 extractions + 2 error rows" in words
    assert "files     3 done, 1 failed, 0 planned" in words


def test_nothing_to_do() -> None:
    words = summary(Outcome(Plan((), (), (), 7, 0), Totals(), LEDGER, ()), "out")
    assert "nothing to do: all 7 files were done before" in words
    assert "this run" not in words


def test_complaints_are_shown_even_where_nothing_was_read() -> None:
    words = summary(Outcome(EMPTY, Totals(failed_batches={1: "x"}), LEDGER, ("batch 1 failed",)), "out")
    assert "NOT DONE: batch 1 failed" in words
    assert "nothing to do" not in words


def test_a_plan_in_words() -> None:
    old = Batch(2, (PlannedFile("a", 3_000_000),))
    new = Batch(3, (PlannedFile("b", 1_500_000), PlannedFile("c", None)))
    words = plan_summary(Plan((old,), (new,), (), 5, 9))
    assert "5 files are done" in words
    assert "batch 2 (goes on): 1 files, 3.0 MB" in words
    assert "batch 3 (new): 2 files, 1.5 MB and 1 files of unknown size" in words
    assert "--limit leaves 9 files" in words
