"""The images and captions that belong to main blocks, and others that do not."""

import re

import pytest

from dripper.facts.media.captions import pair_captions
from dripper.facts.media.pictures import find_images
from dripper.html import Page, preprocess, prune_page, to_text

STORY = "What makes a paragraph the main content of a page like this is that it says a good deal."


def keep(html: str) -> str:
    """Return the main HTML, with images, of a page in which the blocks with `STORY` are main."""
    page = preprocess(html)
    main = find_main(page)
    written = prune_page(page, main, with_media=True)
    assert to_text(written, with_captions=False) == to_text(prune_page(page, main))
    return written


def find_main(page: Page) -> list[int]:
    return [block.item_id for block in page.blocks if STORY in block.text]


def find_shown(html: str) -> list[str]:
    return re.findall(r'<img[^>]* src="([^"]*)"', keep(html))


def surround(markup: str) -> str:
    return f"<body><div id=all><article><p>{STORY}</p>{markup}<p>{STORY}</p></article></div></body>"


@pytest.mark.parametrize(
    "markup",
    [
        "<img src=a.jpg>",
        "<div><a href=/big.jpg><img src=a.jpg></a></div>",
        "<figure><img src=a.jpg width=600 height=400></figure>",
        "<div class=image><img src=a.jpg><div>The lake in winter</div></div>",
        "<div><noscript><img src=a.jpg></noscript></div>",
        "<div><img class=lazy data-src=a.jpg src='data:image/gif;base64,R0lG'><noscript><img src=a.jpg></noscript></div>",
        "<div><img class=lazy src=a.jpg height=0 width=800><noscript><img src=b.jpg></noscript></div>",
    ],
)
def test_an_image_among_main_blocks_is_main(markup: str) -> None:
    assert find_shown(surround(markup)) == ["a.jpg"]


@pytest.mark.parametrize(
    "markup",
    [
        "<img src=a.jpg width=1 height=1>",
        "<div><img src=a.jpg width=64 height=64></div>",
        "<div><img src=/img/logo.png></div>",
        "<div><img class=avatar src=a.jpg></div>",
        "<div class=product-swatches><a href=/black><img src=a.jpg alt=Black></a></div>",
        "<div class=author><a href=/ann><img src=a.jpg></a></div>",
        "<div class='related'><div><img src=a.jpg></div></div>",
        "<p>Other words, of which nobody says that they are main <img src=a.jpg></p>",
        "<button><img src=a.jpg></button>",
        "<div><img src='https://pixel.example.org/x.gif'></div>",
        "<div><img src='data:image/gif;base64,R0lG'></div>",
        "<div><a href=/next><img src=a.jpg><h3>Another story, which is not this one</h3></a></div>",
        "<div><img src=a.jpg></div><div><img src=a.jpg></div><div><img src=a.jpg></div>",
    ],
)
def test_what_is_no_content_stays_out(markup: str) -> None:
    assert find_shown(surround(markup)) == []


def test_a_picture_is_shown_once_whatever_its_size() -> None:
    card = "<div><img src=/rain-300x200.jpg></div>"
    assert find_shown(surround(f"<div><img src=/rain.jpg?w=9></div>{card}")) == ["/rain.jpg?w=9"]
    # Unless it is in a figure or among text, or a program distinguishes images.
    assert len(find_shown(surround(f"<div><img src=/rain.jpg></div><figure>{card}</figure>"))) == 2
    assert len(find_shown(surround(f"<p>{STORY} <img src=/rain.jpg></p><p>{STORY} <img src=/rain.jpg></p>"))) == 2
    assert len(find_shown(surround("<div><img src=/t.php?of=1.jpg></div><div><img src=/t.php?of=2.jpg></div>"))) == 2


def test_an_image_outside_of_the_main_container_stays_out() -> None:
    menu = "<div><img src=a.jpg><p>Home, news, sports, weather, and all that a menu offers</p></div>"
    assert find_shown(menu + surround("")) == []
    assert find_shown(surround("") + "<div><img src=a.jpg></div>") == []


def test_an_image_of_a_page_without_main_blocks_stays_out() -> None:
    assert prune_page(preprocess("<p>a<img src=a.jpg>"), [], with_media=True) == ""


@pytest.mark.parametrize(
    "caption",
    [
        "<figcaption>The lake</figcaption>",
        "<div><figcaption><p>The <i>lake</i></p></figcaption></div>",
        "<p class='wp-caption-text'>The lake</p>",
    ],
)
def test_a_caption_goes_with_its_image(caption: str) -> None:
    kept = keep(surround(f"<figure><img src=a.jpg>{caption}</figure>"))
    assert "lake" in to_text(kept)
    assert "lake" not in to_text(kept, with_captions=False)
    assert "lake" not in keep(surround(f"<figure><img class=avatar src=a.jpg>{caption}</figure>"))


def test_a_text_that_stands_apart_from_the_image_is_no_caption() -> None:
    card = f"<div><img src=a.jpg><p>{STORY}</p><p class=rating-caption>4.6 of 5</p></div>"
    kept = keep(surround(f"{card}<p>{STORY}</p>"))
    assert "a.jpg" in kept
    assert "4.6" not in kept


def test_a_card_is_no_caption_though_it_is_named_one() -> None:
    def has_caption(caption: str) -> bool:
        return "data-dripper" in keep(surround(f"<div><img src=a.jpg><div class=product-caption>{caption}</div></div>"))

    assert not has_caption("<h3><a href=/bag>Bag</a></h3> 30 euros")
    assert has_caption("<h3>Bag</h3>")
    assert has_caption("<a href=/bag>Bag</a>")


def test_a_sign_that_something_loads_is_no_image_while_it_is_hidden() -> None:
    assert "wait.gif" not in keep(surround("<div><img style='display:none' src=wait.gif></div>"))
    assert "slide.jpg" in keep(surround("<div><img style='display:none' src=slide.jpg></div>"))


def test_a_caption_is_that_of_the_images_beside_it() -> None:
    images = "<img src=far.jpg><p>And then, in May, the ice melted.</p><img src=a.jpg><b>Enlarge</b><img src=b.jpg>"
    tree = preprocess(f"<div>{images}<p class=credit-caption>Ann Lee</p><p class=caption>The lake</p></div>").elements
    elements = [image.element for image in find_images(tree)]
    pairs = [[elements.index(image) for image in captioned] for _, captioned in pair_captions(tree, elements)]
    assert pairs == [[1, 2], [1, 2]]


def test_a_caption_of_which_something_is_main_is_as_its_labels_say() -> None:
    kept = keep(surround(f"<figure><img src=a.jpg><figcaption><p>{STORY}</p><p>Credit</p></figcaption></figure>"))
    assert "Credit" not in kept
    assert "data-dripper" not in kept


def test_the_caption_of_a_figure_that_a_script_fills_stays() -> None:
    assert "The lake" in keep(surround("<figure><div></div><figcaption>The lake</figcaption></figure>"))


def test_a_picture_keeps_its_sources() -> None:
    picture = '<picture><source srcset="b.webp 900w"><img src="a.jpg"></picture>'
    assert picture in keep(surround(f"<div>{picture}</div>"))
