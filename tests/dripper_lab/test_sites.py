import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper_lab.datasets import site_of


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("http://foo.blogspot.com/2010/x.html", "foo.blogspot.com"),
        ("www.express.gr", "express.gr"),
        ("http://192.168.1.20:8080/x", "192.168.1.20"),
        ("http://localhost/x", "localhost"),
        ("http://[broken/x", None),
        ("", None),
        (None, None),
    ],
)
def test_site_of_a_url(url: str | None, host: str | None) -> None:
    assert site_of(url) == host


@pytest.mark.parametrize(
    "html",
    [
        b'<link rel="canonical" href="https://news.example.org/a">',
        b"<link href='https://news.example.org/a' rel='canonical'/>",
        b'<META property="og:url" content="http://example.org/a">',
        b'<meta content="http://example.org/a" property="og:url">',
        b'<base href="http://www.example.org/">',
        b'<a href="http://other.net/"></a>' + b"".join(b'<a href="http://example.org/%d"></a>' % n for n in range(3)),
    ],
)
def test_host_found_in_the_page(html: bytes) -> None:
    assert site_of(None, html) == "example.org"
    assert site_of("http://mine.com/", html) == "mine.com"


@pytest.mark.parametrize(
    "html",
    [
        b"<p>nothing",
        b'<a href="http://example.org/1"></a><a href="http://example.org/1"></a><a href="http://example.org/2"></a>',
        b"".join(b'<a href="http://www.facebook.com/%d"></a>' % n for n in range(9)),
        b'<a href="http://[broken/"></a>',
    ],
)
def test_no_host_is_guessed_from_little(html: bytes) -> None:
    assert site_of(None, html) is None


@given(st.text(max_size=40), st.binary(max_size=60))
def test_never_raises(url: str, html: bytes) -> None:
    site_of(url, html)
    site_of(None, b'<a href="http://' + html + b'">')
