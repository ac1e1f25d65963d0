"""Archives that were built to keep a reader busy: the cost grows linearly, all contents come out,
and the next record is read."""

import gzip
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dripper.decode.budget import MEMBER_RECORDS, RECORD_BYTES, may_doubt, may_inflate
from dripper.decode.compression import GzipDecompressor, ZstdDecompressor
from dripper.errors import ErrorCode
from dripper.guard import Guard, GuardLimits
from dripper.warc import FileReport, Record, read_records
from dripper.warc.open.base import Cursor
from dripper.warc.read import frames, window
from dripper.warc.read.record import Span, merge_reports
from support.archive_constructs import (
    ARCHIVES,
    GOOD,
    SMALL,
    damaged_members,
    endless_header,
    false_members,
    far_members,
    folded_carriage_returns,
    in_phase,
    nested_headers,
    stored_block,
)
from support.archives import arc, http, page, warc


def read(path: Path, data: bytes, span: Span | None = None) -> tuple[list[Record], FileReport]:
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
    reader = read_records(str(path), span=span)
    records, report = list(reader), reader.report
    assert report.records == report.pages + sum(report.skipped.values())
    assert report.error is None
    return records, report


class Counting:
    """A pattern that counts the bytes it searches."""

    def __init__(self, pattern: re.Pattern[bytes], count: Callable[[int], None]) -> None:
        self._pattern = pattern
        self._count = count

    def search(self, data: bytes, start: int, end: int | None = None) -> re.Match[bytes] | None:
        found = self._pattern.search(data, start, len(data) if end is None else end)
        self._count(max(0, (found.end() if found else len(data) if end is None else end) - start))
        return found


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The work: bytes that are read, decompressed and searched, and boundaries that are checked."""
    done = [0]

    def count(n: int) -> None:
        done[0] += n

    def counting(kind: type[Any], name: str, cost: Callable[..., int]) -> None:
        original = getattr(kind, name)

        def called(*args: Any) -> Any:
            result = original(*args)
            count(cost(result, *args))
            return result

        monkeypatch.setattr(kind, name, called)

    for kind in (GzipDecompressor, ZstdDecompressor):
        counting(kind, "inflate", lambda result, _, stored, *limit: len(stored) + len(result[0]) + len(result[1]))
    counting(Cursor, "read_more", lambda *_: 1 << 10)
    counting(window.Window, "matches", lambda *_: 100)
    counting(window.Window, "between", lambda result, *_: 100 * len(result))
    monkeypatch.setattr(window, "_NOT_BLANK", Counting(window._NOT_BLANK, count))
    monkeypatch.setattr(frames, "_HEADER_END", Counting(frames._HEADER_END, count))
    return done


@pytest.mark.parametrize("name", ARCHIVES)
def test_work_grows_as_the_archive_does(name: str, work: list[int], tmp_path: Path) -> None:
    build, n, ending = ARCHIVES[name]
    spent = []
    for size in (n, 2 * n, 4 * n):
        before = work[0]
        records, _ = read(tmp_path / f"a.{ending}", build(size))
        spent.append(work[0] - before)
        assert records
    # The fixed cost of an archive is a part of it.
    assert spent[2] - spent[1] < 2.3 * max(spent[1] - spent[0], spent[0] / 2)


def test_carriage_returns_in_a_header_cost_no_more_than_other_characters(tmp_path: Path) -> None:
    """A million took the square of their number, an hour."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(folded_carriage_returns(1_000_000))

    def urls(name: str) -> list[str]:
        return [record.url for record in read_records(name)]

    with Guard(urls, GuardLimits(10, 600, 1 << 30)) as guard:
        assert guard.call(str(path)) == ["http://e.org/", "http://e.org/good"]


def test_members_that_share_their_bytes_give_their_records_once(tmp_path: Path) -> None:
    data = nested_headers(53)
    assert len(data) < 2000
    records, report = read(tmp_path / "a.warc.gz", data)
    assert (len(records), report.clipped) == (100, True)


