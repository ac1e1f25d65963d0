"""Profiles that lose nothing but what they say they remove: `dripper`, and `paper` with rules of
its own."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from dripper.blocks.mapping import without_ids
from dripper.blocks.numbering import number
from dripper.blocks.page import Page
from dripper.blocks.pruning import prune_mapping
from dripper.blocks.segment import segment
from dripper.blocks.simplify import CUTOFF, TABLE_CUTOFF
from dripper.html.parse import parse_page, read_tags
from dripper.markup.limits import ParserLimits
from dripper.markup.scan import HIDDEN_SHARE, ReadTags, scan
from dripper.markup.tags import HTML_VOID
from dripper.markup.tree import Tree


@dataclass(frozen=True, slots=True)
class LosslessProfile:
    """A profile (see `html.profiles.Profile`) whose mapping HTML holds the whole page that its
    blocks were found in."""

    name: str
    read_tags: ReadTags
    """Which start tags stand for something else, or hide their element."""
    hidden_share: float
    """Hidden elements stay where they hold more than this share of the page's text."""
    cutoffs: tuple[int, int]
    """Characters of text a block that the model sees, outside and inside of tables."""
    main_html_scans: bool = True

    def preprocess(self, html: bytes, limits: ParserLimits) -> Page:
        """Return the page, given as UTF-8, split into blocks."""
        parsed = parse_page(html, self.read_tags, self.hidden_share, limits)
        return replace(self._split(parsed.tree, parsed.title), hints=parsed.hints, metadata=parsed.metadata)

    def prune(self, mapping_html: str, main_ids: Collection[int]) -> str:
        """Return the main HTML."""
        return prune_mapping(mapping_html, main_ids)

    def restore(self, mapping_html: str, title: str) -> Page:
        """Return the page that a mapping HTML was written from: the same tree and blocks, but no
        hints and metadata."""
        return self._split(scan(without_ids(mapping_html), HTML_VOID), title)

    def _split(self, tree: Tree, title: str) -> Page:
        removed = bytearray(len(tree))
        for element in tree.children(0):
            if tree.tags[element] == "head":
                removed[element : tree.lasts[element] + 1] = b"\1" * (tree.lasts[element] + 1 - element)
        paragraphs, _ = segment(tree, tree.parts, removed, columns_decide=False)
        blocks = number(tree, tree.parts, paragraphs)
        return Page(tree, blocks, title, self.name, cutoffs=self.cutoffs)


DRIPPER = LosslessProfile("dripper", read_tags, HIDDEN_SHARE, (CUTOFF, TABLE_CUTOFF))
