"""The address that a saved page states."""

import pytest

import dripper
from dripper.facts.metadata import Metadata, find_own_address

BODY = '<p>It rained all day in Bergen, and <a href="c">the ferry</a> stayed in its harbour.'


@pytest.mark.parametrize(
    ("head", "url"),
    [
        ("<!-- saved from url=(0021)https://example.org/a/b?x=1&amp;y=2 -->", "https://example.org/a/b?x=1&y=2"),
        ("<html><!--\n Page saved with SingleFile \n url: https://example.org/a/b \n saved date: Mon\n-->", "https://example.org/a/b"),
        ("<!-- Mirrored from example.org/a/b.html by HTTrack Website Copier/3.x -->", "http://example.org/a/b.html"),
        ('<link rel="canonical" href="https://example.org/a/b">', "https://example.org/a/b"),
        ('<meta property="og:url" content="https://example.org/a/b">', "https://example.org/a/b"),
        ('<!-- saved from url=(0010)about:blank --><link rel="canonical" href="https://example.org/a/">', "https://example.org/a/"),
        ('<link rel="canonical" href="/a/b">', None),
        ("<!-- saved from url=(0021)file:///C:/a.html -->", None),
    ],
)  # fmt: skip
def test_links_start_from_what_the_page_says(head: str, url: str | None) -> None:
    result = dripper.extract(head + BODY)
    assert result.url == url
    target = url.rpartition("/")[0] + "/c" if url else "c"
    assert f"[the ferry]({target})" in result.markdown
    given = dripper.extract(head + BODY, url="https://given.example/")
    assert (given.url, "(https://given.example/c)" in given.markdown) == ("https://given.example/", True)


def test_the_program_that_saved_the_page_knows_better_than_its_site() -> None:
    html = b"<!-- saved from url=(0018)https://e.org/a/b -->"
    assert find_own_address(html, Metadata(canonical_url="https://f.org/")) == "https://e.org/a/b"
    assert find_own_address(bytes(5000) + html, Metadata(canonical_url="https://f.org/")) == "https://f.org/"
