"""The sums of batches, and the end of a run: messages with the remedy, and an exit code."""

from typing import Any

from dripper.errors import FileErrorKind
from dripper.spark.ledger.plan import Plan
from dripper.spark.run.outcome import Outcome, Totals, bad_inputs, is_outage, work_left
from dripper.spark.run.scheduler import Worked
from dripper.warc.read.record import ArchiveFault

MANY = [f"f{i}" for i in range(7)]


def test_nothing_is_left_of_a_good_run() -> None:
    assert (work_left(Totals(files=2)), bad_inputs(Totals(files=2), Plan())) == ([], [])


def test_work_that_is_left_is_told_with_what_to_do() -> None:
    failed = {
        FileErrorKind.EXPIRED.value: MANY,
        FileErrorKind.GONE.value: ["g"],
        FileErrorKind.INTERNAL.value: ["i", "s"],
    }
    totals = Totals(
        failed_batches={9: "OSError: disk", 7: "ValueError: no"},
        batches_not_begun=[10, 11],
        failed_files=failed,
        set_aside={"s": "why"},
    )
    told = work_left(totals)
    assert [sentence.split(";")[0] for sentence in told] == [
        "batch 7 failed (ValueError: no)",
        "batch 9 failed (OSError: disk)",
        "2 batches were not begun, as too many before failed in a row: mend the cause, then run the same command "
        "again: only what is missing is done",
        "7 files could not be read to the end (expired: renew the credentials), f0, f1, f2, f3, f4, …",
        "1 file could not be read to the end (internal: see the column error of warc_files, mend the cause), i",
    ]
    assert told[0].endswith("run the same command again: only what is missing is done")


def test_inputs_that_stay_bad_are_told_apart() -> None:
    totals = Totals(failed_files={FileErrorKind.GONE.value: ["g", "s"]}, set_aside={"s": "why"})
    told = bad_inputs(totals, Plan(set_aside=("old",)))
    assert told[0].startswith("1 file does not exist, g; if that is known, say so with --dismiss")
    assert told[1].startswith("2 files are set aside, as reading failed too often, old, s: see")
    assert "--redo FILE" in told[1]


def test_files_that_are_no_whole_archives_are_named_until_they_are_dismissed() -> None:
    totals = Totals(faults={"text": ArchiveFault.NO_ARCHIVE, "cut": ArchiveFault.CUT_SHORT})
    told = bad_inputs(totals, Plan(faults={"old": ArchiveFault.CUT_SHORT}))
    assert told[0].startswith("1 file holds no WARC or ARC record, text: fetch again, or say")
    assert told[1].startswith("2 files are cut short (the pages before the cut are rows), cut, old: fetch")
    assert all(sentence.endswith("--dismiss FILE,… that it is known") for sentence in told)


def test_a_batch_that_lost_rows_says_which_stage_goes_again() -> None:
    totals = Totals(put_back={3: ("preprocess", "the table pages has 1 of the 2 pages that were read from a")})
    assert work_left(totals) == [
        "batch 3 goes back to the stage preprocess: the table pages has 1 of the 2 pages that were read from a. Rows were "
        "deleted, or a table was: run that stage again over the same files, then those after it"
    ]


def test_the_exit_code_says_whether_another_run_would_help() -> None:
    def code(complaints: tuple[str, ...] = (), bad: tuple[str, ...] = ()) -> int:
        return Outcome(Plan(), Totals(), {}, complaints, bad).exit_code

    assert (code(), code(("left",)), code((), ("bad",)), code(("left",), ("bad",))) == (0, 3, 4, 3)


def report(**more: Any) -> dict[str, Any]:
    whole = {"records": 5, "pages": 3, "n_problems": 0, "clipped": True, "error": None, "error_kind": None}
    return whole | {"warc_file": "a", "skipped": {"status": 2}} | more


def failed(kind: FileErrorKind, name: str = "a") -> dict[str, Any]:
    return report(warc_file=name, error="no", error_kind=kind.value, records=0, pages=0, skipped={})


def test_reports_add_up() -> None:
    totals = Totals()
    totals.add_read([report(), report(), failed(FileErrorKind.DENIED, "b"), report(records=0, pages=0, skipped={})])
    totals.add_written(
        [
            report(
                rows=3, failed_pages=1, fallback_pages=2, errors=["empty_page"], methods={"cpu": 2}, grades={"sure": 1}
            )
        ]
    )
    totals.add_noted([{"warc_file": "c", "state": "set_aside", "error": "why"}, {"warc_file": "d", "state": "failed"}])
    totals.add_failures(Worked({7: "no"}, [9, 8]))
    assert (totals.files, totals.records, totals.pages, totals.broken_files) == (4, 10, 6, 4)
    assert (totals.skipped, totals.failed_files) == ({"status": 4}, {"denied": ["b"]})
    assert (totals.rows, totals.failed_pages, totals.fallback_pages, totals.errors) == (3, 1, 2, {"empty_page": 1})
    assert (totals.methods, totals.grades) == ({"cpu": 2}, {"sure": 1})
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
