"""Holds `Block`, the unit that a labeler labels, and `Slice`, a piece of main HTML, by their
positions in the page's tree."""

from typing import NamedTuple


class Block(NamedTuple):
    """One block: the unit that a labeler marks `main` or `other`."""

    item_id: int
    """1..N in document order."""
    text: str
    """Its visible text, stripped at both ends and never truncated. Inner white space is as in the
    page, with a line break at every `br`, cell, item and so on."""
    element: int
    """The block's element, an index into the page's tree. `tree.path(element)` lists its ancestors.
    """
    is_run: bool
    """Whether the block is only a run of texts and inline elements inside `element`, which may hold
    other blocks too."""
    first: int
    last: int
    """The block's markup is `Page.elements.parts[first : last + 1]`."""


class Slice(NamedTuple):
    """A piece of a page to keep: `parts[first : last + 1]`, directly inside the element `owner`."""

    owner: int
    first: int
    last: int
    is_run: bool
    is_caption: bool = False
    """Whether it is an image caption, kept because its image is kept."""
    post: int | None = None
    """The id of the slice's block, if a post begins with it."""
