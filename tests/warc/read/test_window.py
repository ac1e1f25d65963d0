"""The moving window: the bytes that it keeps and drops, and going back."""

import gzip
import re

import pytest

from dripper.warc.read.headers import START_BYTES, find_start
from dripper.warc.read.members import Members
from dripper.warc.read.window import Window
from support.archives import Bytes, http, page, warc

RECORDS = [warc(f"http://e.org/{i}", http(page(i, 900_000))) for i in range(8)]
STORED = {"plain": b"".join(RECORDS), "gzip": b"".join(gzip.compress(record, 1) for record in RECORDS)}
WHOLE = b"".join(RECORDS)
HOLD = 1 << 20


@pytest.fixture(params=["plain", "gzip"])
def window(request: pytest.FixtureRequest) -> Window:
    return Window(Members(Bytes(STORED[request.param])), HOLD)


def test_it_never_holds_much_more_than_it_should(window: Window) -> None:
    while window.pull():
        assert window.end - window.start <= HOLD + (2 << 20)
    assert window.end == len(WHOLE)
    assert window.read(window.start, window.end) == WHOLE[window.start :]


def test_it_goes_back_to_what_is_gone(window: Window) -> None:
    while window.pull():
        pass
    for position in (3_000_000, 17, 5_000_000):
        window.rewind(position)
        assert window.start <= position
        window.fill(position + 1000)
        assert window.read(position, position + 1000) == WHOLE[position : position + 1000]


def test_it_goes_on_after_going_back(window: Window) -> None:
    while window.pull():
        pass
    boundaries = [(boundary.position, boundary.stored) for boundary in window.boundaries]
    window.rewind(1_000_000)
    while window.pull():
        pass
    assert window.end == len(WHOLE)
    assert [(boundary.position, boundary.stored) for boundary in window.boundaries] == boundaries


def test_the_next_start_is_found_across_pieces(window: Window) -> None:
    starts = [sum(len(record) for record in RECORDS[:i]) for i in range(8)]
    for i in range(7):
        assert window.find_next_start(starts[i] + 1, arc=False) == starts[i + 1]
    assert window.find_next_start(starts[7] + 1, arc=False) == len(WHOLE)


def test_blank_is_skipped_over_pieces() -> None:
    window = Window(Members(Bytes(b"\r\n" * 200_000 + b"x\n")), HOLD)
    assert window.skip_blank(0) == 400_000
    assert window.skip_blank(400_001) == 400_002 == window.end


def test_matches_reads_on_as_far_as_a_start_may_reach() -> None:
    window = Window(Members(Bytes(b"a" * 200_000)), HOLD)
    assert not window.matches(re.compile(b"b"), 0)
    assert window.end >= START_BYTES


@pytest.mark.parametrize(
    ("data", "arc", "at"),
    [
        (b"x\nWARC/1.0\r\nA: b", False, 2),
        (b"x\nwarc/0.18\nA: b", None, 2),
        (b">WARC/1.1\r\nWARC-Type: x", False, 1),
        (b"format: WARC/1.0\r\nA: b", False, -1),
        (b"x\nWARC/1.0\r\n\r\n", False, -1),
        (b"x\nhttp://a/ 1.2.3.4 20080430204825 text/html 5\n", True, 2),
        (b"x http://a/ 1.2.3.4 20080430204825 text/html 5\n", True, -1),
        (b"x\nhttp://a/ 1.2.3.4 20080430204825 text/html 5\n", False, -1),
        (b"x\nhttp://a/b c ::1 20080430204825 - 200 x - 9 f.arc 5\n", None, 2),
    ],
)
def test_what_counts_as_a_start(data: bytes, arc: bool | None, at: int) -> None:
    assert find_start(data, 0, arc) == at
