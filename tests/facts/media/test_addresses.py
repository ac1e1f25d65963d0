"""The best of an image's addresses."""

import pytest

from dripper.facts.media.addresses import use_best_address
from dripper.html import rewrite
from dripper.settings import HtmlSettings
from dripper.tree.urls import Base


@pytest.mark.parametrize(
    ("tag", "source"),
    [
        ('<img src="a.jpg">', "a.jpg"),
        ('<img src="a.jpg" srcset="b.jpg 2x">', "b.jpg"),
        ('<img src="a.jpg" srcset="b.jpg 300w, c.jpg 1200w, d.jpg 600w">', "c.jpg"),
        ('<img src="a.jpg" srcset="data:image/gif;base64,R0lG 900w">', "a.jpg"),
        ('<img src="blank.gif" data-src="a.jpg">', "a.jpg"),
        ('<img src="a.jpg" data-lazy-srcset="b.jpg 800w">', "b.jpg"),
        ('<img src="a.jpg" data-link="/story">', "a.jpg"),
        ('<img data-src="/image?id=1">', "/image?id=1"),
        ('<img src="data:image/gif;base64,R0" data-original="https://x.y/a">', "https://x.y/a"),
        ('<img src="a.jpg" data-src="{{ template }}">', "a.jpg"),
        ('<img data-srcset="s.jpg 480w, l.jpg 1080w, m.jpg 800w" src="data:,">', "l.jpg"),
        ('<img data-id="7" src="a.jpg">', "a.jpg"),
        ('<img data-src="/a.jpg?x=1&amp;y=%222%22">', "/a.jpg?x=1&amp;y=%222%22"),
        ('<img src="a.jpg" srcset="  , ,b.jpg 2w 3h,c.jpg x">', "b.jpg"),
        ('<img srcset="https://x/a,b.jpg 100w, https://x/c.jpg 50w">', "https://x/a,b.jpg"),
    ],
)
def test_the_best_address_is_the_source(tag: str, source: str) -> None:
    assert f' src="{source}"' in use_best_address(tag)


def write(html: str) -> str:
    return "".join(rewrite(f"<html><body>{html}</body></html>", HtmlSettings(), Base.of("https://e.org/a/")).parts)


def test_a_picture_shows_its_largest_source() -> None:
    html = '<picture><source srcset="s.webp 300w, /l.webp 900w"><img src="a.jpg" alt="x"></picture>'
    assert '<img src="https://e.org/l.webp" alt="x">' in write(html)


def test_an_image_of_amp_is_one_of_html() -> None:
    html = '<amp-img src="a.jpg" width="800"><noscript><img src="a.jpg"></noscript></amp-img>'
    assert '<body><img src="https://e.org/a/a.jpg" width="800"></body>' in write(html)


def test_no_address_in_a_lazy_attribute_runs() -> None:
    assert (
        "javascript" not in write('<img src="" data-lazy-src="javascript:alert(1)//x.jpg">').split("data-lazy-src")[0]
    )
