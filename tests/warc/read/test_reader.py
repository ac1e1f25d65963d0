"""Reading a file: every record accounted for, every fault named, never an exception."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dripper.errors import ErrorCode
from dripper.settings import ReadSettings
from dripper.warc import FileReport, Record, read_records
from dripper.warc.read.pages import page_id
from dripper.warc.read.record import FLAGS, MAX_PROBLEMS, SKIP_REASONS
from support.archives import arc, http, page, store, warc

FAULTS = Path(__file__).parents[2] / "data" / "warc"


def read(path: Path, **settings: int) -> tuple[list[Record], FileReport]:
    reader = read_records(str(path), ReadSettings(**settings))
    records = list(reader)
    report = reader.report
    assert report.records == report.pages + sum(report.skipped.values())
    assert report.pages == len(records)
    assert set(report.skipped) <= set(SKIP_REASONS)
    assert all(flag in FLAGS for record in records for flag in record.flags)
    assert len({record.page_id for record in records}) == len(records)
    return records, report


def written(folder: Path, data: bytes, name: str = "x.warc.gz") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_a_page_has_everything_that_a_row_needs(tmp_path: Path) -> None:
    path = written(tmp_path, store([warc("http://e.org/", http(page(1)))], "gzip").data)
    (record,), report = read(path)
    assert record.payload == page(1)
    assert record.page_id == page_id(str(path), 0)
    assert len(record.page_id) == 32
    assert (record.http_status, record.content_type, record.url) == (200, "text/html; charset=utf-8", "http://e.org/")
    assert record.fetched_at is not None
    assert record.fetched_at.isoformat() == "2024-02-03T04:05:06+00:00"
    assert (record.offset, record.length) == (0, path.stat().st_size)
    assert (record.truncated, record.flags, record.error_code) == (None, (), None)
    assert (report.size_bytes, report.bytes_read) == (path.stat().st_size,) * 2
    assert (report.problems, report.clipped, report.error) == ([], False, None)


def test_the_report_fills_while_reading(tmp_path: Path) -> None:
    reader = read_records(
        str(written(tmp_path, store([warc("http://e.org/", http(page(i))) for i in range(3)], "gzip").data))
    )
    next(reader)
    assert (reader.report.records, reader.report.pages) == (1, 1)
    reader.close()
    assert list(reader) == []


@pytest.mark.parametrize(("name", "error"), [("missing.warc", "No such file"), ("", "folder")])
def test_a_file_that_cannot_be_opened_is_an_error_of_the_report(tmp_path: Path, name: str, error: str) -> None:
    records, report = read(tmp_path / name)
    assert records == []
    assert error in (report.error or "")


@pytest.mark.parametrize(("data", "problem"), [(b"", "is empty"), (b"\x00\x01 noise" * 1000, "no WARC or ARC record")])
def test_a_file_without_records_has_a_problem_but_no_error(tmp_path: Path, data: bytes, problem: str) -> None:
    """To try again would find the same: nothing for a job to come back to."""
    (tmp_path / "x.warc").write_bytes(data)
    records, report = read(tmp_path / "x.warc")
    assert (records, report.error) == ([], None)
    assert problem in report.problems[-1]


def test_problems_are_counted_but_only_the_first_are_told(tmp_path: Path) -> None:
    broken = [warc(f"http://e.org/{i}", http(page(i)), length="x") for i in range(50)]
    _, report = read(written(tmp_path, store(broken, "gzip").data))
    assert (report.n_problems, len(report.problems), report.pages) == (50, MAX_PROBLEMS, 50)


def test_a_page_above_the_limit_is_a_row_without_payload(tmp_path: Path) -> None:
    pages = [warc(f"http://e.org/{i}", http(page(i, size))) for i, size in enumerate([50, 9_000_000, 300_000, 60])]
    for storage in ("plain", "gzip"):
        records, _ = read(written(tmp_path, store(pages, storage).data), page_bytes=100_000)
        assert [record.error_code for record in records] == [None, *[ErrorCode.PAGE_TOO_LARGE] * 2, None]
        assert [bool(record.payload) for record in records] == [True, False, False, True]


def test_a_large_record_that_is_no_page_is_skipped(tmp_path: Path) -> None:
    video = warc("http://e.org/v", http(b"\x00" * 9_000_000, "video/mp4"))
    records, report = read(written(tmp_path, video + warc("http://e.org/", http(page(1)))), page_bytes=100_000)
    assert report.skipped == {"not html": 1}
    assert len(records) == 1


@pytest.mark.parametrize("length", [9_000_000, 20_000_000, 5, None])
def test_a_wrong_length_of_a_huge_block_loses_no_other_record(tmp_path: Path, length: int | None) -> None:
    """The start of the record has left the window when the length turns out wrong, so the file is
    opened again."""
    huge = warc("http://e.org/v", http(b"\x00" * 8_000_000, "video/mp4"), length="none" if length is None else length)
    pages = [warc(f"http://e.org/{i}", http(page(i, 300_000))) for i in range(8)]
    for storage in ("plain", "gzip whole"):
        records, report = read(written(tmp_path, store([huge, *pages], storage).data), page_bytes=500_000)
        assert [record.url for record in records] == [f"http://e.org/{i}" for i in range(8)]
        assert [record.payload for record in records] == [page(i, 300_000) for i in range(8)]
        assert report.n_problems == 1


def test_an_archive_inside_a_record_is_not_read(tmp_path: Path) -> None:
    inner = b"".join(warc(f"http://inner.org/{i}", http(page(i))) for i in range(3))
    outer = [warc("http://e.org/a.warc", http(inner, "application/warc")), warc("http://e.org/", http(page(1)))]
    records, report = read(written(tmp_path, b"".join(outer)))
    assert [record.url for record in records] == ["http://e.org/"]
    assert report.skipped == {"not html": 1}


def test_offsets_of_records_that_share_a_member_count_inflated_bytes(tmp_path: Path) -> None:
    made = [warc(f"http://e.org/{i}", http(page(i))) for i in range(3)]
    records, _ = read(written(tmp_path, store(made, "gzip whole").data))
    inflated = b"".join(made)
    for record, original in zip(records, made, strict=True):
        assert record.flags == ("inflated offset",)
        assert inflated[record.offset : record.offset + record.length] == original[:-4]
        assert record.page_id == page_id(record.warc_file, record.offset, inflated=True)


def test_the_same_file_gives_the_same_records(tmp_path: Path) -> None:
    data = store([warc(f"http://e.org/{i}", http(page(i))) for i in range(4)], "gzip").data
    path = written(tmp_path, data[:300] + b"?" + data[301:])
    assert read(path) == read(path)


@given(
    noise=st.binary(max_size=400), clip=st.integers(0, 2000), kind=st.sampled_from(["warc", "arc"]), gz=st.booleans()
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_report_that_closes(tmp_path: Path, noise: bytes, clip: int, kind: str, gz: bool) -> None:
    make = warc if kind == "warc" else arc
    data = make("http://e.org/", noise) + noise + make("http://e.org/", http(noise))[:clip]
    read(written(tmp_path, gzip.compress(data) if gz else data))


FAULT_FILES = {
    # file: (pages, skipped, clipped, problems, truncated, flags of the pages)
    "clipped.warc.gz": (2, {}, True, 1, (None, "clipped"), ((), ())),
    "damaged-member.warc.gz": (2, {"broken record": 1}, False, 1, (None, None), ((), ())),
    "wrong-checksum.warc.gz": (3, {}, False, 1, (None,) * 3, ((), ("damaged member",), ())),
    "length-too-long.warc": (3, {}, False, 1, (None, "length mismatch", None), ((),) * 3),
    "length-too-short.warc": (3, {}, False, 1, (None, "length mismatch", None), ((),) * 3),
    "no-length.warc": (3, {}, False, 1, (None, "length mismatch", None), ((),) * 3),
    "broken-header.warc": (2, {"broken record": 1}, False, 1, (None, None), ((), ())),
    "broken-url-line.arc": (2, {"broken record": 1}, False, 1, (None, None), ((), ())),
    "warc-truncated.warc": (1, {}, False, 0, ("length",), ((),)),
    "whole-file-gzip.warc.gz": (3, {}, False, 0, (None,) * 3, (("inflated offset",),) * 3),
    "wrong-chunks.warc": (1, {}, False, 0, (None,), (("bad chunking",),)),
    "gzip-that-is-plain.warc": (1, {}, False, 0, (None,), (("not encoded",),)),
    "body-unreadable.warc": (1, {}, False, 0, (None,), ((),)),
    "gzip-cut-short.warc": (1, {}, False, 0, ("broken encoding",), (("broken encoding",),)),
}


@pytest.mark.parametrize("name", FAULT_FILES)
def test_each_fault_is_named(name: str) -> None:
    n_pages, skipped, clipped, n_problems, truncated, flags = FAULT_FILES[name]
    records, report = read(FAULTS / name)
    assert (len(records), report.skipped, report.clipped, report.n_problems) == (n_pages, skipped, clipped, n_problems)
    assert tuple(record.truncated for record in records) == truncated
    assert tuple(record.flags for record in records) == flags
    assert [record.error_code for record in records if record.error_code] == (
        [ErrorCode.BODY_UNREADABLE] if name == "body-unreadable.warc" else []
    )


def test_every_fault_file_is_tested() -> None:
    assert {path.name for path in FAULTS.iterdir()} - {"README.md", "make_faults.py"} == set(FAULT_FILES)
