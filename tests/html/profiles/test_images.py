import pytest

from dripper.html import preprocess
from dripper.html.profiles.dripper import choose_largest, use_real_address


@pytest.mark.parametrize(
    ("tag", "src"),
    [
        ('<img data-src="/a.jpg">', "/a.jpg"),
        ('<img src="data:image/gif;base64,R0" data-original="https://x.y/a">', "https://x.y/a"),
        ('<img src="blank.gif" data-lazy-src="b.png">', "b.png"),
        ('<img src="a.jpg" data-src="{{ template }}">', "a.jpg"),
        ('<img srcset="s.jpg 1x, l.jpg 2x">', "l.jpg"),
        ('<img src="a.jpg" srcset="l.jpg 2x">', "a.jpg"),
        ('<img data-srcset="s.jpg 480w, l.jpg 1080w, m.jpg 800w" src="data:,">', "l.jpg"),
        ('<img data-id="7" src="a.jpg">', "a.jpg"),
        ('<img data-src="/a.jpg?x=1&amp;y=%222%22">', "/a.jpg?x=1&amp;y=%222%22"),
    ],
)
def test_the_address_a_browser_shows_in_the_end(tag, src):
    assert f' src="{src}"' in use_real_address(tag)
    assert use_real_address(tag).count(" src=") == 1


def test_largest_of_survives_nonsense():
    assert choose_largest("") == ""
    assert choose_largest("  , ,a.jpg 2w 3h,b.jpg x") in ("a.jpg", "b.jpg")
    assert choose_largest("https://x/a,b.jpg 100w, https://x/c.jpg 50w") == "https://x/a,b.jpg"


def test_lazy_images_are_blocks_and_stay_in_the_main_html():
    page = preprocess("<div><p>a</p><img data-src='/x.png'><p>b</p></div>")
    assert page.prune([2]) == '<html><body><div><img src="/x.png" data-src="/x.png"></div></body></html>'
    assert 'src="/x.png"' in page.simplified_html
    assert page.blocks[1].text == ""


def test_images_without_any_address_are_no_blocks():
    assert not preprocess("<div><img alt=a><img src='data:image/png;base64,AA'></div>").blocks
