"""Pages as browsers and other programs save them."""

import base64
import bz2
import quopri

import pytest

import dripper
from dripper.decode.saved import close_empty_elements, open_page
from dripper.errors import ErrorCode, PageError
from dripper.guard import Guard, GuardLimits

HTML = '<html><meta charset="utf-8"><title>T</title><p>Es regnete überall, <a href="z.html">bis zum Hafen</a>.</html>'.encode()


def mhtml(part: bytes, encoding: str, *, inner: str = "text/html", header: str = "") -> bytes:
    lines = [
        "From: <Saved by Blink>",
        *([header] if header else []),
        "MIME-Version: 1.0",
        "Content-Type: multipart/related;",
        '\ttype="text/html";',
        '\tboundary="----Boundary--1----"',
        "",
        "",
        "------Boundary--1----",
        "Content-Type: image/png",
        "Content-Transfer-Encoding: base64",
        "",
        "iVBORw0KGgo=",
        "------Boundary--1----",
        f"Content-Type: {inner}",
        f"Content-Transfer-Encoding: {encoding}",
        "Content-Location: https://example.org/news/rain.html",
        "",
    ]
    return "\r\n".join(lines).encode() + b"\r\n" + part + b"\r\n------Boundary--1------\r\n"


@pytest.mark.parametrize(
    ("encoding", "part"),
    [("quoted-printable", quopri.encodestring(HTML)), ("base64", base64.encodebytes(HTML)), ("8bit", HTML)],
)
def test_the_page_of_an_mhtml_file_and_its_address(encoding: str, part: bytes) -> None:
    saved = open_page(mhtml(part, encoding))
    assert isinstance(saved.html, bytes)
    assert saved.html.strip() == HTML
    assert saved.url == "https://example.org/news/rain.html"
    result = dripper.extract(mhtml(part, encoding))
    assert "[bis zum Hafen](https://example.org/news/z.html)" in result.markdown
    assert result.url == "https://example.org/news/rain.html"
    assert (
        "(https://other.example/z.html)"
        in dripper.extract(mhtml(part, encoding), url="https://other.example/").markdown
    )


def test_the_part_names_its_charset() -> None:
    part = "<p>Es regnete überall, bis zum Hafen.".encode("cp1252")
    result = dripper.extract(mhtml(part, "binary", inner='text/html; charset="windows-1252"'))
    assert (result.text.strip(), result.charset) == ("Es regnete überall, bis zum Hafen.", "windows-1252")


def test_the_address_that_the_browser_shows_comes_first() -> None:
    header = "Snapshot-Content-Location: https://example.org/news/"
    assert open_page(mhtml(HTML, "8bit", header=header)).url == "https://example.org/news/"


@pytest.mark.parametrize(("inner", "encoding", "part", "code"), [
    ("text/css", "8bit", b"p {}", ErrorCode.NOT_HTML),
    ("text/html", "base64", b"x", ErrorCode.BODY_UNREADABLE),
])  # fmt: skip
def test_mhtml_without_a_page(inner: str, encoding: str, part: bytes, code: ErrorCode) -> None:
    with pytest.raises(PageError) as told:
        open_page(mhtml(part, encoding, inner=inner))
    assert told.value.code is code


def test_text_that_begins_like_a_header_is_no_mhtml() -> None:
    text = "Note: it rained.\nContent-Type: multipart pages are rare.\n<p>One"
    assert open_page(text).html == text


def test_many_parts_within_parts_end() -> None:
    deep = b"".join(b"--%d\r\nContent-Type: multipart/related; boundary=%d\r\n\r\n" % (n, n + 1) for n in range(5000))
    with pytest.raises(PageError, match="no page is in it"):
        open_page(b"Content-Type: multipart/related; boundary=0\r\n\r\n" + deep)


def test_bzip2_is_inflated_and_its_bombs_are_not() -> None:
    assert open_page(bz2.compress(b"<p>one") + bz2.compress(b" two")).html == b"<p>one two"
    with pytest.raises(PageError, match="page_too_large"):
        open_page(bz2.compress(bytes(1 << 22)), max_bytes=1 << 20)


XHTML = b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="a.js"/></head>'


@pytest.mark.parametrize(
    ("html", "closed"),
    [
        (b'<script src="a.js" />', b'<script src="a.js"></script>'),
        (b"<a id='top'/><br/><hr />", b"<a id='top'></a><br/><hr />"),
        (b"<!-- <script/> --><style/>", b"<!-- <script/> --><style></style>"),
        (b"<![CDATA[<div/>]]><div/>", b"<![CDATA[<div/>]]><div></div>"),
        (b"<script>w('<script/>')</script><b/>", b"<script>w('<script/>')</script><b></b>"),
        (b"<!-- <b/>", b"<!-- <b/>"),
        (b"<script><b/>", b"<script><b/>"),
    ],
)
def test_elements_of_xhtml_that_close_themselves(html: bytes, closed: bytes) -> None:
    assert close_empty_elements(html, "application/xhtml+xml; charset=utf-8") == closed
    assert close_empty_elements(b"<?xml version='1.0'?>" + html) == b"<?xml version='1.0'?>" + closed
    assert close_empty_elements(html, "text/html") == html


def test_a_page_behind_a_script_that_closes_itself_is_read() -> None:
    html = XHTML + b"<body><p>It rained all day in Bergen.</p></body></html>"
    assert dripper.extract(html).text.strip() == "It rained all day in Bergen."
    assert dripper.extract(html.decode()).text.strip() == "It rained all day in Bergen."
    served_as_html = close_empty_elements(XHTML + b"<div/>", "text/html")
    assert served_as_html == XHTML.replace(b"/></head>", b"></script></head>") + b"<div/>"


def test_parameters_of_parts_cost_no_more_than_other_characters() -> None:
    """Of a quotation mark and a megabyte of semicolons in all they took a minute."""
    part = b'Content-Type: multipart/related; "' + b";" * 60_000 + b"\n\nx\n"
    last = b"Content-Type: text/html\n\n<p>one"
    saved = b"Content-Type: multipart/related; boundary=B\n\n" + b"".join(b"--B\n" + each for each in [part] * 40)

    def html(mhtml: bytes) -> str | bytes:
        return open_page(mhtml).html

    with Guard(html, GuardLimits(10, 600, 1 << 30)) as guard:
        assert guard.call(saved + b"--B\n" + last + b"\n--B--") == b"<p>one"
