"""HTML is recognized by its bytes, whatever the header says."""

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
    assert not is_html(None, b"<svg>")


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


TAGS = ("article", "section", "main", "h2", "ul", "span", "nav", "header", "img", "dl", "pre", "blockquote", "my-page")


@pytest.mark.parametrize(
    "page",
    [
        *(f"<{tag}>Pier \x1d and more".encode() for tag in TAGS),
        *(f"<{tag} class=a>Pier \0 and more".encode() for tag in TAGS),
        b"Title\x0b\x0bone line\x0banother line\x0b",
        b"a line of words with one \x1d in it",
        b"<article>Pier</article>" + b"\x01\x02\x03" * 9,
        "<h2>Älv</h2><p>one".encode("utf-16-le"),
        "<h2>Älv</h2><p>one".encode("utf-16-be"),
    ],
)
def test_a_stray_byte_makes_no_page_binary(page: bytes) -> None:
    assert name_other_kind(page) is None
    assert is_html("text/html", page)


@pytest.mark.parametrize(
    "words",
    [
        b"CWS Logistics<p>Depot nine",
        b"FWS is the wildlife service",
        b"ID3 tags explained: <p>artist, title",
        b"MZ is a maker of motorcycles",
        b"BZh is short for it",
        b"GIF89a explained: <p>the header",
        b"OggS pages",
        b"wOFF fonts",
        b"RIFF and its kinds WAVE",
        b"Is ftyp a box? <p>Yes.",
        b"WARC/1.0 and WARC/1.1 differ",
        b"%!PS is how PostScript begins",
        b"%PDF-1.4 files begin so",
    ],
)
def test_words_that_begin_like_another_file_are_words(words: bytes) -> None:
    assert is_html("text/html", words)
    assert name_other_kind(words) is None


@pytest.mark.parametrize(
    "body",
    [
        b"CWS\x0a\x10\x20\x00\x00x\xda",
        b"ID3\x03\x00\x00\x00\x00\x0f\x76TIT2",
        b"MZ\x90\x00\x03",
        b"BZh91AY&SY",
        b"GIF89a\x10\x00\x10\x00\x80",
        b"OggS\x00\x02",
        b"wOFF\x00\x01\x00\x00",
        b"RIFF\x24\x10\x02\x00WAVEfmt ",
        b"\x00\x00\x00\x20ftypisom",
        b"%!PS-Adobe-3.0",
    ],
)
def test_other_files_are_known_by_the_bytes_behind_their_letters(body: bytes) -> None:
    assert not is_html("text/html", body)
    assert name_other_kind(body) is not None


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
