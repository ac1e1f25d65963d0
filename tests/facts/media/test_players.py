"""Films, sounds and frames of known players become links; no block changes by them."""

import re

import pytest

import dripper
from dripper.facts.media.players import write_watched
from dripper.html import preprocess

STORY = "What makes a paragraph the main content of a page like this is that it says a good deal."
HEAD = "<body><article><h1>The lake in winter</h1>"


def find_links(markup: str, after: str = "") -> list[str]:
    result = dripper.extract(f"{HEAD}<p>{STORY}</p>{markup}<p>{STORY}</p></article>{after}", url="https://e.org/a/")
    assert result.text == f"The lake in winter\n\n{STORY}\n\n{STORY}"
    links = re.findall(r'<a href="([^"]*)"', result.main_html)
    assert all(f"]({link})" in result.markdown for link in links)
    return links


@pytest.mark.parametrize(
    ("markup", "links"),
    [
        (
            "<div><iframe src='//www.youtube.com/embed/abcdefghi?rel=0'></iframe></div>",
            ["https://www.youtube.com/watch?v=abcdefghi"],
        ),
        ("<iframe data-src=https://player.vimeo.com/video/12></iframe>", ["https://vimeo.com/12"]),
        ("<div><audio src=a.mp3></audio></div>", ["https://e.org/a/a.mp3"]),
        ("<video controls><source src=/f.mp4><source src=/f.webm></video>", ["https://e.org/f.mp4"]),
        ("<iframe src=https://ads.example.org/embed/x></iframe>", []),
        ("<iframe src='javascript://www.youtube.com/embed/a'></iframe>", []),
        ("<bdo data-dripper-player='javascript:alert(1)'></bdo>", []),
        ("<video src='blob:https://e.org/1'></video>", []),
        ("<aside><video src=/f.mp4></video></aside>", []),
    ],
)
def test_a_film_among_main_blocks_is_a_link(markup: str, links: list[str]) -> None:
    assert find_links(markup) == links


def test_a_film_behind_the_main_content_is_none() -> None:
    assert find_links("", "<div><iframe src=https://www.youtube.com/embed/abcdefghi></iframe></div>") == []


@pytest.mark.parametrize("around", ["<div>a {} b</div>", "<p>a</p>{}<p>b</p>", "<ul><li>a{}</li><li>b</li></ul>", "{}"])
def test_a_player_changes_no_block(around: str) -> None:
    frame = "<iframe src=https://www.youtube.com/embed/abcdefghi></iframe>"
    with_player, without = preprocess(around.format(frame)), preprocess(around.format("<iframe src=x></iframe>"))
    assert [block.text for block in with_player.blocks] == [block.text for block in without.blocks]


@pytest.mark.parametrize(
    ("address", "watched"),
    [
        ("https://www.youtube-nocookie.com/embed/abcdefghi", "https://www.youtube.com/watch?v=abcdefghi"),
        ("https://www.youtube.com/embed/videoseries?list=PL1", "https://www.youtube.com/embed/videoseries?list=PL1"),
        ("//w.soundcloud.com/player/?url=x", "https://w.soundcloud.com/player/?url=x"),
    ],
)
def test_an_address_is_that_which_people_share(address: str, watched: str) -> None:
    assert write_watched(address) == watched
