"""What is HTML, whatever the header says."""

import pytest

from dripper.decode.sniff import is_html, may_be_html, name_other_kind, parse_media_type

HTML = b"<!DOCTYPE html><html><body>text"


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/html", "text/html"),
        (" TEXT/HTML ;charset=x", "text/html"),
        ("text/html, text/html", "text/html"),
        ('"text/html"', "text/html"),
        (None, ""),
        (";", ""),
    ],
)
def test_essence(content_type: str | None, kind: str) -> None:
    assert parse_media_type(content_type) == kind


@pytest.mark.parametrize("content_type", ["image/png", "application/json", "text/css", "application/pdf", "font/woff2"])
def test_types_that_rule_html_out(content_type: str) -> None:
    assert not may_be_html(content_type)


@pytest.mark.parametrize(
    "content_type", [None, "", "text/html", "text/plain", "application/octet-stream", "html", "*/*"]
)
def test_types_that_leave_it_open(content_type: str | None) -> None:
    assert may_be_html(content_type)
    assert is_html(content_type, HTML)


@pytest.mark.parametrize(
    "head",
    [
        b"<html>",
        b"\xef\xbb\xbf\n <HTML lang=en>",
        "\ufeff<html>".encode("utf-16-le"),
        "\ufeff<html>".encode("utf-16-be"),
        b"<!-- a > b --><!-- c --><?xml version='1.0'?><!doctype HTML >",
        b"<head><title>",
        b"<body\n>",
    ],
)
def test_documents_are_html_without_a_header(head: bytes) -> None:
    assert is_html(None, head)
    assert is_html("text/plain", head)


def test_a_fragment_is_html_without_a_header_but_not_as_plain_text() -> None:
    assert is_html(None, b"<p>text</p>")
    assert is_html("application/octet-stream", b"<script>")
    assert not is_html("text/plain", b"<p>text</p>")
    assert not is_html(None, b"<pre>")


@pytest.mark.parametrize(
    "body",
    [b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"PK\x03\x04", b'{"a": [1, 2]}', b" [1]\n"],
)
def test_other_things_are_no_html_even_if_the_header_says_so(body: bytes) -> None:
    assert not is_html("text/html", body)


@pytest.mark.parametrize(
    "body", [b"<?xml version='1.0'?><rss version='2.0'>", b"<!-- x --><feed xmlns='a'>", b"<urlset >"]
)
def test_feeds_and_sitemaps_are_no_html(body: bytes) -> None:
    assert not is_html("text/html", body)


@pytest.mark.parametrize(
    "body", [b"hello", b"[1] see the notes", b"{{ template }}", b"<svg>", b" ", b"GIF is a format"]
)
def test_anything_else_is_html_if_the_header_says_so(body: bytes) -> None:
    assert is_html("text/html", body)
    assert not is_html(None, body)


def test_deep_json_does_no_harm() -> None:
    assert is_html("text/html", b"[" * 100_000 + b"]" * 100_000)


@pytest.mark.parametrize("unit", [b" ", b"<!-- -->", b"<!--", b"<?x?>", b"\n <!-- a --> "])
def test_long_prefixes_take_no_time(unit: bytes) -> None:
    """A pattern with nested repeats never came back from a page that starts with 60 blanks."""
    assert not is_html("text/plain", unit * 4000)


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"two words",
        HTML,
        b"<p>a stray \x08 in a page",
        b"\x00\x00 noise before <html lang=en><p>a page",
        "\ufeff<html>".encode("utf-16-le"),
        "見出し".encode("iso-2022-jp"),
    ],
)
def test_without_a_header_all_that_may_be_html_is_taken_for_it(page: bytes) -> None:
    assert name_other_kind(page) is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"%PDF-1.4", "a PDF document"),
        (b"PK\x03\x04\x14", "a ZIP archive or an Office document"),
        (b"BZh91AY", "binary data"),
        (b"words, then \x00", "binary data"),
        (b"<?xml version='1.0'?><rss version='2.0'>", "a feed or a site map"),
        (b" [1, 2]", "JSON"),
    ],
)
def test_what_is_surely_no_html_is_named(body: bytes, kind: str) -> None:
    assert name_other_kind(body) == kind
