"""HTTP responses, well-formed and otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.warc.read.pages import parse_response


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("HTTP/1.1 200 OK", 200),
        ("HTTP/2 404", 404),
        ("HTTP/1.1  301", 301),
        ("http/1.0 200 ok", 200),
        ("ICY 200 OK", 200),
        ("HTTPX/1.1 200 OK", 200),
        ("HTTP/1.1", None),
        ("HTTP/1.1 OK", None),
        ("HTTP/1.1 2000", None),
    ],
)
def test_status_lines(line: str, status: int | None) -> None:
    response = parse_response(f"{line}\r\nContent-Type: text/html\r\n\r\n<p>".encode())
    assert (response.status, response.content_type, response.body) == (status, "text/html", b"<p>")


def test_bare_line_feeds_and_mixed_ones() -> None:
    assert parse_response(b"HTTP/1.1 200 OK\nContent-Type: a/b\n\nbody").body == b"body"
    assert parse_response(b"HTTP/1.1 200 OK\r\nContent-Type: a/b\n\r\nbody").body == b"body"


def test_interim_responses_are_read_past() -> None:
    block = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"
    )
    assert (parse_response(block).status, parse_response(block).body) == (200, b"body")


@pytest.mark.parametrize(("n", "status"), [(4, 200), (5, 103), (400, 103)])
def test_interim_responses_have_an_end(n: int, status: int) -> None:
    assert parse_response(b"HTTP/1.1 103 Early Hints\r\n\r\n" * n + b"HTTP/1.1 200 OK\r\n\r\nbody").status == status


def test_headers_without_a_status_line() -> None:
    response = parse_response(b"Content-Type: text/html\r\nServer: x\r\n\r\n<p>")
    assert (response.has_head, response.status, response.content_type, response.body) == (
        True,
        None,
        "text/html",
        b"<p>",
    )


def test_no_head_at_all() -> None:
    response = parse_response(b"<html><p>text</p>")
    assert (response.has_head, response.body) == (False, b"<html><p>text</p>")


def test_a_head_that_never_ends_has_no_body() -> None:
    assert parse_response(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSer").body == b""


def test_the_headers_that_matter() -> None:
    response = parse_response(
        b"HTTP/1.1 206 Partial\r\ncontent-encoding: br\r\nTRANSFER-ENCODING: chunked\r\nContent-Range: bytes 0-1/9\r\n"
        b"Content-Length: 12\r\n\r\n"
    )
    assert (response.content_encoding, response.transfer_encoding) == ("br", "chunked")
    assert (response.content_range, response.content_length) == ("bytes 0-1/9", 12)


@given(st.binary(max_size=300))
def test_any_block_is_a_response(block: bytes) -> None:
    assert parse_response(block).body in block
    assert parse_response(b"HTTP/1.1 200 OK" + block).has_head in (True, False)
