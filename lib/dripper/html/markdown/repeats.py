"""Leaves out of the Markdown what a page says twice in a row: a heading behind the same one, the
alternative text of an image beside the same text, short forms beside words for screen readers."""

import re
from collections.abc import Sequence
from functools import cache

from dripper.html.markdown.inert import leave_marks
from dripper.html.markdown.tidy import SHOWS
from dripper.html.tree.elements import CELLS, HEADINGS, ITEMS, LINE_BREAKING
from dripper.html.tree.tree import Tree, attribute, unescape

_PARTS = ITEMS | CELLS
_NEAR = 24
"""Texts and tags beside an image, and before a short form, among which the nearest text is looked
for; a short form has no more."""
_LINES_AND_SHOWS = LINE_BREAKING | SHOWS
_SPOKEN = re.compile(
    r' class="(?:[^"]*\s)?(?:[\w-]*-)?(?:visually-?hidden|sr-only|screen-?reader(?:-text|-only)?|offscreen)[\s"]',
    re.IGNORECASE,
)
_MAX_TWIN = 60
"""Characters of what is shown in place of words for screen readers."""


def drop_repeats(tree: Tree) -> None:
    """Leave out what is said twice in a row, in place: a heading right behind the same one, and the
    alternative text of an image that stands beside it as text."""
    kept = last = -1
    read = cache(lambda heading: leave_marks(_read_text(tree, heading)))
    for element, name in enumerate(tree.tags):
        if name == "img":
            if ' alt="' in (tag := tree.start_tag(element)) and (alt := attribute(tag, "alt")):
                _drop_alt(tree, element, leave_marks(alt))
        elif name in HEADINGS:
            if kept < 0 or not (_is_next(tree, last, element) and read(kept) == read(element) != ""):
                kept = last = element
                continue
            last = element
            kept, repeat = (element, kept) if name < tree.tags[kept] else (kept, element)
            tree.replace(repeat, "")


def _is_next(tree: Tree, last: int, heading: int) -> bool:
    """Tell whether nothing stands between two headings: no text, no image, no edge of an item or a
    cell; nor an image in the second."""
    start, end = tree.closes[last] + 1, tree.opens[heading]
    if end < start or any(part.strip() for part in tree.parts[start:end:2]):
        return False
    if any(tree.names.get(tag) in _PARTS for tag in tree.parts[start + 1 : end : 2]):
        return False
    return SHOWS.isdisjoint(tree.tags[last + 1 : tree.lasts[heading] + 1])


def _drop_alt(tree: Tree, image: int, alt: str) -> None:
    place = tree.opens[image]
    texts = tree.parts[place - 1 : max(place - _NEAR, 0) : -2], tree.parts[place + 1 : place + _NEAR : 2]
    for side in texts:
        text = next((text for text in side if text.strip()), "")
        if text and leave_marks(unescape(text)) == alt:
            _leave_out(tree, place, ("alt", "title"), alt)
            return


def _leave_out(tree: Tree, place: int, names: Sequence[str], text: str) -> None:
    """Leave out the attributes of a tag that say a text."""
    tag = tree.parts[place]
    for name in names:
        if (value := attribute(tag, name)) and leave_marks(value) == text:
            tag = re.sub(f' {name}="[^"]*"', "", tag, count=1)
    tree.parts[place] = tag


def _read_text(tree: Tree, element: int) -> str:
    return unescape("".join(tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]))


def find_shown_twins(tree: Tree) -> set[str]:
    """Return the start tags of what is shown in place of words for screen readers, if there are
    such words."""
    shown = {tag for tag in tree.names if ' aria-hidden="true"' in tag}
    return shown if shown and any(_SPOKEN.search(tag) for tag in tree.names) else set()


def is_shown_twin(tree: Tree, element: int) -> bool:
    """Tell whether an element shows in short what is written for screen readers right before it:
    the `mins` of `10 minutes`."""
    if tree.closes[element] - tree.opens[element] > _NEAR:
        return False
    text = "".join(tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]).strip()
    if (
        not text
        or len(text) > _MAX_TWIN
        or not _LINES_AND_SHOWS.isdisjoint(tree.tags[element : tree.lasts[element] + 1])
    ):
        return False
    start = tree.opens[element]
    before = next((at for at in range(start - 1, max(start - _NEAR, 0), -2) if tree.parts[at].strip()), None)
    if before is None or any(tree.names.get(tag) in LINE_BREAKING for tag in tree.parts[before + 1 : start : 2]):
        return False
    return _SPOKEN.search(tree.parts[before - 1]) is not None
