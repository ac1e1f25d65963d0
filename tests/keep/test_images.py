"""The images of an extraction, and their positions in its Markdown."""

from dataclasses import replace

import pytest

import dripper
from dripper.keep.images import ShownImage
from dripper.page.extraction import Extraction

STORY = "What makes a paragraph the main content of a page like this is that it says a good deal."


def extract(markup: str, **settings: str | bool) -> Extraction:
    page = f"<body><article><h1>The lake in winter</h1><p>{STORY}</p>{markup}<p>{STORY}</p><p>{STORY}</p></article>"
    return dripper.extract(page, url="https://e.org/a/", settings=settings)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<figure><img src=a.jpg alt='A  lake' width=600 height=400px><figcaption>In <i>winter</i></figcaption></figure>",
            ShownImage("https://e.org/a/a.jpg", "A lake", "In winter", None, 600, 400),
        ),
        ("<div><img src='/b c.jpg' title='t &quot;' width=100%></div>", ShownImage("https://e.org/b%20c.jpg")),
        ("<p>It <img src='x(1).jpg'> is.</p>", ShownImage("https://e.org/a/x(1).jpg")),
        ("<div><a href=/l.jpg><img src=/l.jpg></a></div>", ShownImage("https://e.org/l.jpg")),
        (
            "<div><picture><source srcset='/w.webp 2x'><img src=a.jpg></picture></div>",
            ShownImage("https://e.org/w.webp"),
        ),
    ],
)
def test_an_image_has_its_facts_and_its_place(markup: str, expected: ShownImage) -> None:
    result = extract(markup)
    (image,) = result.images
    assert image.place is not None
    assert result.markdown[image.place :].startswith(f"![{image.alt or ''}](")
    assert replace(image, place=None) == expected


def test_equal_images_have_places_of_their_own() -> None:
    result = extract("<div><img src=a.jpg></div><p>" + STORY + "</p><figure><img src=a.jpg></figure>")
    places = [image.place for image in result.images]
    assert len(set(places)) == 2
    assert all(
        result.markdown[place:].startswith("![](https://e.org/a/a.jpg)") for place in places if place is not None
    )


@pytest.mark.parametrize(
    "markup", ["<img src=a.jpg alt=Boat title=boat>", "Boat <img src=a.jpg alt=Boat title='The boat'>"]
)
def test_an_image_of_which_the_markdown_says_less_has_its_place_and_alt(markup: str) -> None:
    result = extract(f"<p>{markup}</p>")
    (image,) = result.images
    assert (image.alt, image.place) == ("Boat", result.markdown.index("!["))


def test_a_link_to_the_file_is_not_the_image() -> None:
    result = extract("<p><a href=a.jpg>See it</a> or <img src=a.jpg></p>")
    (image,) = result.images
    assert image.place == result.markdown.index("![](")


def test_an_image_that_the_markdown_leaves_out_has_no_place() -> None:
    (image,) = extract("<div><img src=a.jpg></div>", **{"markdown.images": "drop"}).images
    assert (image.address, image.place) == ("https://e.org/a/a.jpg", None)


def test_a_picture_in_the_markup_has_no_address() -> None:
    assert extract("<p>It <img src='data:image/gif;base64,R0lG'> is.</p>").images == ()


@pytest.mark.parametrize(
    ("icon", "instead"),
    [
        ("<img class=mceSmilieSprite src=clear.png alt=':p'>", ":p"),
        ("<img class=emoji src=1f600.png alt='😀'>", "😀"),
        ("<img src=phone.gif width=16 height=16 alt='Telephone'>", ""),
        ("<img src=https://ad.doubleclick.net/a.gif>", ""),
    ],
)
def test_an_icon_in_a_main_block_is_no_image(icon: str, instead: str) -> None:
    result = extract(f"<p>It rained. {icon} {STORY}</p>")
    assert result.images == ()
    assert " src=" not in result.main_html
    assert result.text.count("It rained. ") == 1
    assert ":p" not in result.text
    assert f"It rained. {instead} {STORY[:20]}".replace("  ", " ") in result.markdown


def test_a_bullet_is_no_image() -> None:
    items = "".join(f"<li><img src=li.gif> It rained {n} times. {STORY}" for n in range(3))
    assert extract(f"<ul>{items}</ul>").images == ()
    assert len(extract(f"<ul>{items.replace('li.gif>', 'li.gif alt=Tick>')}</ul>").images) == 3


