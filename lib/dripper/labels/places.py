"""Where the blocks of a page stand in its tree: containers, and the ranges of blocks and elements in them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page

IntArray = npt.NDArray[np.int64]
Item = TypeVar("Item")

LEVELS = 5
"""How many containers of a block are looked at one by one: the element around it, that element's parent, and so on."""


@dataclass(frozen=True, slots=True)
class Places:
    """The blocks and the elements around them; elements that hold no block are left out, so indexes are our own.

    tags, start_tags, parents: of each such element in document order; the root's parent is the root, number 0.
    elements: (n_blocks,), the block's element; of a run the one around it. is_run: (n_blocks,).
    containers: (n_blocks, LEVELS), the element around the block and its ancestors, the root repeated.
    starts, ends: (n_blocks, LEVELS), the range of blocks in each container, end exclusive.
    starts_in, ends_in: (n_elements,), the same range for each such element. tag_numbers: (n_elements,), equal for equal tags.
    inside: (n_blocks, 2), the range of `Page.elements` that begin inside the block, end exclusive.
    """

    tags: list[str]
    start_tags: list[str]
    parents: IntArray
    elements: IntArray
    is_run: npt.NDArray[np.bool_]
    containers: IntArray
    starts: IntArray
    ends: IntArray
    starts_in: IntArray
    ends_in: IntArray
    tag_numbers: IntArray
    inside: IntArray


def places_of(page: Page) -> Places:
    """Return the places of the blocks of a page; linear in elements and blocks, whatever the depth."""
    tree = page.elements
    used = _elements_around(page)
    number = dict(zip(used, range(len(used)), strict=True)) | {-1: 0}
    _, _, block_elements, runs, firsts, lasts = map(list, zip(*page.blocks, strict=True))
    parents = _gathered(number, _picked(tree.parents, used))
    elements, is_run = _gathered(number, block_elements), np.array(runs, bool)
    levels = [np.where(is_run, elements, parents[elements])]
    while len(levels) < LEVELS:
        levels.append(parents[levels[-1]])
    containers = np.stack(levels, axis=1)
    starts_at, ends_at = np.array(firsts, np.int64), np.array(lasts, np.int64)
    opens, closes = (np.array(_picked(part, used), np.int64) for part in (tree.opens, tree.closes))
    all_opens = np.array(tree.opens, np.int64)
    # Most containers hold several blocks: their ranges are looked up once.
    first_block, end_block = np.searchsorted(starts_at, opens), np.searchsorted(starts_at, closes, side="right")
    tags = _picked(tree.tags, used)
    return Places(
        tags=tags, start_tags=_picked(tree.parts, opens.tolist()), parents=parents,
        elements=elements, is_run=is_run, containers=containers, starts=first_block[containers], ends=end_block[containers],
        starts_in=first_block, ends_in=end_block, tag_numbers=numbered(tags),
        inside=np.stack([np.searchsorted(all_opens, starts_at), np.searchsorted(all_opens, ends_at, side="right")], axis=1),
    )  # fmt: skip


def _picked(values: Sequence[Item], indexes: Sequence[int]) -> list[Item]:
    return list(map(values.__getitem__, indexes))


def _gathered(numbers: Mapping[int, int], keys: Sequence[int]) -> IntArray:
    return np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))


def numbered(keys: Sequence[Hashable]) -> IntArray:
    """Return a small number for each key, equal for equal keys: 0, 1, … in order of appearance."""
    numbers = dict(zip(dict.fromkeys(keys), count(), strict=False))
    return np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))


def _elements_around(page: Page) -> list[int]:
    """Return the elements of all blocks and their ancestors, in document order; every element is visited once."""
    parents = page.elements.parents
    seen = {0}
    for block in page.blocks:
        element = block.element
        while element not in seen:
            seen.add(element)
            element = parents[element]
    return sorted(seen)
