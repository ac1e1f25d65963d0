"""Where the blocks of a page stand in its tree: containers, and the ranges of blocks and elements in them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.html.page import Page

IntArray = npt.NDArray[np.int64]

LEVELS = 5
"""How many containers of a block are looked at one by one: the element around it, that element's parent, and so on."""


@dataclass(frozen=True, slots=True)
class Places:
    """The blocks and the elements around them; elements that hold no block are left out, so indexes are our own.

    tags, start_tags, parents: of each such element in document order; the root's parent is the root, number 0.
    elements: (n_blocks,), the block's element; of a run the one around it. is_run: (n_blocks,).
    containers: (n_blocks, LEVELS), the element around the block and its ancestors, the root repeated.
    starts, ends: (n_blocks, LEVELS), the range of blocks in each container, end exclusive.
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
    inside: IntArray


def places_of(page: Page) -> Places:
    """Return the places of the blocks of a page; linear in elements and blocks, whatever the depth."""
    tree = page.elements
    used = _elements_around(page)
    number = {element: index for index, element in enumerate(used)}
    parents = np.array([number[max(tree.parents[element], 0)] for element in used], np.int64)
    elements = np.array([number[block.element] for block in page.blocks], np.int64)
    is_run = np.array([block.is_run for block in page.blocks], bool)
    levels = [np.where(is_run, elements, parents[elements])]
    while len(levels) < LEVELS:
        levels.append(parents[levels[-1]])
    containers = np.stack(levels, axis=1)
    firsts, lasts = (np.array(part, np.int64) for part in zip(*((b.first, b.last) for b in page.blocks), strict=True))
    opens, closes = (np.array([part[element] for element in used]) for part in (tree.opens, tree.closes))
    all_opens = np.array(tree.opens, np.int64)
    return Places(
        tags=[tree.tags[element] for element in used], start_tags=[tree.start_tag(element) for element in used],
        parents=parents, elements=elements, is_run=is_run, containers=containers,
        starts=np.searchsorted(firsts, opens[containers]),
        ends=np.searchsorted(firsts, closes[containers], side="right"),
        inside=np.stack([np.searchsorted(all_opens, firsts), np.searchsorted(all_opens, lasts, side="right")], axis=1),
    )  # fmt: skip


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
