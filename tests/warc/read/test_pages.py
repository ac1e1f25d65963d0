"""The records that are pages, and their columns."""

import pytest

from dripper.errors import ErrorCode
from dripper.settings import ReadSettings
from dripper.warc import Record
from dripper.warc.read.frames import Frame, FrameReader
from dripper.warc.read.members import Members
from dripper.warc.read.pages import page_id, to_record
from dripper.warc.read.record import SKIP_REASONS
from support.archives import Bytes, http, page, warc

PAGE = page(1)


def decide(block: bytes, kind: str = "response", url: str = "http://e.org/", **settings: object) -> Record | str:
    (frame,) = FrameReader(Members(Bytes(warc(url, block, kind))), 1 << 20)
    assert isinstance(frame, Frame)
    return to_record(frame, "x.warc", ReadSettings(**settings))  # type: ignore[arg-type]


def decided(block: bytes, **options: str) -> Record:
    found = decide(block, **options)  # type: ignore[arg-type]
    assert isinstance(found, Record)
    return found


@pytest.mark.parametrize(
    ("block", "kind", "url", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "request", "http://e.org/", "not a response"),
        (b"software: x\r\n", "warcinfo", "", "not a response"),
        (b"fetchTimeMs: 1\r\n", "metadata", "http://e.org/", "not a response"),
        (PAGE, "conversion", "http://e.org/", "not a response"),
        (http(PAGE), "continuation", "http://e.org/", "not a response"),
        (http(PAGE), "nonsense", "http://e.org/", "not a response"),
        (http(PAGE), "revisit", "http://e.org/", "revisit"),
        (b"20080430204825\nwww.e.org. 589 IN A 1.2.3.4", "response", "dns:www.e.org", "not http"),
        (b"domain: e.org", "response", "whois://whois.iana.org/e.org", "not http"),
        (http(PAGE, status="404 Not Found"), "response", "http://e.org/", "status"),
        (http(PAGE, status="301 Moved"), "response", "http://e.org/", "status"),
        (http(b"\x89PNG", "image/png"), "response", "http://e.org/", "not html"),
        (http(b"%PDF-1.4"), "response", "http://e.org/", "not html"),
        (http(b'{"a": 1}'), "response", "http://e.org/", "not html"),
        (http(b"words", "text/plain"), "response", "http://e.org/", "not html"),
        (http(b""), "response", "http://e.org/", "empty"),
        (http(b"", status="204 No Content"), "response", "http://e.org/", "empty"),
        (http(b"0\r\n\r\n", extra="Transfer-Encoding: chunked\r\n"), "response", "http://e.org/", "empty"),
        (
            http(b"\x01\x02", "application/octet-stream", extra="Content-Encoding: br\r\n"),
            "response",
            "http://e/",
            "not html",
        ),
        (b"words", "resource", "http://e.org/", "not html"),
    ],
)
def test_what_is_no_page(block: bytes, kind: str, url: str, reason: str) -> None:
    assert decide(block, kind, url) == reason
    assert reason in SKIP_REASONS


@pytest.mark.parametrize(
    "kind", ["text/html", "application/xhtml+xml", "TEXT/HTML;charset=x", "text/plain", "", "html"]
)
def test_what_is_a_page(kind: str) -> None:
    record = decided(http(PAGE, kind))
    assert record.payload == PAGE
    assert record.flags == (() if "html" in kind.lower() and "/" in kind else ("sniffed",))


@pytest.mark.parametrize(
    ("statuses", "kept"), [(("2xx",), {200, 206}), (("2xx", "404"), {200, 206, 404}), (("4xx", "5xx"), {404, 503})]
)
def test_statuses_are_a_setting(statuses: tuple[str, ...], kept: set[int]) -> None:
    found = {
        status
        for status in (200, 206, 301, 404, 503)
        if decide(http(PAGE, status=f"{status} x"), statuses=statuses) != "status"
    }
    assert found == kept


def test_partial_content_is_flagged_unless_it_is_all() -> None:
    part = decided(http(PAGE, status="206 Partial Content", extra="Content-Range: bytes 0-99/5000\r\n"))
    whole = decided(http(PAGE, status="206 Partial Content", extra="Content-Range: bytes 0-4999/5000\r\n"))
    assert (part.truncated, whole.truncated) == ("partial content", None)


def test_a_resource_without_a_type_is_a_page_if_it_begins_like_one() -> None:
    def read(body: bytes) -> Record | str:
        block = warc("http://e.org/", body, "resource").replace(
            b"Content-Type: application/http; msgtype=resource\r\n", b""
        )
        (frame,) = FrameReader(Members(Bytes(block)), 1 << 20)
        assert isinstance(frame, Frame)
        return to_record(frame, "x.warc", ReadSettings())

    page = read(PAGE)
    assert isinstance(page, Record)
    assert (page.payload, page.flags) == (PAGE, ("sniffed",))
    assert read(b"\x89PNG\r\n\x1a\n") == read(b"{}") == "not html"


def test_a_resource_is_a_page_if_its_own_header_says_so() -> None:
    block = warc("http://e.org/", PAGE, "resource").replace(b"application/http; msgtype=resource", b"text/html")
    (frame,) = FrameReader(Members(Bytes(block)), 1 << 20)
    assert isinstance(frame, Frame)
    record = to_record(frame, "x.warc", ReadSettings())
    assert isinstance(record, Record)
    assert (record.payload, record.http_status, record.content_type, record.flags) == (PAGE, None, "text/html", ())


@pytest.mark.parametrize(
    ("block", "flags"),
    [
        (PAGE, ("sniffed", "no http header")),
        (b"HTTP/1.1 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE, ("no http status",)),
        (http(PAGE, extra="Content-Encoding: gzip\r\n"), ("not encoded",)),
        (http(PAGE, extra="Transfer-Encoding: chunked\r\n"), ("not chunked",)),
        (http(PAGE, extra="Content-Length: 99999\r\n"), ("short body",)),
    ],
)
def test_what_is_odd_is_flagged(block: bytes, flags: tuple[str, ...]) -> None:
    record = decided(block)
    assert (record.payload, record.flags) == (PAGE, flags)


def test_a_record_without_url_or_date_is_a_page() -> None:
    block = warc("", http(PAGE)).replace(b"2024-02-03T04:05:06Z", b"yesterday")
    (frame,) = FrameReader(Members(Bytes(block)), 1 << 20)
    assert isinstance(frame, Frame)
    record = to_record(frame, "x.warc", ReadSettings())
    assert isinstance(record, Record)
    assert (record.url, record.fetched_at, record.flags) == ("", None, ("no url", "bad date"))


def test_a_body_that_cannot_be_read_is_a_row() -> None:
    record = decided(http(b"\x01\x02\x03", extra="Content-Encoding: gzip\r\n"))
    assert (record.error_code, record.payload) == (ErrorCode.BODY_UNREADABLE, b"")
    assert "gzip" in (record.error_detail or "")


def test_page_ids_never_change_and_tell_offsets_apart() -> None:
    ids = {page_id("a", 1), page_id("a", 1, inflated=True), page_id("a", 11), page_id("a\n1", 1), page_id("b", 1)}
    assert len(ids) == 5
    assert page_id("x.warc.gz", 0) == "ebb1b9ed581940ad27ad2ee044c6e20a"
