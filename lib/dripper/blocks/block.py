"""Defines `Block`, the unit that a labeler labels, and `Slice`, a piece of main HTML. Both are
positions in the page's tree."""

from typing import NamedTuple


class Block(NamedTuple):
    """A block, the unit that a labeler marks `main` or `other`."""

    item_id: int
    """The block's number, from 1 to N in document order."""
    text: str
    """The visible text, stripped at both ends and never truncated. Inner white space is kept, with
    line breaks added at every `br`, cell, list item and so on."""
    element: int
    """The block's element, an index into the page's tree. `tree.path(element)` lists its ancestors.
    """
    is_run: bool
    """Whether the block is only a run of text and inline elements inside `element`, which may
    contain other blocks too."""
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
    """Whether this slice is an image caption that is kept only because its image is kept."""
    post: int | None = None
    """The `item_id` of the block if a post begins with this slice."""
