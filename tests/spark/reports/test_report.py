"""The words at the end of a run."""

from dripper.settings import CostSettings
from dripper.spark.ledger.plan import Plan
from dripper.spark.reports.report import plan_summary, summary
from dripper.spark.run.outcome import LabelTotals, Outcome, Totals
from dripper.spark.tables.batches import Batch, PlannedFile

LEDGER = {"done": 3, "failed": 1, "planned": 0, "records": 100, "pages": 40, "failed_pages": 2, "skipped": 60}
EMPTY = Plan()


def report(pages: int, **more: object) -> dict[str, object]:
    return {
        "warc_file": "a",
        "records": pages,
        "pages": pages,
        "rows": pages,
        "errors": [],
        "methods": {},
        "grades": {},
        "failed_pages": 0,
        "fallback_pages": 0,
        "skipped": {},
        "n_problems": 0,
        "clipped": False,
        "error": None,
    } | more


def test_counts_of_a_run() -> None:
    totals = Totals()
    first = [
        report(30, records=80, skipped={"status": 9, "not html": 41}, fallback_pages=3),
        report(10, failed_pages=2, clipped=True),
    ]
    second = [report(0, records=10, skipped={"not html": 10}, error="gone")]
    for reports in (first, second):
        totals.add_read(reports)
        totals.add_written(reports)
    words = summary(Outcome(EMPTY, totals, LEDGER, ()), "out")
    assert "files     3 read, 1 with faults, 1 failed" in words
    assert "records   100 = 40 pages + 60 skipped" in words
    assert "skipped   51 not html, 9 status" in words
    assert "rows      40 = 38 extractions (3 by the fallback) + 2 error rows" in words
    assert "files     3 done, 1 failed, 0 planned" in words


def test_counts_of_a_staged_run() -> None:
    label = LabelTotals(pages=38, failed=1, windowed=2, passes=76, tokens=38_000, seconds=36.0, engines=2)
    totals = Totals(files=1, records=40, pages=40, blocks=38, rows=40, failed_pages=3, fallback_pages=1, label=label)
    ledger = LEDGER | {"preprocessed": 2, "labelled": 0}
    devices = CostSettings().devices
    words = summary(Outcome(EMPTY, totals, ledger, stages=("preprocess", "label", "extract")), "out", devices)
    assert "blocks    40 pages = 38 split into blocks + 2 error rows" in words
    assert "labels    38 pages = 37 labelled (2 in windows) + 1 without usable labels" in words
    assert "1,000 pages took 1,000,000 tokens, 2,000 passes, 1,894.7 engine seconds" in words
    assert "$0.2053 on L4" in words
    assert "rows      40 = 37 extractions (1 by the fallback) + 3 error rows" in words
    assert "files     3 done, 1 failed, 2 preprocessed, 0 planned" in words


def test_a_stage_without_work_says_so() -> None:
    words = summary(Outcome(EMPTY, Totals(), LEDGER, stages=("label",)), "out")
    assert "nothing to do: no batch is ready for the stage label" in words


def test_a_stage_shows_its_own_counts_only() -> None:
    totals = Totals(label=LabelTotals(pages=5))
    words = summary(Outcome(EMPTY, totals, LEDGER, stages=("label",)), "out")
    assert "labels    5 pages = 5 labelled" in words
    assert "rows" not in words
    assert "skipped   " not in words


def test_nothing_to_do() -> None:
    words = summary(Outcome(Plan(n_done=7), Totals(), LEDGER), "out")
    assert "nothing to do: all 7 files were done before" in words
    assert "this run" not in words


def test_complaints_are_shown_even_where_nothing_was_read() -> None:
    words = summary(Outcome(EMPTY, Totals(failed_batches={1: "x"}), LEDGER, ("batch 1 failed",)), "out")
    assert "NOT DONE: batch 1 failed" in words
    assert "nothing to do" not in words


def test_bad_inputs_and_what_was_given_up_are_shown() -> None:
    totals, ledger = Totals(set_aside={"a": "why"}), LEDGER | {"set_aside": 1, "dismissed": 2}
    words = summary(Outcome(EMPTY, totals, ledger, bad_inputs=("1 file is set aside",)), "out")
    assert "files     3 done, 1 failed, 0 planned, 1 set aside, 2 dismissed" in words
    assert words.endswith("BAD INPUT: 1 file is set aside\n")


def test_a_plan_in_words() -> None:
    old = Batch(2, (PlannedFile("a", 3_000_000),))
    new = Batch(3, (PlannedFile("b", 1_500_000), PlannedFile("c", None)))
    words = plan_summary(Plan((old,), (new,), n_done=5, n_left=9))
    assert "5 files are done" in words
    assert "batch 2 (goes on): 1 file, 3.0 MB" in words
    assert "batch 3 (new): 2 files, 1.5 MB and 1 file of unknown size" in words
    assert "--limit leaves 9 files" in words
