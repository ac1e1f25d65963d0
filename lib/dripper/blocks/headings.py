"""Finds the headings of a page and the blocks that each heading introduces. These are all blocks up
to the next heading of the same or a higher level."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from dripper.blocks.block import Block
from dripper.tree.elements import HEADINGS, words
from dripper.tree.tree import Tree

_MOST_INSIDE = 50
"""Maximum number of elements inside a heading that are recognised as parts of the heading."""
_MOST_AROUND = 5
"""Number of elements to check for a link around a heading, from the heading upwards."""
_HEADS, _CONTROLS = words("div header hgroup span"), words("a button")
_MOST_CONTROLS = 2
"""Maximum number of controls beside a heading. They do not count as blocks that the heading
introduces."""
_LONGEST_CONTROL = 24
"""Maximum length of a control in characters."""
_MOST_WRAPPERS = 32
"""Maximum number of ancestors of a heading to search for other blocks."""


class Heading(NamedTuple):
    """A heading. All positions are indexes of blocks."""

    first: int
    end: int
    """The index after the heading's last block."""
    after: int
    """The first block that the heading introduces, after controls such as "edit" beside the
    heading."""
    level: int
    last: int
    """The index after the last block that the heading introduces. All these blocks are before the
    next heading of the same or a higher level, and inside the nearest element that contains the
    heading and other blocks."""
    following: int
    """The first block of the next heading of the same or a higher level, in any element."""
    is_link: bool
    """Whether the heading is a link, like the titles in a list of articles."""


def find_headings(tree: Tree, blocks: Sequence[Block]) -> list[Heading]:
    """Find the headings of a page, in document order."""
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
        after, last = _find_announced(tree, blocks, firsts, element, first, end)
        headings.append(Heading(first, end, after, level, min(following, last), following, _is_link(tree, element)))
        ends[level] = first
    return headings[::-1]


def _find_announced(
    tree: Tree, blocks: Sequence[Block], firsts: list[int], element: int, first: int, end: int
) -> tuple[int, int]:
    """Return the index of the first block that a heading introduces, and the index after the last
    one. The search ends at the nearest element around the heading that has blocks other than the
    heading and its controls."""
    around = element
    for _ in range(_MOST_WRAPPERS):
        if (around := tree.parents[around]) < 0:
            break
        begin, stop = bisect_left(firsts, tree.opens[around]), bisect_right(firsts, tree.closes[around])
        if begin < first or stop > end:
            is_head = begin == first and stop - end <= _MOST_CONTROLS and tree.tags[around] in _HEADS
            if not is_head or not all(_is_control(tree, block) for block in blocks[end:stop]):
                return end, stop
            end = stop
    return end, end


def _is_control(tree: Tree, block: Block) -> bool:
    """Return whether a block is a short link or a button."""
    tags = (
        *(tree.names.get(tag) for tag in tree.parts[block.first | 1 : block.last + 1 : 2]),
        tree.tags[block.element],
    )
    return len(block.text) <= _LONGEST_CONTROL and not _CONTROLS.isdisjoint(tags)


def _is_link(tree: Tree, element: int) -> bool:
    return "a" in tree.tags[element : tree.lasts[element] + 1] or any(
        tree.tags[each] == "a" for each in tree.nearest(element, _MOST_AROUND)
    )
