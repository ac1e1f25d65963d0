"""Holds `CleanPage`, a page before its blocks are found, and `Version`, the differences between the
copied versions of MinerU-HTML."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from dripper.blocks.block import Block
from dripper.blocks.segment import Kinds
from dripper.blocks.simplify import Around
from dripper.facts.metadata import Metadata
from dripper.tree.tree import Tree


@dataclass(slots=True)
class CleanPage:
    """A page before its blocks are found."""

    tree: Tree
    """The whole page as libxml2 writes it, except the text of script and style, which is in
    `scripts`, in document order."""
    scripts: list[str]
    texts: list[str]
    """`tree.parts` as MinerU leaves them: removed elements are blank, and the text after them is
    moved."""
    removed: bytearray
    """One flag for each element: whether MinerU removes the element."""
    title: str
    has_forbidden: bool
    """Whether a FORBIDDEN character is in the page."""
    metadata: Metadata
    """The metadata that the page declares. MinerU does not read them."""
    void_text: dict[int, str] = field(default_factory=dict)
    """Texts that were moved into void block elements (`br`, `hr`), keyed by the index of the
    element's tag."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of MinerU-HTML, described by its differences from the other version."""

    name: str
    """The profile's name."""
    first_parse: Callable[[bytes, LexborHTMLParser], str]
    """Returns the page's HTML after the first of the two parses. The arguments are the page's bytes
    and lexbor's tree."""
    second_parse: Callable[[bytes, etree.HTMLParser], etree._Element]
    """Returns the root of the page after the second parse."""
    remove: Callable[[CleanPage], None]
    """Removes elements before blocks are found."""
    classify: Callable[[Tree, list[str], bytearray], Kinds]
    inline: frozenset[str]
    not_block: frozenset[str]
    """Elements that are never a block (`inline`), or not a block by themselves (`not_block`)."""
    truncate: Callable[[Tree, list[str], Block], None]
    """Shortens the text of a block for the model."""
    surround: Callable[[Tree, list[str], Block], Around | None] | None
    """Returns the markup around a block if it is not the block's own tags. If `surround` is None,
    no block gets other markup, and runs of the body are lost."""
    lay_out: Callable[[Tree], None] | None
    """Puts line feeds into the mapping HTML."""
    fails_on_braces: bool
    """Whether an attribute named `{x}y` on a block makes the whole page fail, not only the
    block."""
    selects_wrappers: bool
    """Whether a wrapper gets the `cc-select` of its element."""
    wraps_last_break: bool
    """Whether a run that ends in a `br` is wrapped together with the text after the `br`."""
    recalls_breaks: bool
    """Whether main HTML keeps each `br` next to a kept element."""
    unescape: Callable[[str], str]
    """The last step in making main HTML."""


def blank(clean: CleanPage, element: int) -> None:
    """Remove an element with its content, but not the text after it."""
    first, last = clean.tree.opens[element], clean.tree.closes[element]
    clean.texts[first : last + 1] = [""] * (last - first + 1)
    end = clean.tree.lasts[element] + 1
    clean.removed[element:end] = b"\1" * (end - element)
