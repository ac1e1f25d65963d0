"""A block in few tokens: what markup says about it as markers, then the beginning and the end of
its text. For models whose context is short: 24 tokens a block put some forty blocks into 512.
"""

import re
from typing import NamedTuple

from dripper.labels.words import words_of
from dripper.markup.tree import unescape

WORD_STEPS, LINK_STEPS, PLACES = 8, 4, 10
# Wordpieces of two dozen tokens end well before; tokenizers are slow on text that is thrown away.
FIRST_CHARACTERS, LAST_CHARACTERS = 160, 60
HEAD_TAGS, HEAD_NAMES = 3, 3

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s<>/]*)[^<>]*>")
_NAMES = re.compile(r' (?:class|id)="([^"]*)"')
_NAME = re.compile(r"[a-z]{2,}", re.IGNORECASE)


class Outline(NamedTuple):
    """What is kept of a block."""

    marker: str
    """How many words, and how much of the text is links; one of `MARKERS`."""
    head: str
    """Names of its first tags, and words of the class and id of its own."""
    text: str


def outline(markup: str) -> Outline:
    """Return the outline of a block's simplified HTML.

    >>> outline('<li class="nav-item" _item_id="7"><a>Home</a></li>')
    Outline(marker='<|words 1 links 3|>', head='li a nav item', text='Home')
    """
    own = markup[: markup.find(">") + 1]
    names = [name.lower() for value in _NAMES.findall(own) for name in _NAME.findall(value)]
    tags, pieces, linked = list[str](), list[str](), 0
    in_link, last = 0, 0
    for tag in _TAG.finditer(markup):
        piece = markup[last : tag.start()]
        pieces.append(piece)
        linked += len(piece) if in_link else 0
        last = tag.end()
        name = tag[2].lower()
        if name == "a":
            in_link = max(0, in_link + (-1 if tag[1] else 1))
        if not tag[1]:
            tags.append(name)
    pieces.append(markup[last:])
    text = " ".join(unescape(" ".join(pieces)).split())
    head = [*dict.fromkeys(tags)][:HEAD_TAGS] + [*dict.fromkeys(names)][:HEAD_NAMES]
    return Outline(_marker(text, linked / max(1, sum(map(len, pieces)))), " ".join(head), shortened(text))


def shortened(text: str) -> str:
    """Return the beginning and the end of a text that is long."""
    if len(text) <= FIRST_CHARACTERS + LAST_CHARACTERS:
        return text
    return f"{text[:FIRST_CHARACTERS]} {text[-LAST_CHARACTERS:]}"


def _marker(text: str, linked: float) -> str:
    words = min(WORD_STEPS - 1, len(words_of(text)).bit_length())
    return words_marker(words, (linked > 0) + (linked >= 0.5) + (linked >= 0.95))


def words_marker(words: int, links: int) -> str:
    """Return the marker of a block. words: 0, 1, 2 to 3, 4 to 7 and so on are 0, 1, 2, 3…. links:
    none, some, half, all are 0 to 3."""
    return f"<|words {words} links {links}|>"


def place_marker(place: int) -> str:
    """Return the marker that a chunk begins with: in which tenth of its page, 0 to 9."""
    return f"<|place {place}|>"


MARKERS = (
    *(words_marker(words, links) for words in range(WORD_STEPS) for links in range(LINK_STEPS)),
    *(place_marker(place) for place in range(PLACES)),
)
"""All markers: a tokenizer for outlines has each as one token."""
