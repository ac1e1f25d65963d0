"""For any split of a file into spans, their records in sequence and their combined reports equal
the file's."""

import gzip
import io
import random
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dripper.warc import FileReport, Record, read_records
from dripper.warc.read import spans
from dripper.warc.read.frames import FrameReader
from dripper.warc.read.members import Members
from dripper.warc.read.record import Span, merge_reports
from dripper.warc.read.spans import find_part
from support.archives import STORAGES, Bytes, arc, http, page, store, warc

RECORDS = [warc(f"http://e.org/{i}", http(page(i, 2000)), "response" if i % 3 else "request") for i in range(200)]
DATA = Path(__file__).parents[2] / "data"
OURS = sorted(path for path in DATA.glob("*/*arc*") if path.suffix != ".md")
SMALL_RUN = dict.fromkeys(spans.RUN_BYTES, 1000)
"""A shorter proof of a seam, so that small files are tested too; none of them contains another
archive."""


def read_in_spans(path: Path, points: Sequence[int]) -> tuple[list[list[Record]], FileReport]:
    readers = [
        read_records(str(path), span=Span(start, end)) for start, end in zip([0, *points], [*points, None], strict=True)
    ]
    return [list(reader) for reader in readers], merge_reports([reader.report for reader in readers])


def assert_law(path: Path, points: Sequence[int]) -> int:
    """Assert it for the file cut at `points`; return how many spans had pages."""
    whole = read_records(str(path))
    pages = list(whole)
    parts, report = read_in_spans(path, sorted(points))
    assert [record for part in parts for record in part] == pages, path.name
    assert report == whole.report, path.name
    return sum(bool(part) for part in parts)


def test_every_file_of_the_corpus_may_be_cut_anywhere(archives: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "RUN_BYTES", SMALL_RUN)
    chance = random.Random(0)
    files = [*OURS, *(path for path in sorted(archives.rglob("*arc*")) if path.is_file() and path.suffix != ".json")]
    shared = 0
    for path in files:
        size = path.stat().st_size
        shared += assert_law(path, [chance.randrange(size + 1) for _ in range(2)]) > 1
    assert len(files) > 130
    assert shared > 30


@st.composite
def damaged_archives(draw: st.DrawFn) -> bytes:
    """Archives stored in every way, with wrong lengths, flipped, lost and foreign bytes, and cut
    short."""
    lengths = st.sampled_from([None, None, None, 0, 10, 5000, 10**9])
    records = [
        warc(f"http://e.org/{i}", http(page(i, draw(st.sampled_from([50, 3000])))), length=draw(lengths))
        for i in range(draw(st.integers(1, 12)))
    ]
    if draw(st.booleans()):
        records = [arc(f"http://e.org/{i}", http(page(i, 500))) for i in range(12)]
    storage = draw(st.sampled_from([*STORAGES, "blocks", "several"]))
    whole = b"".join(records)
    if storage == "blocks":
        stored = b"".join(gzip.compress(whole[at : at + 700], mtime=0) for at in range(0, len(whole), 700))
    elif storage == "several":
        stored = b"".join(gzip.compress(b"".join(records[i : i + 3]), mtime=0) for i in range(0, len(records), 3))
    else:
        stored = store(records, storage).data
    for at in draw(st.lists(st.integers(0, len(stored)), max_size=3)):
        n_lost, foreign = draw(st.sampled_from([0, 1, 400])), draw(st.sampled_from([b"", b"\x1f\x8b\x08", b"x" * 30]))
        stored = stored[:at] + foreign + stored[at + n_lost :]
    return stored[: draw(st.one_of(st.none(), st.integers(0, len(stored))))]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stored=damaged_archives(), shares=st.lists(st.floats(0, 1.1), min_size=1, max_size=5))
def test_damaged_archives_may_be_cut_anywhere(
    stored: bytes, shares: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "RUN_BYTES", SMALL_RUN)
    file = tmp_path / "a.warc"
    file.write_bytes(stored)
    assert_law(file, [int(share * len(stored)) for share in shares])


@pytest.mark.parametrize("storage", ["plain", "gzip", "zstd"])
def test_each_span_has_the_records_that_begin_in_it(storage: str, tmp_path: Path) -> None:
    built = store(RECORDS, storage)
    file = tmp_path / "a.warc"
    file.write_bytes(built.data)
    half = len(built.data) // 2
    (first, second), _ = read_in_spans(file, [half])
    assert {record.offset < half for record in first} == {True}
    assert {record.offset >= half for record in second} == {True}
    assert len(first) + len(second) == sum(i % 3 > 0 for i in range(200))


