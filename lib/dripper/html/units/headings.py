"""Finds headings among the blocks of a page, and what each announces: what follows it up to the
next heading of its level or above."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from dripper.html.tree.blocks import Block
from dripper.html.tree.elements import HEADINGS
from dripper.html.tree.tree import Tree

_MOST_INSIDE = 50
"""Elements of a heading."""
_MOST_AROUND = 5
"""Elements between a heading and the link that it is in."""
_MOST_WRAPPERS = 32
"""Elements around a heading that hold nothing else."""


class Heading(NamedTuple):
    """A heading, by the indexes of blocks."""

    first: int
    end: int
    """One behind its last block."""
    level: int
    last: int
    """One behind the last block that it announces: up to the next heading of its level or above,
    within the nearest element around it that has other blocks."""
    following: int
    """The next heading of its level or above, wherever it stands."""
    is_link: bool
    """It leads elsewhere, as the titles of a list do."""


def find_headings(tree: Tree, blocks: Sequence[Block]) -> list[Heading]:
    """Return the headings of a page in document order."""
    inside = {
        element: heading
        for heading in tree.named(HEADINGS)
        for element in range(heading, min(tree.lasts[heading], heading + _MOST_INSIDE) + 1)
    }
    found = list[tuple[int, int, int]]()
    before = -1
    for index, block in enumerate(blocks if inside else ()):
        element = inside.get(block.element, -1)
        if element >= 0 and element == before:
            found[-1] = found[-1][0], index + 1, element
        elif element >= 0:
            found.append((index, index + 1, element))
        before = element
    firsts = [block.first for block in blocks] if found else []
    ends = [len(blocks)] * 7
    headings: list[Heading] = []
    for first, end, element in reversed(found):
        level = int(tree.tags[element][1])
        following = min(ends[1 : level + 1])
        last = min(following, _find_end(tree, firsts, element, first, end))
        headings.append(Heading(first, end, level, last, following, _is_link(tree, element)))
        ends[level] = first
    return headings[::-1]


def _find_end(tree: Tree, firsts: list[int], element: int, first: int, end: int) -> int:
    """Return one behind the last block of the nearest element around a heading that has others."""
    for around in reversed(tree.nearest(tree.parents[element], _MOST_WRAPPERS)):
        begin, stop = bisect_left(firsts, tree.opens[around]), bisect_right(firsts, tree.closes[around])
        if begin < first or stop > end:
            return stop
    return end


def _is_link(tree: Tree, element: int) -> bool:
    return "a" in tree.tags[element : tree.lasts[element] + 1] or any(
        tree.tags[each] == "a" for each in tree.nearest(element, _MOST_AROUND)
    )
