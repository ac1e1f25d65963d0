"""Finds the positions of a page's blocks in its tree: containers, ranges of blocks and elements in
them, and the share of links in each text.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dripper.html.blocks.page import Page
from dripper.html.tree.tree import Tree, unescape
from dripper.labels.arrays import FloatArray, HashArray, IntArray

Item = TypeVar("Item")

LEVELS = 5
"""Containers of a block that are looked at one by one: the element around it, that element's
parent, and so on."""

FARTHEST = 16_384
"""The largest distance in blocks; greater ones count as this. No training page has a third as many
blocks. Without the bound, the probability fell from block to block on a page of 120,000 equal
paragraphs and reached 0 at its end."""


@dataclass(frozen=True, slots=True)
class Places:
    """The blocks and the elements around them; elements that hold no block are left out, so indexes
    are our own."""

    tags: list[str]
    start_tags: list[str]
    parents: IntArray
    """All: of each such element in document order; the root's parent is the root, number 0."""
    elements: IntArray
    """(n_blocks,), the block's element; of a run the one around it."""
    is_run: npt.NDArray[np.bool_]
    """(n_blocks,)."""
    containers: IntArray
    """(n_blocks, LEVELS), the element around the block and its ancestors, the root repeated."""
    starts_in: IntArray
    ends_in: IntArray
    """Both: (n_elements,), the range of blocks in each such element, end exclusive."""
    tag_numbers: IntArray
    """(n_elements,), equal for equal tags."""
    by_end: IntArray
    """The elements in the order in which they end."""
    n_ended: IntArray
    """(n_elements,), how many elements end before each begins."""
    inside: IntArray
    """(n_blocks, 2), the range of `Page.elements` that begin inside the block, end exclusive."""

    @property
    def starts(self) -> IntArray:
        """(n_blocks, LEVELS), the start of the range of blocks in each container."""
        return self.starts_in[self.containers]

    @property
    def ends(self) -> IntArray:
        """(n_blocks, LEVELS), the end of that range, exclusive."""
        return self.ends_in[self.containers]

    def sums_in(self, values: FloatArray) -> FloatArray:
        """Return the sum of a value of the blocks in each element, shape (n_elements,)."""
        sums = np.zeros(len(values) + 1)
        np.cumsum(values, out=sums[1:])
        return np.asarray(sums[self.ends_in] - sums[self.starts_in])

    def sums_above(self, values: HashArray) -> HashArray:
        """Return the sum of a value of each element and its ancestors but the root, modulo 2^64,
        shape (n_elements,).

        It is the number of start tags less the number of end tags before it; the root ends last.
        """
        at_starts, at_ends = np.cumsum(values), np.zeros(len(values) + 1, np.uint64)
        np.cumsum(values[self.by_end], out=at_ends[1:])
        return np.asarray(at_starts - at_ends[self.n_ended] - values[0])


def find_places(page: Page) -> Places:
    """Return the places of the blocks of a page; n log n in elements and blocks, whatever the
    depth."""
    tree = page.elements
    _, _, block_elements, runs, firsts, lasts = zip(*page.blocks, strict=True)
    is_run, begin, end = np.array(runs, bool), np.array(firsts, np.int64), np.array(lasts, np.int64)
    all_opens, all_closes = np.array(tree.opens, np.int64), np.array(tree.closes, np.int64)
    # A run may begin with the tag of an element that it holds, but it is inside every element that
    # begins before.
    begins = 2 * begin - is_run
    first_block, end_block = begins.searchsorted(2 * all_opens), begins.searchsorted(2 * all_closes, side="right")
    used = np.flatnonzero(first_block < end_block)
    number = np.zeros(len(tree) + 1, np.int64)
    number[used] = np.arange(len(used))
    opens, closes = all_opens[used], all_closes[used]
    parents = number[np.array(tree.parents, np.int64)[used]]
    elements = number[np.array(block_elements, np.int64)]
    levels = [np.where(is_run, elements, parents[elements])]
    while len(levels) < LEVELS:
        levels.append(parents[levels[-1]])
    tags = _pick(tree.tags, used.tolist())
    by_end = np.argsort(closes)
    return Places(
        tags=tags, start_tags=_pick(tree.parts, opens.tolist()), parents=parents, elements=elements, is_run=is_run,
        containers=np.stack(levels, axis=1), starts_in=first_block[used], ends_in=end_block[used],
        tag_numbers=number_distinct(tags), by_end=by_end, n_ended=closes[by_end].searchsorted(opens),
        inside=np.stack([all_opens.searchsorted(begin), all_opens.searchsorted(end, side="right")], axis=1),
    )  # fmt: skip


def _pick(values: Sequence[Item], indexes: Sequence[int]) -> list[Item]:
    return list(map(values.__getitem__, indexes))


def number_distinct(keys: Sequence[Hashable]) -> IntArray:
    """Return a small number for each key, equal for equal keys: 0, 1, … in order of appearance."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))


def link_chars(page: Page) -> list[int]:
    """Return for each block how many characters of its text are inside links, without white space
    at the ends of a link's texts. Linear in the page's parts.

    It makes no difference whether a link holds blocks or a block holds links.
    """
    before = sum_link_chars(page.elements)
    return [before[block.last // 2 + 1] - before[(block.first + 1) // 2] for block in page.blocks]


def sum_link_chars(tree: Tree) -> list[int]:
    """Return the number of characters inside links before each text of the page, and in all of it:
    one number more than texts. White space at the ends of a text is not counted."""
    counts, covered = [0] * (len(tree.parts) // 2 + 1), -1
    for element in tree.find("a"):
        first, last = tree.opens[element] + 1, tree.closes[element]
        if first > covered:
            covered = last
            for index in range(first, last, 2):
                if text := tree.parts[index].strip():
                    counts[index // 2] = len(unescape(text) if "&" in text else text)
    return list(accumulate(counts, initial=0))
