"""Holds what the versions of MinerU-HTML that profiles copy do alike, a page on its way to blocks
(`CleanPage`), and lists what they do apart (`Version`)."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from dripper.html.blocks.segment import Kinds
from dripper.html.blocks.simplify import Around
from dripper.html.metadata import Metadata
from dripper.html.tree.blocks import Block
from dripper.html.tree.tree import Tree


@dataclass(slots=True)
class CleanPage:
    """A page before its blocks are found."""

    tree: Tree
    """All of it, as libxml2 writes it, but with the texts of script and style in `scripts`, in
    document order, and not in its parts."""
    scripts: list[str]
    texts: list[str]
    """`tree.parts` as MinerU leaves them: removed elements blank, their following texts moved."""
    removed: bytearray
    """Flags by element."""
    title: str
    has_forbidden: bool
    """Whether a FORBIDDEN character is in the page."""
    metadata: Metadata
    """Declarations of the page about itself, for users; MinerU has none."""
    void_text: dict[int, str] = field(default_factory=dict)
    """Texts that were moved into void block elements (`br`, `hr`), by the index of their tag."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of MinerU-HTML: what it does otherwise than the other one."""

    name: str
    """The profile's."""
    first_parse: Callable[[bytes, LexborHTMLParser], str]
    """The page as the first of its two parsers writes it; given are its bytes and lexbor's tree."""
    second_parse: Callable[[bytes, etree.HTMLParser], etree._Element]
    """The root of what the second parser reads."""
    remove: Callable[[CleanPage], None]
    """Removes what is gone before blocks are found."""
    classify: Callable[[Tree, list[str], bytearray], Kinds]
    inline: frozenset[str]
    not_block: frozenset[str]
    """Names of elements that are a block nowhere, or not by themselves."""
    truncate: Callable[[Tree, list[str], Block], None]
    """Cuts the texts of a block that the model sees."""
    surround: Callable[[Tree, list[str], Block], Around | None] | None
    """The markup around a block, where that is not its own tags; None: nothing, and runs of the
    body are lost."""
    lay_out: Callable[[Tree], None] | None
    """Puts line feeds into the mapping HTML."""
    fails_on_braces: bool
    """An attribute named `{x}y` of a block fails the page, not the block."""
    selects_wrappers: bool
    """A wrapper has the `cc-select` of its element."""
    wraps_last_break: bool
    """A run that ends in a `br` is wrapped with the text after that."""
    recalls_breaks: bool
    """Main HTML keeps each `br` next to what it keeps."""
    unescape: Callable[[str], str]
    """The last step of main HTML."""


def blank(clean: CleanPage, element: int) -> None:
    """Remove an element with all that is in it, but not the text after it."""
    first, last = clean.tree.opens[element], clean.tree.closes[element]
    clean.texts[first : last + 1] = [""] * (last - first + 1)
    end = clean.tree.lasts[element] + 1
    clean.removed[element:end] = b"\1" * (end - element)
