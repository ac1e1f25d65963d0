"""What `preprocess` returns: a page split into blocks, in the two forms that the Dripper paper
(3.2) names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from dripper.blocks.mapping import mapping
from dripper.blocks.numbering import Block
from dripper.blocks.pruning import prune_blocks
from dripper.blocks.simplify import CUTOFF, TABLE_CUTOFF, simplify
from dripper.markup.hints import Hints
from dripper.markup.tree import Tree
from dripper.metadata import Metadata

__all__ = ["Block", "Page"]


@dataclass(slots=True)
class Page:
    """One page, split. All sequences are in document order. Picklable.

    Simplified and mapping HTML are written when first asked for, once.
    """

    elements: Tree
    """The page's tree: tags, parents, attributes (see `Tree`)."""
    blocks: Sequence[Block]
    """N blocks, which point into it."""
    title: str = ""
    """Of `<title>`, else `og:title`, else empty."""
    profile: str = "dripper"
    """The set of rules that made the blocks."""
    _simplified: str | None = field(default=None, repr=False, compare=False)
    _mapping: str | None = field(default=None, repr=False, compare=False)
    hints: Hints = field(default_factory=Hints, repr=False)
    """What the page says about itself out of sight; empty with the profile `mineru-1.1`."""
    cutoffs: tuple[int, int] = (CUTOFF, TABLE_CUTOFF)
    """Characters of text a block that the model sees, outside and inside of tables."""
    metadata: Metadata | None = field(default=None, repr=False)
    """What the page declares about itself; None of a page restored from its mapping HTML."""

    @property
    def item_ids(self) -> range:
        """1..N."""
        return range(1, len(self.blocks) + 1)

    @property
    def simplified_html(self) -> str:
        """What a language model reads: one element a block, each with `_item_id`."""
        if self._simplified is None:
            self._simplified = simplify(self.elements, self.blocks, *self.cutoffs)
        return self._simplified

    @property
    def mapping_html(self) -> str:
        """The whole page with the same ids, from which the main HTML is cut."""
        if self._mapping is None:
            self._mapping = mapping(self.elements, self.blocks)
        return self._mapping

    def prune(self, main_ids: Collection[int]) -> str:
        """Return the page's main HTML: `dripper.html.prune(self.mapping_html, main_ids,
        self.profile)` without parsing again.
        """
        return prune_blocks(self.elements, self.blocks, main_ids)
