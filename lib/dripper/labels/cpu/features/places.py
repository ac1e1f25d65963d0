"""Finds the positions of a page's blocks in its tree: the containers of each block, and the range
of blocks in each container. Also counts the characters inside links.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels.arrays import FloatArray, HashArray, IntArray
from dripper.tree.tree import Tree, unescape

Item = TypeVar("Item")

LEVELS = 5
"""Number of containers of a block that get separate features: the element around the block, that
element's parent, and so on."""

FARTHEST = 16_384
"""Limit for distances in blocks. Larger distances are replaced by this number. No training page has
more than a third of this number of blocks. Without this limit, the probability fell from block to
block on a page of 120,000 identical paragraphs, and reached 0 at the end."""


@dataclass(frozen=True, slots=True)
class Places:
    """The blocks and the elements around them. Elements without blocks are left out, so element
    indexes differ from indexes in the tree."""

    tags: list[str]
    start_tags: list[str]
    parents: IntArray
    """`tags`, `start_tags` and `parents`: one value per element, in document order. The root is
    number 0, and is its own parent."""
    elements: IntArray
    """(n_blocks,), the block's element; for a run, the element around the run."""
    is_run: npt.NDArray[np.bool_]
    """(n_blocks,), whether the block is a run, which has no element of its own."""
    containers: IntArray
    """(n_blocks, LEVELS), the element around the block, followed by that element's ancestors; the
    root is repeated."""
    starts_in: IntArray
    ends_in: IntArray
    """`starts_in` and `ends_in`: (n_elements,), the range of blocks in each element, end
    exclusive."""
    tag_numbers: IntArray
    """(n_elements,), each element's tag as a number."""
    by_end: IntArray
    """(n_elements,), the elements in the order in which they end."""
    n_ended: IntArray
    """(n_elements,), the number of elements that end before each element begins."""
    inside: IntArray
    """(n_blocks, 2), the range of elements in `Page.elements` that begin inside the block, end
    exclusive."""

    @property
    def starts(self) -> IntArray:
        """(n_blocks, LEVELS), the start of each container's range of blocks."""
        return self.starts_in[self.containers]

    @property
    def ends(self) -> IntArray:
        """(n_blocks, LEVELS), the exclusive end of each container's range of blocks."""
        return self.ends_in[self.containers]

    def sums_in(self, values: FloatArray) -> FloatArray:
        """Return, for each element, the sum of the values of its blocks, shape (n_elements,)."""
        sums = np.zeros(len(values) + 1)
        np.cumsum(values, out=sums[1:])
        return np.asarray(sums[self.ends_in] - sums[self.starts_in])

    def sums_above(self, values: HashArray) -> HashArray:
        """Sum the values along the path from the root to each element, modulo 2^64. The path
        includes the element, but not the root. Return the sums, shape (n_elements,).

        This is the sum of the values at all start tags up to the element, minus the sum at all end
        tags before the element. The root's value is subtracted separately, because the root ends
        last.
        """
        at_starts, at_ends = np.cumsum(values), np.zeros(len(values) + 1, np.uint64)
        np.cumsum(values[self.by_end], out=at_ends[1:])
        return np.asarray(at_starts - at_ends[self.n_ended] - values[0])


def find_places(page: Page) -> Places:
    """Return the positions of a page's blocks, in n log n time for n elements and blocks,
    regardless of depth."""
    tree = page.elements
    _, _, block_elements, runs, firsts, lasts = zip(*page.blocks, strict=True)
    is_run, begin, end = np.array(runs, bool), np.array(firsts, np.int64), np.array(lasts, np.int64)
    all_opens, all_closes = np.array(tree.opens, np.int64), np.array(tree.closes, np.int64)
    # If a run begins with the start tag of an element, the run contains this element. All open
    # elements that begin before the run contain the run.
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
    """Return a number for each key. Equal keys have equal numbers: 0, 1, … in order of first
    appearance."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))


def link_chars(page: Page) -> list[int]:
    """Return, for each block, the number of characters of its text that are inside links. White
    space at the ends of a link's text does not count. Takes time linear in the page's parts.

    Links around blocks and links inside blocks are treated alike.
    """
    before = sum_link_chars(page.elements)
    return [before[block.last // 2 + 1] - before[(block.first + 1) // 2] for block in page.blocks]


def sum_link_chars(tree: Tree) -> list[int]:
    """Return running totals of the characters inside links: the total before each text of the page,
    and last the total of the whole page. White space at the ends of text is not counted."""
    counts, covered = [0] * (len(tree.parts) // 2 + 1), -1
    for element in tree.find("a"):
        first, last = tree.opens[element] + 1, tree.closes[element]
        if first > covered:
            covered = last
            for index in range(first, last, 2):
                if text := tree.parts[index].strip():
                    counts[index // 2] = len(unescape(text) if "&" in text else text)
    return list(accumulate(counts, initial=0))
