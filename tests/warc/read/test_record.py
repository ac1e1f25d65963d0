"""The report of a file: counts that add up, and few messages for any number of problems."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import FileError, FileErrorKind, InputError
from dripper.warc.read.record import FLAGS, MAX_PROBLEMS, SKIP_REASONS, FileReport, merge_reports


@given(st.lists(st.sampled_from(SKIP_REASONS)))
def test_every_skipped_record_is_counted_once(reasons: list[str]) -> None:
    report = FileReport("a.warc")
    for reason in reasons:
        report.skip(reason)
    assert report.records == report.pages + sum(report.skipped.values()) == len(reasons)
    assert report.skipped == {reason: reasons.count(reason) for reason in set(reasons)}


def test_all_problems_are_counted_and_the_first_are_kept() -> None:
    report = FileReport("a.warc")
    for number in range(MAX_PROBLEMS + 5):
        report.add_problem(f"byte {number}")
    assert report.n_problems == MAX_PROBLEMS + 5
    assert report.problems == [f"byte {number}" for number in range(MAX_PROBLEMS)]


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (FileError(FileErrorKind.GONE, "a.warc: gone"), FileErrorKind.GONE, "a.warc: gone"),
        (InputError("b"), FileErrorKind.UNREADABLE, "b"),
        (OSError(5, "Input/output error"), FileErrorKind.UNREADABLE, "[Errno 5] Input/output error"),
        (KeyError("x"), FileErrorKind.INTERNAL, "internal: KeyError: 'x'"),
    ],
)
def test_a_failure_has_a_kind_and_a_sentence(error: Exception, kind: FileErrorKind, sentence: str) -> None:
    report = FileReport("a.warc")
    report.fail(error)
    assert (report.error_kind, report.error) == (kind, sentence)
    assert json.loads(json.dumps(asdict(report)))["error_kind"] == kind.value


def test_reports_do_not_share_their_lists() -> None:
    one, other = FileReport("a"), FileReport("b")
    one.add_problem("x")
    one.skip("empty")
    assert (other.problems, other.skipped) == ([], {})


def test_names_are_unique() -> None:
    assert len(set(FLAGS)) == len(FLAGS)
    assert len(set(SKIP_REASONS)) == len(SKIP_REASONS)


def test_a_file_is_the_sum_of_its_spans() -> None:
    first = FileReport("a", 9, "etag:1", bytes_read=5, records=3, pages=1, skipped={"empty": 2})
    second = FileReport("a", 9, "etag:1", bytes_read=4, records=2, pages=1, skipped={"status": 1}, clipped=True)
    for report, n_problems in ((first, 15), (second, 9)):
        for number in range(n_problems):
            report.add_problem(f"{report.bytes_read}: {number}")
    whole = merge_reports([first, second])
    assert (whole.size_bytes, whole.version, whole.bytes_read, whole.records, whole.pages) == (9, "etag:1", 9, 5, 2)
    assert whole.skipped == {"empty": 2, "status": 1}
    assert (whole.clipped, whole.n_problems) == (True, 24)
    assert whole.problems == (first.problems + second.problems)[:20]


def test_a_span_that_failed_is_the_files_error() -> None:
    failed = FileReport("a")
    failed.fail(FileError(FileErrorKind.DENIED, "no"))
    whole = merge_reports([FileReport("a", 9, "etag:1"), failed])
    assert (whole.error, whole.error_kind) == ("no", FileErrorKind.DENIED)


def test_a_file_that_changed_between_two_spans_is_an_error() -> None:
    whole = merge_reports([FileReport("a", 9, "etag:1"), FileReport("a", 9, "etag:2")])
    assert whole.error_kind is FileErrorKind.CHANGED


def test_no_span_is_no_file() -> None:
    with pytest.raises(ValueError, match="one span"):
        merge_reports([])
