"""Headers of records, and dates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.warc.read.headers import parse_arc_head, parse_date, parse_sha1, parse_warc_head


def head(*lines: str) -> bytes:
    return ("WARC/1.0\r\n" + "".join(line + "\r\n" for line in lines) + "\r\n").encode()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://a/b", "http://a/b"),
        ("<http://a/b>", "http://a/b"),
        ("http://a/b c d", "http://a/b%20c%20d"),
        ("  http://a/é ", "http://a/é"),
        ("", ""),
    ],
)
def test_urls(written: str, meant: str) -> None:
    assert parse_warc_head(head(f"WARC-Target-URI: {written}")).url == meant


def test_fields_in_any_case_with_continuation_lines() -> None:
    found = parse_warc_head(
        head("warc-type: Response", "CONTENT-LENGTH:  12 ", "content-type: application/http;", "  msgtype=response")
    )
    assert (found.record_type, found.length) == ("response", 12)
    assert found.content_type == "application/http;  msgtype=response"


@pytest.mark.parametrize("length", ["", "x", "-5", "1.0", "٣", "1 2"])
def test_lengths_that_are_none(length: str) -> None:
    assert parse_warc_head(head(f"Content-Length: {length}")).length is None


def test_what_other_data_sets_name_a_record_by() -> None:
    told = head("WARC-Record-ID: <urn:uuid:1>", "WARC-Payload-Digest: sha1:2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV")
    found, without = parse_warc_head(told), parse_warc_head(head("WARC-Type: response"))
    assert (found.record_id, found.payload_digest) == ("<urn:uuid:1>", "sha1:2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV")
    assert (without.record_id, without.payload_digest) == (None, None)


@pytest.mark.parametrize(
    ("digest", "base32"),
    [
        (" SHA-1:2udbkwixpuvivymair6ijswzylvz4ufv", "2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV"),
        ("sha1:d5061559177d2a8ae180447c84cad9c2eb9e50b5", "2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV"),
        ("sha256:" + "0" * 64, None),
        ("sha1:2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UF", None),
        ("2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV", None),
        (None, None),
    ],
)
def test_digests_as_indexes_have_them(digest: str | None, base32: str | None) -> None:
    assert parse_sha1(digest) == base32


def test_latin_1_in_a_header_does_no_harm() -> None:
    assert parse_warc_head(b"WARC/1.0\r\nWARC-Target-URI: http://a/\xe9\r\n\r\n").url == "http://a/é"


def test_arc_versions_1_and_2() -> None:
    first = parse_arc_head(b"http://a/x y 1.2.3.4 20080430204825 text/html 680\n")
    second = parse_arc_head(b"http://a/ 1.2.3.4 20080430204825 text/html 200 abc - 1234 f.arc.gz 680\r\n")
    assert first is not None
    assert second is not None
    assert (first.url, first.date, first.content_type, first.length) == (
        "http://a/x%20y",
        "20080430204825",
        "text/html",
        680,
    )
    assert (second.url, second.length, second.record_type) == ("http://a/", 680, "response")


@pytest.mark.parametrize("after", ["", " 200 abc - 1234 f.arc.gz"])
def test_arc_lines_with_a_whole_content_type(after: str) -> None:
    found = parse_arc_head(f"http://a/ 1.2.3.4 20080430204825 text/html; charset=utf-8; x=1{after} 680\n".encode())
    assert found is not None
    assert (found.url, found.content_type, found.length) == ("http://a/", "text/html; charset=utf-8; x=1", 680)


def test_arc_lines_with_a_date_that_is_none_or_no_type() -> None:
    found = parse_arc_head(b"http://a/ 1.2.3.4 null text/html 680\n")
    assert found is not None
    assert found.date == "null"
    nothing = parse_arc_head(b"http://a/ 1.2.3.4 20080430204825  680\n")
    assert nothing is not None
    assert nothing.content_type is None


def test_the_first_record_of_an_arc_is_information() -> None:
    found = parse_arc_head(b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 75\n")
    assert found is not None
    assert found.record_type == "warcinfo"


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"Date: Wed, 30 Apr 2008\n", b"tp://a/ 1.2.3.4 20080430204825 text/html 680\n"]
)
def test_lines_that_are_no_arc_header(line: bytes) -> None:
    assert parse_arc_head(line) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2014", "2014-01-01T00:00:00"),
        ("2014-03", "2014-03-01T00:00:00"),
        ("2014-03-25", "2014-03-25T00:00:00"),
        ("2014-03-25T12:12", "2014-03-25T12:12:00"),
        ("2014-03-25T12:12:25Z", "2014-03-25T12:12:25"),
        ("2014-03-25T12:12:25.5Z", "2014-03-25T12:12:25.500000"),
        ("2014-03-25T12:12:25.123456789Z", "2014-03-25T12:12:25.123456"),
        ("2014-03-25T12:12:25+02:00", "2014-03-25T10:12:25"),
        ("2014-03-25T12:12:25-0730", "2014-03-25T19:42:25"),
        (" 20140325121225 ", "2014-03-25T12:12:25"),
        ("201403251212", "2014-03-25T12:12:00"),
        ("20140325", "2014-03-25T00:00:00"),
    ],
)
def test_dates(written: str, meant: str) -> None:
    found = parse_date(written)
    assert found is not None
    assert found.isoformat() == meant + "+00:00"


@pytest.mark.parametrize(
    "written", ["", "null", "2008-10-294T05:21:46-0700", "20141325121225", "0000", "٢٠١٤", "2014-02-30"]
)
def test_dates_that_are_none(written: str) -> None:
    assert parse_date(written) is None


@given(st.text(max_size=40))
def test_any_text_is_a_date_in_utc_or_none(written: str) -> None:
    found = parse_date(written)
    assert found is None or found.utcoffset() is not None


@given(st.binary(max_size=300))
def test_any_bytes_give_a_header(noise: bytes) -> None:
    parse_warc_head(b"WARC/1.0\r\n" + noise + b"\r\n\r\n")
    parse_arc_head(noise)
