"""Renders a page for annotators as numbered blocks. Empty blocks are omitted, and long blocks are
shortened in the middle. If a block is in a side column or slider, its number is followed by the
kind of place: `12 [aside]`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dripper.blocks.page import Page
from dripper.labels.cost import estimate_tokens
from dripper.tree.tree import Tree

BLOCK_CHARS = (150, 100, 70, 50)
"""The maximum block lengths, in characters. If a page exceeds its budget, the next shorter length
is tried. With 150 characters, pages have 2,500 tokens on average, and 98 % have at most 8,500
(1,034 pages of many kinds)."""
HEAD_CHARS = 150
"""The maximum number of characters of URL and title."""
_PLACES = {
    "aside": re.compile(r"^<aside\b|[\"' _-]aside\b", re.IGNORECASE),
    "side": re.compile(
        r"[\"' _-](?:left|right)?side[_-]?(?:bar|col|nav|menu|panel|content|widget)?\d?[\"' _-]", re.IGNORECASE
    ),
    "slider": re.compile(r"slider|slick-slide|swiper|flexslide", re.IGNORECASE),
    "carousel": re.compile(r"carousel", re.IGNORECASE),
}
"""Kinds of places on a page that affect whether a block is main. Each has a regex for the start
tags of its elements. The guidelines name the same places."""
_NAMES = re.compile(r"""^<[a-z-]+|\s(?:class|id)=(?:"[^"]*"|'[^']*')""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's text for annotators."""

    text: str
    tokens: int
    """The approximate number of tokens."""


def render(number: str, url: str | None, page: Page, budget: int) -> Rendered | None:
    """Return the page's text, with at most about `budget` tokens. Return None if the text is longer
    even with the shortest block length."""
    head = [f"page: {number}"] + [f"{name}: {_line(value)}" for name, value in (("url", url), ("title", page.title))]
    for most in BLOCK_CHARS:
        text = "\n".join([*head, *_number_blocks(page, most)]) + "\n"
        tokens = estimate_tokens(text)
        if tokens <= budget:
            return Rendered(text, tokens)
    return None


def shorten(text: str, most: int) -> str:
    """Collapse `text` to one line. If it exceeds `most` characters, its middle is replaced by the
    number of characters in the whole text.

    >>> shorten("a  b", 50), shorten("x" * 200, 50)[-24:]
    ('a b', 'xxxx …[200]… xxxxxxxxxxx')
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return f"{text[: most * 7 // 10]} …[{len(text)}]… {text[-(most * 23 // 100) :]}"


def find_place(tree: Tree, element: int) -> str | None:
    """Return the kind of the innermost place around an element (`aside`, `side`, `slider` or
    `carousel`), or None if the element is in no such place."""
    while element >= 0 and tree.tags[element] not in ("body", "html"):
        names = "".join(_NAMES.findall(tree.start_tag(element)))
        for place, pattern in _PLACES.items():
            if pattern.search(names):
                return place
        element = tree.parents[element]
    return None


def _number_blocks(page: Page, most: int) -> Sequence[str]:
    texts = ((block, shorten(block.text, most)) for block in page.blocks)
    places = ((block.item_id, find_place(page.elements, block.element), text) for block, text in texts if text)
    return [f"{number} [{place}]\t{text}" if place else f"{number}\t{text}" for number, place, text in places]


def _line(value: str | None) -> str:
    return " ".join((value or "").split())[:HEAD_CHARS]
