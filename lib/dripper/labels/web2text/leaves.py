"""The leaves of the collapsed DOM, in document order: what gets a label.

In the paper (3.2) a leaf is a text node. Here it is a block, so that the labels are those of the
other labelers; text nodes are there for the paper's own protocol
(`dripper.train.web2text.cleaneval`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.arrays import IntArray
from dripper.markup.tree import Tree, unescape

SKIPPED = frozenset(
    ["checkbox", "head", "iframe", "noscript", "radio", "script", "select", "style", "textarea", "title", "video"]
)
"""Elements whose text is no leaf in the published code; it skips empty ones too."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """Some leaves of a tree; spans are disjoint and ascend."""

    texts: Sequence[str]
    """White space as one blank."""
    first: IntArray
    last: IntArray
    """Both: (n_leaves,), the first and last part of `Tree.parts` that has a leaf's text; of a leaf
    without text (an image) its markup."""
    elements: IntArray
    """(n_leaves,), an element that the leaf is or stands in."""

    @classmethod
    def of_blocks(cls, page: Page) -> "Leaves":
        """Return one leaf a block."""
        begin, end, elements = (
            np.array([block[field] for block in page.blocks], np.int64) for field in (_FIRST, _LAST, _ELEMENT)
        )
        texts = np.array(_text_parts(page.elements), np.int64)
        if not len(texts):
            return cls([block.text for block in page.blocks], begin, end, elements)
        first, after = texts.searchsorted(begin), texts.searchsorted(end, side="right")
        has_text = first < after
        return cls(
            [" ".join(block.text.split()) for block in page.blocks],
            np.where(has_text, texts[np.minimum(first, len(texts) - 1)], begin),
            np.where(has_text, texts[after - 1], end),
            elements,
        )

    @classmethod
    def of_text_nodes(cls, tree: Tree) -> "Leaves":
        """Return one leaf a text node that is not blank and not SKIPPED."""
        inside = np.full(len(tree.parts), -1, np.int64)
        for element, (opened, closed, parent) in enumerate(zip(tree.opens, tree.closes, tree.parents, strict=True)):
            inside[opened + 1] = element
            inside[closed + 1] = parent
        skipped = np.zeros(len(tree.parts) + 1, np.int64)
        for element, tag in enumerate(tree.tags):
            if tag in SKIPPED:
                skipped[tree.opens[element]] += 1
                skipped[tree.closes[element]] -= 1
        hidden = np.cumsum(skipped) > 0
        parts = np.array([part for part in _text_parts(tree) if inside[part] >= 0 and not hidden[part]], np.int64)
        texts = [" ".join(unescape(tree.parts[part]).split()) for part in parts.tolist()]
        return cls(texts, parts, parts, inside[parts])


_ELEMENT, _FIRST, _LAST = 2, 4, 5
"""Fields of a `Block`."""


def _text_parts(tree: Tree) -> list[int]:
    """Return the indexes of the texts that are not blank."""
    return [2 * number for number, text in enumerate(tree.parts[::2]) if text and not text.isspace()]