def test_a_span_that_begins_with_a_member_begins_there(tmp_path: Path) -> None:
    built = store(RECORDS, "gzip")
    file = tmp_path / "a.warc.gz"
    file.write_bytes(built.data)
    start, end = built.spans[100][0], built.spans[104][0]
    found = list(read_records(str(file), span=Span(start, end)))
    assert [record.url for record in found] == ["http://e.org/100", "http://e.org/101", "http://e.org/103"]


@pytest.mark.parametrize("storage", STORAGES)
def test_an_archive_inside_a_page_is_no_seam(storage: str, tmp_path: Path) -> None:
    """Stored, not compressed: its members are in the file byte for byte, 64 KiB at a time."""
    inner = store([warc(f"http://in.org/{i}", http(page(i, 300))) for i in range(1500)], "gzip").data
    outer = [warc("http://e.org/archive", http(b"<html>" + inner)), *RECORDS]
    stored = b"".join(gzip.compress(record, 0) for record in outer) if storage == "gzip" else store(outer, storage).data
    file = tmp_path / "a.warc"
    file.write_bytes(stored)
    assert len(inner) > 300_000
    assert_law(file, range(1000, len(inner), 30_000))


def test_a_file_of_one_member_is_read_by_its_first_span(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(store(RECORDS, "gzip whole").data)
    assert assert_law(file, [100, 5000]) == 1


def test_inflated_offsets_count_from_the_start_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    chance = random.Random(0)
    noise = [warc(f"http://e.org/{i}", http(b"<html>" + chance.randbytes(4000))) for i in range(90)]
    file.write_bytes(b"".join(gzip.compress(b"".join(noise[i : i + 3])) for i in range(0, 90, 3)))
    (_, second), _ = read_in_spans(file, [150_000])
    assert second
    assert all("inflated offset" in record.flags for record in second)
    assert assert_law(file, [150_000]) == 2


@pytest.mark.parametrize("zipped", [True, False])
def test_a_dictionary_at_the_start_is_known_in_every_span(zipped: bool, tmp_path: Path) -> None:
    dictionary = zstandard.train_dictionary(20_000, RECORDS)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    content = zstandard.compress(dictionary.as_bytes()) if zipped else dictionary.as_bytes()
    file = tmp_path / "a.warc.zst"
    header = struct.pack("<II", 0x184D2A5D, len(content))
    file.write_bytes(header + content + b"".join(compressor.compress(record) for record in RECORDS))
    assert assert_law(file, [10, len(content) + 20, 60_000, 90_000]) > 2


def test_a_span_reads_no_more_than_itself_and_a_little() -> None:
    class Counting(Bytes):
        n_read = 0

        def open_at(self, offset: int) -> io.BytesIO:
            return Counting(self.getvalue()[offset:])

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            Counting.n_read += len(data)
            return data

    built = store(RECORDS * 100, "gzip")
    n_bytes = len(built.data)
    members = Members(Counting(built.data))
    part = find_part(members, Span(n_bytes // 2, n_bytes // 2 + 100_000), 1 << 20)
    assert part is not None
    assert part.at < n_bytes // 2 + 2000
    assert len(list(FrameReader(members.reopen(), 1 << 20, part))) > 50
    assert n_bytes > 10_000_000
    assert Counting.n_read < 1_500_000


def test_a_file_without_a_record_is_said_to_be_none_once(tmp_path: Path) -> None:
    for content in (b"", b"hello\n" * 100, gzip.compress(b"hello")):
        file = tmp_path / "a.warc"
        file.write_bytes(content)
        _, report = read_in_spans(file, [0, 10, 50])
        assert report == consumed(file)
        assert len([problem for problem in report.problems if "no WARC" in problem or "empty" in problem]) == 1


def consumed(file: Path) -> FileReport:
    reader = read_records(str(file))
    assert not list(reader)
    return reader.report


def test_a_file_that_is_missing_is_an_error_in_every_span(tmp_path: Path) -> None:
    parts, report = read_in_spans(tmp_path / "none.warc", [100])
    assert parts == [[], []]
    assert report == consumed(tmp_path / "none.warc")
