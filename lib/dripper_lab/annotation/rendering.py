"""A page as annotators read it: numbered blocks, empty ones left out, long ones shortened in the
middle. A block in a side column or a slider has its place beside its number: `12 [aside]`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dripper.html.blocks.page import Page
from dripper.html.tree.tree import Tree
from dripper.labels.cost import estimate_tokens

BLOCK_CHARS = (150, 100, 70, 50)
"""Lengths to which blocks may be shown; the next one is tried where a page is above its budget.
With 150, 1,034 pages of many kinds have 2,500 tokens on the mean, 98 % of them at most 8,500."""
HEAD_CHARS = 150
"""Characters of address and title."""
_PLACES = {
    "aside": re.compile(r"^<aside\b|[\"' _-]aside\b", re.IGNORECASE),
    "side": re.compile(
        r"[\"' _-](?:left|right)?side[_-]?(?:bar|col|nav|menu|panel|content|widget)?\d?[\"' _-]", re.IGNORECASE
    ),
    "slider": re.compile(r"slider|slick-slide|swiper|flexslide", re.IGNORECASE),
    "carousel": re.compile(r"carousel", re.IGNORECASE),
}
"""Places that decide whether a block is main, by what the start tags of their elements say: those
that the guidelines name."""
_NAMES = re.compile(r"""^<[a-z-]+|\s(?:class|id)=(?:"[^"]*"|'[^']*')""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's text for annotators."""

    text: str
    tokens: int
    """About how many."""


def render(number: str, url: str | None, page: Page, budget: int) -> Rendered | None:
    """Return the page's text, of at most about `budget` tokens; None if it is longer with the
    shortest blocks too."""
    head = [f"page: {number}"] + [f"{name}: {_line(value)}" for name, value in (("url", url), ("title", page.title))]
    for most in BLOCK_CHARS:
        text = "\n".join([*head, *_number_blocks(page, most)]) + "\n"
        tokens = estimate_tokens(text)
        if tokens <= budget:
            return Rendered(text, tokens)
    return None


def shorten(text: str, most: int) -> str:
    """Return a text on one line, without its middle if it is longer than `most` characters, and
    with its length.

    >>> shorten("a  b", 50), shorten("x" * 200, 50)[-24:]
    ('a b', 'xxxx …[200]… xxxxxxxxxxx')
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return f"{text[: most * 7 // 10]} …[{len(text)}]… {text[-(most * 23 // 100) :]}"


def find_place(tree: Tree, element: int) -> str | None:
    """Return the nearest place around an element, `aside`, `side`, `slider` or `carousel`, or None
    if it is in none."""
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