def test_no_byte_belongs_to_two_records(tmp_path: Path) -> None:
    data = in_phase(250)
    _, report = read(tmp_path / "a.warc.gz", data)
    assert report.records <= len(data) / len(SMALL)
    assert report.pages == 1


def test_a_member_in_a_damaged_one_is_read_if_it_is_whole(tmp_path: Path) -> None:
    swallowed = gzip.compress(warc("http://e.org/in", http(page(2))))
    damaged = swallowed[:-5] + b"\0" + swallowed[-4:]
    outer = b"\x1f\x8b\x08" + bytes(7) + stored_block(warc("http://e.org/out", http(page(3))) + swallowed + damaged)
    records, report = read(tmp_path / "a.warc.gz", outer + b"\x07" + GOOD)
    assert [record.url for record in records] == ["http://e.org/out", "http://e.org/in", "http://e.org/good"]
    assert report.n_problems >= 1


@pytest.mark.parametrize(
    "build", [in_phase, nested_headers, endless_header, far_members, false_members, damaged_members]
)
def test_hostile_archives_may_be_cut_anywhere(build: Callable[[int], bytes], tmp_path: Path) -> None:
    data = b"".join(gzip.compress(warc(f"http://e.org/{i}", http(page(i)))) for i in range(300)) * 4 + build(100)
    data += GOOD * 1500
    pages, report = read(tmp_path / "a.warc.gz", data)
    points = [0, 100_000, len(data) // 2, len(data) * 3 // 4, None]
    spans = [read(tmp_path / "a.warc.gz", data, Span(a or 0, b)) for a, b in pairwise(points)]
    assert [record for records, _ in spans for record in records] == pages
    assert merge_reports([part for _, part in spans]) == report


def test_a_member_of_too_many_records_is_left_behind(tmp_path: Path) -> None:
    records, report = read(tmp_path / "a.warc.gz", gzip.compress(SMALL * 3 * MEMBER_RECORDS) + GOOD)
    assert [record.url for record in records] == ["http://e.org/good"]
    assert report.skipped == {"not a response": MEMBER_RECORDS - 1, "over budget": 1}
    assert "more than 9999 records" in report.problems[0]


def test_many_records_in_a_large_member_are_read(tmp_path: Path) -> None:
    noise = random.Random(1)
    whole = [
        b"WARC/1.0\r\nA:%s\r\nContent-Length:0\r\n\r\n" % noise.randbytes(12).hex().encode() for _ in range(25_000)
    ]
    stored = gzip.compress(b"".join(whole))
    assert len(stored) > 20_000 * RECORD_BYTES
    _, report = read(tmp_path / "a.warc.gz", stored)
    assert report.skipped == {"not a response": 25_000}


def test_a_member_that_inflates_to_too_much_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.warc.read.members.may_inflate", lambda stored: 1 << 22)
    bomb = gzip.compress(warc("http://e.org/", http(bytes(1 << 23))))
    records, report = read(tmp_path / "a.warc.gz", bomb + GOOD)
    assert records[-1].url == "http://e.org/good"
    assert "over budget" in report.problems[0]


def test_what_a_member_may_inflate_to() -> None:
    assert may_inflate(100) == 1 << 30
    assert may_inflate(1 << 30) == 100 << 30


def test_doubt_is_paid_for_by_what_is_read() -> None:
    assert may_doubt(1 << 26, 0)
    assert may_doubt((1 << 26) + 64, 1)
    assert not may_doubt((1 << 26) + 65, 1)


@pytest.mark.parametrize("digits", [4301, 100_000])
def test_a_length_of_too_many_digits_is_one_fault(digits: int, tmp_path: Path) -> None:
    block = http(page(2))
    data = GOOD + gzip.compress(warc("http://e.org/2", block, length="9" * digits)) + GOOD
    records, report = read(tmp_path / "a.warc.gz", data)
    assert [record.url for record in records] == ["http://e.org/good", "http://e.org/2", "http://e.org/good"]
    assert records[1].truncated == "length mismatch"
    assert report.problems == [f"a record of {len(block)} bytes whose header says no length (length mismatch)"]


def test_a_page_whose_own_length_has_too_many_digits_is_healthy(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + b"1" * 5000 + b"\r\n\r\n" + page(2)
    (record,), report = read(tmp_path / "a.warc", warc("http://e.org/", block))
    assert (record.payload, record.error_code, report.problems) == (page(2), None, [])


def test_an_arc_length_of_too_many_digits_is_one_fault(tmp_path: Path) -> None:
    records = [arc(f"http://e.org/{i}", http(page(i))) for i in range(3)]
    records[1] = records[1].replace(b"\n", b"9" * 5000 + b"\n", 1)
    pages, report = read(tmp_path / "a.arc", b"".join(records))
    assert [record.url for record in pages] == [f"http://e.org/{i}" for i in range(3)]
    assert report.n_problems == 1


def test_a_dictionary_that_inflates_to_too_much_is_a_fault(tmp_path: Path, work: list[int]) -> None:
    content = zstandard.compress(bytes(200 << 20))
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    records, report = read(tmp_path / "a.warc.zst", frame + zstandard.compress(warc("http://e.org/", http(page(1)))))
    assert len(records) == 1
    assert "the dictionary cannot be read: it inflates to more than 16777216 bytes" in report.problems[0]
    assert work[0] < 150 << 20


def test_a_dictionary_that_is_too_large_as_stored_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = page(1, 2_000)  # a raw dictionary may have any content
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    archive = frame + zstandard.compress(warc("http://e.org/", http(page(1))))
    assert read(tmp_path / "a.warc.zst", archive)[1].n_problems == 0
    monkeypatch.setattr("dripper.warc.read.members._MAX_DICTIONARY_BYTES", 1_999)
    records, report = read(tmp_path / "b.warc.zst", archive)
    assert len(records) == 1
    assert "a skippable frame of" in report.problems[0]


@pytest.mark.parametrize(("n_bytes", "n_pages"), [(900_000, 2), (1_100_000, 1)])
def test_a_header_has_a_mebibyte_at_most(n_bytes: int, n_pages: int, tmp_path: Path) -> None:
    long = warc("http://e.org/long", http(page(1)), **{"X-Long": "a " * (n_bytes // 2)})
    records, report = read(tmp_path / "a.warc", long + warc("http://e.org/", http(page(2))))
    assert len(records) == n_pages
    assert records[-1].url == "http://e.org/"
    assert report.n_problems == 2 - n_pages


@pytest.mark.parametrize("n", [5, 6, 400])
def test_a_body_has_five_content_codings_at_most(n: int, tmp_path: Path) -> None:
    body = page(2)
    for _ in range(n):
        body = gzip.compress(body)
    extra = f"Content-Encoding: {','.join(['gzip'] * n)}\r\n"
    records, report = read(
        tmp_path / "a.warc.gz", gzip.compress(warc("http://e.org/2", http(body, extra=extra))) + GOOD
    )
    assert records[0].payload == (page(2) if n == 5 else b"")
    assert records[0].error_code is (None if n == 5 else ErrorCode.BODY_UNREADABLE)
    assert n == 5 or records[0].error_detail == f"{n} content codings; at most 5 are undone"
    assert report.pages == 2


def test_a_body_that_is_in_none_of_its_many_codings_is_taken_as_it_is(tmp_path: Path) -> None:
    extra = f"Content-Encoding: {','.join(['gzip'] * 9)}\r\n"
    (record,), _ = read(tmp_path / "a.warc", warc("http://e.org/2", http(page(2), extra=extra)))
    assert (record.payload, record.flags) == (page(2), ("not encoded",))
