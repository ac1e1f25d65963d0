"""Records in segments: one page from all of them, for any split of the file."""

from pathlib import Path

import pytest

from dripper.decode.compression import RUN_BYTES
from dripper.settings import ReadSettings
from dripper.warc import FileReport, Record, read_records
from dripper.warc.read import spans
from dripper.warc.read.record import Span, cut, merge_reports
from support.archives import STORAGES, http, page, store, warc

BODY = page(7, 3000)
ORIGIN = "<urn:uuid:00000000-0000-0000-0000-000000000000>"


def segments(n: int, total: int | None = None) -> list[bytes]:
    """Return the records of one page that was cut in `n`."""
    block = http(BODY)
    size = -(-len(block) // n)
    parts = [block[at : at + size] for at in range(0, len(block), size)]
    records = [warc("http://e.org/7", parts[0], WARC_Segment_Number="1")]
    for number, part in enumerate(parts[1:], 2):
        fields = {"WARC_Segment_Number": str(number), "WARC_Segment_Origin_ID": ORIGIN}
        if number == n:
            fields["WARC_Segment_Total_Length"] = str(total or len(block))
        record = warc("http://e.org/7", part, "continuation", **fields)
        records.append(record.replace(f"Record-ID: {ORIGIN}".encode(), f"Record-ID: <urn:x:{number}>".encode()))
    return records


def other(number: int) -> bytes:
    return warc(f"http://e.org/{number}", http(page(number)))


def read(
    tmp_path: Path, records: list[bytes], storage: str = "gzip", **settings: int
) -> tuple[list[Record], FileReport]:
    file = tmp_path / "a.warc"
    file.write_bytes(store(records, storage).data)
    reader = read_records(str(file), ReadSettings(**settings))
    return list(reader), reader.report


@pytest.mark.parametrize("storage", STORAGES)
def test_segments_are_put_together(storage: str, tmp_path: Path) -> None:
    found, report = read(tmp_path, [other(1), *segments(3), other(2)], storage)
    assert [record.url for record in found] == ["http://e.org/1", "http://e.org/7", "http://e.org/2"]
    assert (found[1].payload, found[1].truncated) == (BODY, None)
    assert (report.records, report.skipped, report.n_problems) == (5, {"not a response": 2}, 0)


@pytest.mark.parametrize(
    "records",
    [
        segments(3)[:2],
        [segments(3)[0], segments(3)[2]],
        [segments(3)[0], other(1), *segments(3)[1:]],
        segments(3, 999_999),
    ],
    ids=["the last is missing", "one is missing", "another record is between", "the total is another"],
)
def test_what_is_not_all_there_is_truncated(records: list[bytes], tmp_path: Path) -> None:
    found, report = read(tmp_path, records)
    page = next(record for record in found if record.url == "http://e.org/7")
    assert (page.truncated, BODY.startswith(page.payload), len(report.problems)) == ("segmented", True, 0)


def test_a_page_of_many_segments_is_too_large(tmp_path: Path) -> None:
    found, _ = read(tmp_path, segments(60), page_bytes=1024)
    assert [record.error_code for record in found] == ["page_too_large"]


@pytest.mark.parametrize("storage", ["gzip", "plain"])
def test_spans_make_up_the_file(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "RUN_BYTES", dict.fromkeys(RUN_BYTES, 300))
    records = [*segments(6), *(other(i) for i in range(8)), *segments(5)[:3], other(9), *segments(4), other(10)]
    whole, report = read(tmp_path, records, storage)
    file = tmp_path / "a.warc"
    for n_spans in (2, 7, 40):
        readers = [read_records(str(file), span=span) for span in cut(file.stat().st_size, n_spans)]
        assert [record for reader in readers for record in reader] == whole
        assert merge_reports([reader.report for reader in readers]) == report
    assert list(read_records(str(file), span=Span())) == whole