def test_a_link_around_an_icon_alone_goes_with_it() -> None:
    result = extract(f"<p>{STORY} <a href=/rss><img src=rss.png width=16 height=16></a></p>")
    assert "/rss" not in result.markdown


def test_a_sign_again_and_again_is_no_image_unless_it_says_something() -> None:
    def count(sign: str) -> int:
        return len(extract("".join(f"<p>{sign} {STORY} {number}</p>" for number in range(3))).images)

    assert count("<img src=note.png>") == 0
    assert [count(f"<img src=note.png {said}>") for said in ("alt=New", "title=New", "width=300")] == [3, 3, 3]
    assert count("<figure><img src=note.png></figure>") == 3


def test_what_an_icon_says_in_a_cell_stays() -> None:
    rows = f"<tr><th>Part<th>Done<tr><td>{STORY}<td><img src=tick.png width=20 height=20>"
    assert len(extract(f"<table>{rows}</table>").images) == 1


def test_a_small_preview_in_a_main_block_stays_an_image() -> None:
    assert len(extract("<p><img src=map.png width=80 height=60 alt=Map> The map.</p>").images) == 1


HERO = "<meta property=og:image content='https://cdn.e.org/u/rain-in-bergen-1200x630.jpg'>"


def test_the_declared_picture_is_kept_where_the_page_shows_it_and_leads() -> None:
    stage = "<div class=related-stage><img src='/u/rain-in-bergen.webp' alt=Rain></div>"
    page = f"{HERO}<body>{stage}<article><h1>Rain</h1><p>{3 * STORY}</p><p>{STORY}</p></article>"
    assert [(image.alt, image.role) for image in dripper.extract(page).images] == [("Rain", "lead")]
    assert dripper.extract(page.replace(HERO, "")).images == ()
    menu = page.replace("<div class=related-stage>", "<nav>").replace("</div>", "</nav>", 1)
    assert dripper.extract(menu).images == ()


def test_of_a_series_of_pictures_the_declared_one_leads() -> None:
    """Their numbers look like sizes."""
    head = "<meta property=og:image content='https://e.org/u/rain-in-bergen-14.jpg'>"
    series = "".join(f"<p>{STORY} <img src=/u/rain-in-bergen-{number}.jpg></p>" for number in (12, 14, 18))
    page = f"{head}<body><article><h1>Rain</h1>{series}</article>"
    assert [image.role for image in dripper.extract(page).images] == ["content", "lead", "content"]
    resized = head.replace("14", "1200") + f"<body><article><h1>Rain</h1><p>{STORY} <img src=/u/rain-in-bergen-800.jpg>"
    assert [image.role for image in dripper.extract(resized).images] == ["lead"]


def test_roles() -> None:
    row = "".join(f"<li><img src=p{letter}.jpg></li>" for letter in "abc")
    result = extract(f"<ul class=shots>{row}</ul><p>{STORY}</p><p>{STORY} <img src=alone.jpg> {STORY}</p>")
    assert [image.role for image in result.images] == ["gallery", "gallery", "gallery", "content"]
    (face,) = extract(f"<p>{STORY} <img src=ann.jpg class=avatar></p>").images
    assert face.role == "avatar"


def test_what_is_shown_again_and_again_is_an_icon() -> None:
    def list_roles(size: str) -> set[str]:
        return {
            image.role
            for image in extract("".join(f"<p><img src=v.svg alt=Done {size}> {STORY}</p>" for _ in "abc")).images
        }

    assert list_roles("") == list_roles("width=80") == {"icon"}
    assert list_roles("width=600 height=400") == {"content"}


def test_captions_of_galleries_of_mediawiki_go_with_their_pictures() -> None:
    box = '<li class="gallerybox"><div class="thumb"><img src="/{0}.jpg"></div><div class="gallerytext"><p>{0} it is</p></div></li>'
    result = extract(f"<ul class=gallery>{box.format('Wheel')}{box.format('Rake')}</ul>")
    assert [image.caption for image in result.images] == ["Wheel it is", "Rake it is"]
    assert "Wheel it is" in result.markdown
