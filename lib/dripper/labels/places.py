"""Where the blocks of a page stand in its tree: containers, and the ranges of blocks and elements in them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.html.page import Page
from dripper.html.tree import Tree

IntArray = npt.NDArray[np.int64]

LEVELS = 5
"""How many containers of a block are looked at one by one: the element around it, that element's parent, and so on."""


@dataclass(frozen=True, slots=True)
class Places:
    """All arrays are in block order, but for `parents`.

    parents: (n_elements,), -1 for the root. elements: (n_blocks,), the block's element; of a run the one around it.
    is_run: (n_blocks,). containers: (n_blocks, LEVELS), the element around the block and its ancestors, the root repeated.
    starts, ends: (n_blocks, LEVELS), the range of blocks in each container, end exclusive.
    firsts, lasts: (n_blocks,), the range of elements that begin inside the block, end exclusive.
    """

    tree: Tree
    parents: IntArray
    elements: IntArray
    is_run: npt.NDArray[np.bool_]
    containers: IntArray
    starts: IntArray
    ends: IntArray
    firsts: IntArray
    lasts: IntArray


def places_of(page: Page) -> Places:
    """Return the places of the blocks of a page; linear in elements and blocks, whatever the depth."""
    tree = page.elements
    parents, opens, closes = (np.array(part, np.int64) for part in (tree.parents, tree.opens, tree.closes))
    elements = np.array([block.element for block in page.blocks], np.int64)
    is_run = np.array([block.is_run for block in page.blocks], bool)
    block_firsts = np.array([block.first for block in page.blocks], np.int64)
    block_lasts = np.array([block.last for block in page.blocks], np.int64)
    above = np.maximum(parents, 0)
    levels = [np.where(is_run, elements, above[elements])]
    while len(levels) < LEVELS:
        levels.append(above[levels[-1]])
    containers = np.stack(levels, axis=1)
    return Places(
        tree=tree, parents=parents, elements=elements, is_run=is_run, containers=containers,
        starts=np.searchsorted(block_firsts, opens[containers]),
        ends=np.searchsorted(block_firsts, closes[containers], side="right"),
        firsts=np.searchsorted(opens, block_firsts), lasts=np.searchsorted(opens, block_lasts, side="right"),
    )  # fmt: skip
