"""The images of an extraction, and where they stand in its Markdown."""

import pytest

import dripper
from dripper.html.media.listing import ShownImage
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
        ("<div><img src='/b c.jpg' title='t &quot;' width=100%></div>", ShownImage("https://e.org/b c.jpg")),
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
    assert {**image.as_row(), "place": None} == expected.as_row()


def test_equal_images_have_places_of_their_own() -> None:
    result = extract("<div><img src=a.jpg></div><p>" + STORY + "</p><div><img src=a.jpg></div>")
    places = [image.place for image in result.images]
    assert len(set(places)) == 2
    assert all(
        result.markdown[place:].startswith("![](https://e.org/a/a.jpg)") for place in places if place is not None
    )


def test_a_link_to_the_file_is_not_the_image() -> None:
    result = extract("<p><a href=a.jpg>See it</a> or <img src=a.jpg></p>")
    (image,) = result.images
    assert image.place == result.markdown.index("![](")


def test_an_image_that_the_markdown_leaves_out_has_no_place() -> None:
    (image,) = extract("<div><img src=a.jpg></div>", **{"markdown.images": "drop"}).images
    assert (image.address, image.place) == ("https://e.org/a/a.jpg", None)


def test_a_picture_in_the_markup_has_no_address() -> None:
    assert extract("<p>It <img src='data:image/gif;base64,R0lG'> is.</p>").images == ()
