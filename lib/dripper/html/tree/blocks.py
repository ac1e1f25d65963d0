"""Holds `Block`, the unit that a labeler decides about, and `Slice`, a piece of main HTML, by their
places in the tree of their page."""

from typing import NamedTuple


class Block(NamedTuple):
    """One block: the unit that a labeler marks `main` or `other`."""

    item_id: int
    """1..N in document order."""
    text: str
    """Its visible text, never truncated; stripped at both ends, with inner white space as in the
    page, and a line break at every `br`, cell, item, … inside."""
    element: int
    """The block's element, an index into the page's tree. `tree.path(element)` has its ancestors.
    """
    is_run: bool
    """Whether the block is only a run of texts and inline elements inside `element`, which may hold
    other blocks too."""
    first: int
    last: int
    """First and last part of the markup: the slice `Page.elements.parts[first : last + 1]` is the
    block's markup."""


class Slice(NamedTuple):
    """A piece of a page to keep: `parts[first : last + 1]`, directly inside the element `owner`."""

    owner: int
    first: int
    last: int
    is_run: bool
    is_caption: bool = False
    """Whether it is the caption of an image, kept for the image's sake."""
    post: int | None = None
    """The id of its block, if a post begins there."""
