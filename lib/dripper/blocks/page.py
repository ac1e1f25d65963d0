"""Holds a page split into blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dripper.blocks.block import Block
from dripper.blocks.headings import Heading, find_headings
from dripper.blocks.simplify import CUTOFF, TABLE_CUTOFF, simplify, write_mapping
from dripper.facts.metadata import Metadata
from dripper.tree.head import Hints
from dripper.tree.tree import Tree

__all__ = ["Block", "Page"]


@dataclass(slots=True)
class Page:
    """A page that is split into blocks. All sequences are in document order. Picklable.

    Simplified HTML, mapping HTML and headings are computed on first use and cached.
    """

    elements: Tree
    """The page's tree, with tags, parents and attributes (see `Tree`)."""
    blocks: Sequence[Block]
    """The blocks. They store positions in `elements`."""
    title: str = ""
    """The text of `<title>`, or else of `og:title`, or else ""."""
    profile: str = "dripper"
    """The name of the profile that split the page."""
    _simplified: str | None = field(default=None, repr=False, compare=False)
    _mapping: str | None = field(default=None, repr=False, compare=False)
    _headings: Sequence[Heading] | None = field(default=None, repr=False, compare=False)
    hints: Hints = field(default_factory=Hints, repr=False)
    """Hints for labelers, from the page's invisible data. Empty in the profiles `mineru-…`."""
    cutoffs: tuple[int, int] = (CUTOFF, TABLE_CUTOFF)
    """Maximum number of characters that the model sees of each block, outside and inside tables."""
    metadata: Metadata | None = field(default=None, repr=False)
    """The page's metadata. None for a page that was split from a tree."""
    hidden_characters: int = field(default=0, repr=False, compare=False)
    """Number of characters that were left out as hidden. 0 for a page that was split from a
    tree."""

    @property
    def item_ids(self) -> range:
        """The ids of the blocks, from 1 to N."""
        return range(1, len(self.blocks) + 1)

    @property
    def simplified_html(self) -> str:
        """The page as a language model reads it. Each block is one element with an `_item_id`."""
        if self._simplified is None:
            self._simplified = simplify(self.elements, self.blocks, *self.cutoffs)
        return self._simplified

    @property
    def mapping_html(self) -> str:
        """The whole page with the same ids. `dripper.html.prune` writes main HTML from it."""
        if self._mapping is None:
            self._mapping = write_mapping(self.elements, self.blocks)
        return self._mapping

    @property
    def headings(self) -> Sequence[Heading]:
        """The headings, each with the blocks that it introduces."""
        if self._headings is None:
            self._headings = find_headings(self.elements, self.blocks)
        return self._headings
