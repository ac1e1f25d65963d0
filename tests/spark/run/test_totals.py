"""What batches add up to."""

from typing import Any

from dripper.errors import FileErrorKind
from dripper.spark.run.outcome import Totals, is_outage
from dripper.spark.run.scheduler import Worked


def report(**more: Any) -> dict[str, Any]:
    whole = {"records": 5, "pages": 3, "n_problems": 0, "clipped": True, "error": None, "error_kind": None}
    return whole | {"warc_file": "a", "skipped": {"status": 2}} | more


def failed(kind: FileErrorKind, name: str = "a") -> dict[str, Any]:
    return report(warc_file=name, error="no", error_kind=kind.value, records=0, pages=0, skipped={})


def test_reports_add_up() -> None:
    totals = Totals()
    totals.add_read([report(), report(), failed(FileErrorKind.DENIED, "b"), report(records=0, pages=0, skipped={})])
    totals.add_written([report(rows=3, failed_pages=1, fallback_pages=2, errors=["empty_page"], methods={"cpu": 2})])
    totals.add_noted([{"warc_file": "c", "state": "set_aside", "error": "why"}, {"warc_file": "d", "state": "failed"}])
    totals.add_failures(Worked({7: "no"}, [9, 8]))
    assert (totals.files, totals.records, totals.pages, totals.broken_files) == (4, 10, 6, 4)
    assert (totals.skipped, totals.failed_files) == ({"status": 4}, {"denied": ["b"]})
    assert (totals.rows, totals.failed_pages, totals.fallback_pages, totals.errors) == (3, 1, 2, {"empty_page": 1})
    assert totals.methods == {"cpu": 2}
    assert (totals.set_aside, totals.failed_batches, totals.batches_not_begun) == ({"c": "why"}, {7: "no"}, [8, 9])


def test_archives_that_are_none_or_cut_short_are_kept_apart_from_damage_inside() -> None:
    totals, noise = Totals(), {"skipped": {"broken record": 1}, "records": 1, "pages": 0}
    done = {"state": "done", "n_problems": 1, "selection": None}
    totals.add_noted([
        report(warc_file="cut") | done,
        report(warc_file="text", clipped=False) | done | noise,
        report(warc_file="cut text") | done | noise,
        report(warc_file="empty", records=0, pages=0, skipped={}, clipped=False) | done,
        report(warc_file="damaged", clipped=False, skipped={"broken record": 2}) | done,
        report(warc_file="good", clipped=False) | done | {"n_problems": 0},
        report(warc_file="unread", error="no") | done | {"state": "failed"},
        report(warc_file="by an index") | done | {"selection": "x"},
    ])  # fmt: skip
    assert totals.faults == {"cut": "cut short", "text": "no archive", "cut text": "no archive", "empty": "no archive"}


def test_an_outage_is_where_nothing_can_be_read() -> None:
    denied, gone = failed(FileErrorKind.DENIED), failed(FileErrorKind.GONE)
    assert is_outage([denied, denied])
    assert is_outage([denied, gone])
    assert not is_outage([denied, report()])
    assert not is_outage([gone, gone])
    assert not is_outage([])
