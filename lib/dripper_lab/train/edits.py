"""Edits the tree of a page to create a variant of the page: finds positions and inserts markup."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.blocks.profiles.dripper import DRIPPER
from dripper.tree.elements import HTML_VOID
from dripper.tree.scan import scan

# These elements allow only specific children.
_STRICT = frozenset({"table", "tbody", "thead", "tfoot", "tr", "ul", "ol", "dl", "html"})


def split_parts(parts: Sequence[str], title: str = "") -> Page:
    """Join the edited parts of a tree and split the page into blocks. The page has neither hints
    nor metadata."""
    tree = scan("".join(parts), HTML_VOID)
    return Page(tree, DRIPPER.split(tree), title, DRIPPER.name, cutoffs=DRIPPER.cutoffs)


def elements_around(page: Page, block: int) -> list[int]:
    """Return the elements around a block that HTML allows to have any other element as a sibling.
    The block's own element is last."""
    tree = page.elements
    return [element for element in tree.path(page.blocks[block].element) if stands_free(page, element)]


def stands_free(page: Page, element: int) -> bool:
    """Return whether HTML allows the element to have any other element as a sibling. This is not
    the case for list items and table cells."""
    tree = page.elements
    return element > 0 and tree.tags[element] != "body" and tree.tags[tree.parents[element]] not in _STRICT


def place_after(page: Page, block: int, levels: int) -> int:
    """Return the index of the part that ends an element around a block, `levels` levels up. If
    there is no such element, return the index of the body's text."""
    tree, around = page.elements, elements_around(page, block)
    if not around:
        return tree.closes[tree.tags.index("body")] - 1
    return tree.closes[around[max(0, len(around) - 1 - levels)]]


def place_before(page: Page, block: int, levels: int) -> int:
    """Return the index of the text before an element around a block, `levels` levels up. If there
    is no such element, return the index of the body's start tag."""
    tree, around = page.elements, elements_around(page, block)
    if not around:
        return tree.opens[tree.tags.index("body")]
    return tree.opens[around[max(0, len(around) - 1 - levels)]] - 1


def find_marked_blocks(page: Page, mark: str) -> npt.NDArray[np.bool_]:
    """Return whether each block is inside an element with a mark in its start tag, (n_blocks,)."""
    tree = page.elements
    inside = np.zeros(len(page.blocks), bool)
    firsts = np.array([block.first for block in page.blocks], np.int64)
    for element in range(len(tree)):
        if mark in tree.start_tag(element):
            inside |= (tree.opens[element] < firsts) & (firsts < tree.closes[element])
    return inside


def is_unspaced(text: str) -> bool:
    """Return whether `text` is mostly in a script written without spaces. Such text is only
    combined with text of the same kind."""
    return sum("\u3040" <= character <= "\u9fff" for character in text) > 0.3 * len(text)


def is_marked(start_tag: str) -> bool:
    """Return whether this start tag belongs to an element that was added to create a variant of the
    page."""
    return " data-made=" in start_tag


def leave_unchanged(page: Page) -> Page:
    """Return the page itself. Used as the last step of a variant that needs no further changes."""
    return page
