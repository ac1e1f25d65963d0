"""Finds text that a page shows twice in a row: a heading after the same heading, an image's
alternative text next to the same text, or text next to its version for screen readers."""

import re

from dripper.tree.elements import CELLS, HEADINGS, ITEMS, LINE_BREAKING
from dripper.write.markdown.inert import leave_marks
from dripper.write.markdown.source import SHOWS, Source

_PARTS = ITEMS | CELLS
_NEAR = 24
"""Maximum distance, in parts (strings and tags), from an image or a short form to the nearest text.
A short form contains at most this many parts."""
_MOST_TIMES = 4
"""Text next to an image is not compared with the image's alternative text if it is at least this
many times as long."""
_LINES_AND_SHOWS = LINE_BREAKING | SHOWS
_SPOKEN = re.compile(
    r' class="(?:[^"]*\s)?(?:[\w-]*-)?(?:visually-?hidden|sr-only|screen-?reader(?:-text|-only)?|offscreen|clipped)[\s"]',
    re.IGNORECASE,
)
_SIGNS = ("isually", "sr-only", "screen", "clipped")
"""Each name that `_SPOKEN` finds contains one of these words."""
_MAX_TWIN = 200
"""Maximum length of repeated text, in characters."""


def find_repeated_headings(source: Source) -> set[int]:
    """Return the headings that directly follow a heading with the same text, or directly precede a
    higher-level heading with the same text."""
    tree, repeated = source.tree, set[int]()
    headings = tree.named(HEADINGS)
    kept = last = headings[0] if headings else -1
    for element in headings[1:]:
        said = leave_marks(source.read(element)) if _is_next(source, last, element) else ""
        if said and said == leave_marks(source.read(kept)):
            kept, repeat = (element, kept) if tree.tags[element] < tree.tags[kept] else (kept, element)
            repeated.add(repeat)
        else:
            kept = element
        last = element
    return repeated


def _is_next(source: Source, last: int, heading: int) -> bool:
    """Return whether there is nothing between two headings: no text, no image, and no edge of an
    item or a cell. Also require that neither heading contains an image."""
    tree = source.tree
    start, end = tree.closes[last], tree.opens[heading]
    if end < start or source.has_text_between(start, end):
        return False
    if any(tree.names.get(tag) in _PARTS for tag in tree.parts[start + 2 : end : 2]):
        return False
    return SHOWS.isdisjoint(tree.tags[last + 1 : tree.lasts[heading] + 1])


def is_said_beside(source: Source, place: int, alt: str) -> bool:
    """Return whether an image's alternative text repeats the text next to the image."""
    sides = (side for side in (source.near(place, -1), source.near(place, 1)) if side is not None)
    near = [source.texts[side // 2] for side in sides if abs(side - place) < _NEAR]
    near = [text for text in near if len(text) < _MOST_TIMES * len(alt)]
    return bool(near) and leave_marks(alt) in map(leave_marks, near)


def find_twins(source: Source) -> set[int]:
    """Return the elements to leave out because their text is repeated. These are short forms next
    to a version for screen readers (`mins` next to `minutes`), and text for screen readers that
    equals the shown text next to it."""
    tree = source.tree
    named = tree.values("class")
    joined = " ".join(named.values()).lower()
    spoken = {tag for tag in named if _SPOKEN.search(tag)} if any(sign in joined for sign in _SIGNS) else set[str]()
    shown = {tag for tag, value in tree.values("aria-hidden").items() if value == "true"} if spoken else set[str]()
    twins, gone = set[int](), set[int]()
    for element in tree.tagged(shown):
        if any(_SPOKEN.search(tree.parts[side - 1]) for side in _find_beside(source, element)):
            twins.add(element)
            gone.update(range(tree.opens[element], tree.closes[element]))
    for element in tree.tagged(spoken - shown):
        beside = [side for side in _find_beside(source, element) if side not in gone]
        if beside and leave_marks(source.read(element)) in (leave_marks(source.texts[side // 2]) for side in beside):
            twins.add(element)
            gone.update(range(tree.opens[element], tree.closes[element]))
    return twins


def _find_beside(source: Source, element: int) -> list[int]:
    """Return the positions of the text right before and after an element, on the same line. Return
    none if the element is long or breaks the line."""
    tree = source.tree
    start, end = tree.opens[element], tree.closes[element]
    if end - start > _NEAR or not source.has_text(element) or source.size(element) > _MAX_TWIN:
        return []
    if not _LINES_AND_SHOWS.isdisjoint(tree.tags[element : tree.lasts[element] + 1]):
        return []
    sides = ((source.near(start, -1), start), (source.near(end, 1), end))
    near = [(side, *sorted((side, place))) for side, place in sides if side is not None and abs(side - place) < _NEAR]
    return [side for side, first, last in near if LINE_BREAKING.isdisjoint(map(tree.names.get, tree.parts[first:last]))]
