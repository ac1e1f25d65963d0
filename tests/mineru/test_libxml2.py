"""What libxml2 writes of a start tag, and what its end tags close."""

import pytest
from lxml import etree

from dripper.mineru.libxml2 import CLOSERS, UnforeseenError, as_written, unclosed_before


@pytest.mark.parametrize(
    "tag",
    [
        "<p>",
        '<p class="a b" id="c">',
        '<a href="/b?c=d&amp;e=f">',
        '<p name="x-y" data-a="it\'s &amp; &gt;">',
        '<meta name="description" content="text">',
    ],
)
def test_a_plain_tag_stays_as_it_is(tag: str) -> None:
    assert as_written([tag]) == ({}, {})


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ('<input checked="">', "<input checked>"),
        ('<p title="a &quot;b&quot;">', "<p title='a \"b\"'>"),
        ('<a href="/b c">', '<a href="/b%20c">'),
        ('<p href="/\u00e9">', '<p href="/%C3%A9">'),
        ('<svg viewBox="0 0 1 1">', '<svg viewbox="0 0 1 1">'),
        ('<p data-a="&amp;{b}">', '<p data-a="&{b}">'),
    ],
)
def test_others_are_written_by_libxml2(tag: str, written: str) -> None:
    assert as_written([tag, "<p>"])[0] == {tag: written}


def test_addresses_of_images_lose_their_blanks() -> None:
    tags = ['<img src=" /a b.png ">', '<a src=" /c ">', '<img alt=" x ">']
    assert as_written(tags)[1] == {'<img src="/a%20b.png%20">': "/a b.png"}


@pytest.mark.parametrize(
    "tags",
    [
        ['<p title="&lt;!-- a --&gt;">'],
        ['<p title="&lt;?xml ?&gt;">'],
        ['<p a\u00a0b="">'],
        # Written alike, but only one of them has blanks around its address.
        ['<img src="/a.png " alt="">', '<img src="/a.png%20" alt="">'],
    ],
)
def test_what_is_not_foreseen_raises(tags: list[str]) -> None:
    with pytest.raises(UnforeseenError):
        as_written(tags)


@pytest.mark.parametrize(
    ("name", "open_names", "count"),
    [
        ("p", ["html", "body", "p"], 0),
        ("p", ["html", "body", "p", "b", "i"], 2),
        ("p", ["html", "body", "b"], 0),
        ("b", ["html", "body", "b", "div"], 0),
        ("div", ["html", "body", "div", "b"], 1),
        ("table", ["html", "body", "table", "tbody", "tr", "td"], 3),
        ("tr", ["html", "body", "tr", "table"], 0),
    ],
)
def test_an_end_tag_closes_what_is_less_than_its_element(name: str, open_names: list[str], count: int) -> None:
    assert unclosed_before(name, open_names) == count


@pytest.mark.parametrize(("child", "parent"), [(child, parent) for child in CLOSERS for parent in CLOSERS[child]])
def test_each_pair_closes_in_libxml2_too(child: str, parent: str) -> None:
    markup = f"<html><head></head><body><div><{parent} id='parent'><{child} id='child'></{child}></{parent}></div></body></html>"
    root = etree.fromstring(markup, etree.HTMLParser())
    children = root.xpath("//*[@id='child']")
    assert not children or children[0].getparent().get("id") != "parent"
