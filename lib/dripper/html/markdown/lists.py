"""Tells what the lists of a page are: items, cards with headings, terms with meanings; and which
items say nothing, or say a mark that the list has by itself."""

import re
from itertools import pairwise

from dripper.html.markdown.look import SHOWS, Look
from dripper.html.tree.elements import HEADINGS, LINE_BREAKING, LISTS, words
from dripper.html.tree.tree import Tree

_BULLET = re.compile(r"\s*(?:[-*•·●▪◦‣∙■►➢❖▢☐□◻❏❑](?=\s)|[▢☐□◻❏❑•●▪◦‣])\s*")
_NUMBER = re.compile(r"\s*([0-9]{1,4})[.)]\s+")
_MAX_TERM = 200
"""Characters: what is longer is no term."""
_LINES = frozenset({"p", "div"})
_NOT_TERMS = LINE_BREAKING | SHOWS
_NOT_MEANINGS = HEADINGS | {"table", "form", "article", "section"}
_MOST_CONTAINERS = 6
"""Between an item and the list that is all there is in it."""
_OPENED = LISTS | words("li menu")


def read_number(text: str | None, otherwise: int) -> int:
    """Return the number of an item, as an attribute says it."""
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else otherwise


def list_items(tree: Tree, owner: int) -> list[int]:
    """Return the items of a list that are its children."""
    return [child for child in tree.children(owner) if tree.tags[child] == "li"]


def find_first_heading(tree: Tree, look: Look, item: int) -> int:
    """Return the heading with which an item begins, 0 if with something else."""
    place = look.first_text(item)
    heading = next((each for each in look.within(item, HEADINGS, 3) if tree.closes[each] > (place or 0)), 0)
    if place is None or not heading or tree.opens[heading] > place:
        return 0
    return heading if all(inner > heading for inner in look.within(item, _OPENED, 1)) else 0


def find_only_list(tree: Tree, look: Look, item: int) -> int | None:
    """Return the list that is all there is in an item, but for containers around it."""
    inner, last = item + 1, tree.lasts[item]
    while inner <= min(last, item + _MOST_CONTAINERS) and tree.tags[inner] == "div" and tree.lasts[inner] == last:
        inner += 1
    if inner > last or tree.tags[inner] not in ("ul", "ol") or tree.lasts[inner] != last:
        return None
    return inner if look.fills(inner, item) else None


def is_empty(tree: Tree, look: Look, item: int) -> bool:
    """Tell whether an item shows nothing."""
    return not look.has_text(item) and not look.holds(item, SHOWS)


def find_written_mark(text: str, number: int | None) -> int:
    """Return how many characters of an item's first text are its mark, written beside the list's
    own."""
    if bullet := _BULLET.match(text):
        return bullet.end()
    written = _NUMBER.match(text)
    return written.end() if written and number is not None and int(written[1]) == number else 0


def list_terms(tree: Tree, look: Look, element: int) -> list[tuple[int, str]]:
    """Return the terms and meanings of a list, nothing where it holds something else."""
    rows = list[tuple[int, str]]()
    for child in tree.children(element):
        inside = tree.children(child) if tree.tags[child] == "div" else [child]
        rows += [(each, tree.tags[each]) for each in inside]
    if any(name not in ("dt", "dd") for _, name in rows) or not rows or rows[0][1] != "dt":
        return []
    return rows if len({name for _, name in rows}) > 1 and all(_is_fit(look, *row) for row in rows) else []


def _is_fit(look: Look, element: int, name: str) -> bool:
    if name == "dd":
        return not look.holds(element, _NOT_MEANINGS)
    return not look.holds(element, _NOT_TERMS) and look.has_text(element) and look.size(element) <= _MAX_TERM


def is_one_line(tree: Tree, look: Look, element: int) -> bool:
    """Tell whether there is one line in an element: lines that are all there is in it, or in each
    other, are one."""
    lines = look.within(element, LINE_BREAKING)
    if any(tree.tags[line] not in _LINES for line in lines):
        return False
    return all(inner <= tree.lasts[outer] and look.fills(inner, outer) for outer, inner in pairwise((element, *lines)))
