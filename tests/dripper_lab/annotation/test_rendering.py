"""Pages as annotators read them."""

import pytest

from dripper.html import preprocess
from dripper_lab.annotation.rendering import BLOCK_CHARS, render, shorten

PAGE = preprocess(
    f"<title>A \n title</title><p>one\ttwo\nthree</p><p><img src=a.png></p><p>{'word ' * 200}end</p><p>last</p>"
)


def test_blocks_keep_their_numbers_where_empty_ones_are_left_out() -> None:
    rendered = render("p00007", "http://a.org/", PAGE, 10_000)
    assert rendered is not None
    head = ["page: p00007", "url: http://a.org/", "title: A title"]
    lines = rendered.text.splitlines()
    assert lines[:4] == [*head, "1\tone two three"]
    assert lines[4].startswith("3\tword word")
    assert "…[1003]…" in lines[4]
    assert lines[5:] == ["4\tlast"]


@pytest.mark.parametrize(
    ("around", "place"),
    [
        ("<aside>", "aside"),
        ("<div class='main_side-bar wide'>", "side"),
        ('<div id="leftside">', "side"),
        ('<div class="js hero-slider">', "slider"),
        ('<div class="swiper"><article>', "slider"),
        ('<ul class="owl-carousel">', "carousel"),
        ('<div class="inside considered sidewalk">', None),
        ('<div data-x="carousel" title="aside">', None),
    ],
)
def test_a_block_shows_a_place_that_decides(around: str, place: str | None) -> None:
    rendered = render("p1", None, preprocess(f"<body class=has-slider>{around}<p>First offer</p></div><p>Text"), 1000)
    assert rendered is not None
    mark = f" [{place}]" if place else ""
    assert f"1{mark}\tFirst offer" in rendered.text.splitlines()


def test_a_long_page_is_shown_with_shorter_blocks_or_not_at_all() -> None:
    long = preprocess("".join(f"<p>{number} {'word ' * 100}</p>" for number in range(50)))
    whole = render("p1", None, long, 10_000)
    assert whole is not None
    tight = render("p1", None, long, whole.tokens // 2)
    assert tight is not None
    assert tight.tokens <= whole.tokens // 2
    assert len(tight.text.splitlines()) == len(whole.text.splitlines())
    assert render("p1", None, long, 100) is None


def test_a_shortened_block_is_never_longer_than_said() -> None:
    for most in BLOCK_CHARS:
        assert shorten("x" * most, most) == "x" * most
        assert len(shorten("x" * 5000, most)) <= most + 10
