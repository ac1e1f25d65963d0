"""Starts of records, and bytes that only look like one."""

import pytest

from dripper.warc.read.headers import RECORD_START, START_BYTES, find_start

WARC = b"WARC/1.0\r\nWARC-Type: response\r\n"
ARC = b"http://example.org/ 192.0.2.1 20010203040506 text/html 12\n"


@pytest.mark.parametrize(
    "line",
    [
        WARC,
        b"WARC/0.18\nWARC-Type: warcinfo\n",
        b"warc/1.1\r\nwarc-type: response\r\n",
        b"WARC/1.0 \r\nContent-Length : 5\r\n",
        ARC,
        b"http://example.org/a b c 192.0.2.1 20010203040506 text/html 12\n",
        b"dns:example.org 2001:db8::1 20010203040506 text/dns 60\n",
        b"filedesc://x.arc 0.0.0.0 20010203040506 text/plain 73\n",
        b"http://example.org/ 192.0.2.1 20010203040506 text/html 200 checksum - 1200 x.arc 12\n",
    ],
)
def test_a_record_starts_here(line: bytes) -> None:
    assert RECORD_START.match(line)
    assert find_start(b"damage\n" + line, 0, None) == 7


@pytest.mark.parametrize(
    "line",
    [
        b"WARC/1.0\r\n\r\n",
        b"WARC/1\r\nWARC-Type: response\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n",
        b"tp://example.org/ 192.0.2.1 20010203040506 text/html 12\n",
        b"http://example.org/ 192.0.2.1 2001 text/html 12\n",
        b"http://example.org/ 192.0.2.1 20010203040506 text/html -\n",
        b"http://example.org/ host 20010203040506 text/html 12\n",
    ],
)
def test_no_record_starts_here(line: bytes) -> None:
    assert not RECORD_START.match(line)
    assert find_start(b"\n" + line, 0, None) == -1


@pytest.mark.parametrize("before", [b"format: ", b"format:\t", b"x=", b'"', b"'", b"a", b"1", b";", b","])
def test_a_version_that_is_a_value_starts_nothing(before: bytes) -> None:
    assert find_start(before + WARC, 0, arc=False) == -1


def test_a_lost_line_feed_costs_no_warc_record_but_arc_lines_start_lines() -> None:
    assert find_start(b"</html>" + WARC, 0, arc=False) == 7
    assert find_start(b"<a>" + ARC, 0, arc=True) == -1
    assert find_start(b"<a>\n" + ARC, 0, arc=True) == 4


def test_only_what_the_file_is_made_of_is_looked_for() -> None:
    both = b"\n" + ARC + WARC
    assert find_start(both, 0, arc=True) == 1
    assert find_start(both, 0, arc=False) == 1 + len(ARC)
    assert find_start(both, 2, arc=None) == 1 + len(ARC)


def test_the_search_stays_between_start_and_end() -> None:
    data = WARC + WARC
    assert find_start(data, 1, arc=False) == len(WARC)
    assert find_start(data, 1, arc=False, end=len(WARC) + 12) == -1
    assert find_start(data, 0, arc=False, end=-5) == -1


def test_no_start_is_longer_than_the_overlap_of_searches() -> None:
    longest = b"http:/" + b"x" * 8192 + b" " + b"f" * 39 + b" 20010203040506 " + b"t" * 1024 + b"1\n"
    assert RECORD_START.match(longest)
    assert len(longest) <= START_BYTES
