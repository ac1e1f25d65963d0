"""Builds the collapsed DOM (paper 3.1): the tree without elements that have no text, in which an
element with one child is merged with it. Its leaves get the labels.

A leaf is a range of one, a node the range of leaves below it. Elements of equal ranges hold each
other and nothing else, so they are merged. So the tree is a few sorted arrays, and nothing here
depends on its depth.

In the paper (3.2) a leaf is a text node. Here it is a block, so that the labels are the same as in
the other labelers; text nodes are there for the paper's own protocol
(`dripper_lab.train.web2text.cleaneval`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dripper.html.blocks.page import Page
from dripper.html.tree.tree import Tree, attribute, unescape
from dripper.labels.arrays import IntArray

SKIPPED = frozenset(
    ["checkbox", "head", "iframe", "noscript", "radio", "script", "select", "style", "textarea", "title", "video"]
)
"""Elements with text that is no leaf in the published code, which skips empty elements too."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """The leaves of a tree, or some of them; spans are disjoint and ascend."""

    texts: Sequence[str]
    """White space as one blank."""
    first: IntArray
    last: IntArray
    """Both: (n_leaves,), the first and last part of `Tree.parts` that has a leaf's text; of a leaf
    without text (an image) its markup."""
    elements: IntArray
    """(n_leaves,), an element that the leaf is or is inside."""

    @classmethod
    def of_blocks(cls, page: Page) -> "Leaves":
        """Return one leaf a block."""
        begin, end, elements = (
            np.array([block[field] for block in page.blocks], np.int64) for field in (_FIRST, _LAST, _ELEMENT)
        )
        texts = np.array(_split_texts(page.elements), np.int64)
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
        for element, (start, end, parent) in enumerate(zip(tree.opens, tree.closes, tree.parents, strict=True)):
            inside[start + 1] = element
            inside[end + 1] = parent
        skipped = np.zeros(len(tree.parts) + 1, np.int64)
        for element, tag in enumerate(tree.tags):
            if tag in SKIPPED:
                skipped[tree.opens[element]] += 1
                skipped[tree.closes[element]] -= 1
        hidden = np.cumsum(skipped) > 0
        parts = np.array([part for part in _split_texts(tree) if inside[part] >= 0 and not hidden[part]], np.int64)
        texts = [" ".join(unescape(tree.parts[part]).split()) for part in parts.tolist()]
        return cls(texts, parts, parts, inside[parts])


_ELEMENT, _FIRST, _LAST = 2, 4, 5
"""Fields of a `Block`."""


def _split_texts(tree: Tree) -> list[int]:
    """Return the indexes of the texts that are not blank."""
    return [2 * number for number, text in enumerate(tree.parts[::2]) if text and not text.isspace()]


NO_NODE = -1


@dataclass(frozen=True, slots=True)
class CollapsedDom:
    """Nodes in document order, node 0 is the root; a node of one leaf is that leaf's elements."""

    first: IntArray
    end: IntArray
    """Both: (n_nodes,), the range of leaves below each node, end exclusive."""
    parents: IntArray
    """(n_nodes,), NO_NODE for the root."""
    depths: IntArray
    """(n_nodes,), nodes above each."""
    tags: IntArray
    """(n_nodes,), which of the tags asked for its elements have: bit i for tag i."""
    has_input: npt.NDArray[np.bool_]
    """(n_nodes,), whether an `input` is in the node's innermost element."""
    leaf_tags: IntArray
    """(n_leaves,), the same bits of each leaf's elements."""
    leaf_parents: IntArray
    """(n_leaves,), the node around each leaf; NO_NODE if the leaf is the root."""
    leaf_paths: IntArray
    """(n_leaves,), equal for leaves under the same tags and classes from the root on."""

    @property
    def leaf_depths(self) -> IntArray:
        """(n_leaves,), nodes above each leaf."""
        return np.where(self.leaf_parents == NO_NODE, 0, self.depths[self.leaf_parents] + 1)

    def common_ancestors(self) -> IntArray:
        """Return the first node above each leaf that holds the next leaf too, shape (n_leaves -
        1,).

        Linear: each node is left on the way up by one leaf only, its last.
        """
        ancestors = self.leaf_parents[:-1].copy()
        climbing = np.arange(len(ancestors))
        while len(climbing):
            climbing = climbing[self.end[ancestors[climbing]] <= climbing + 1]
            ancestors[climbing] = self.parents[ancestors[climbing]]
        return ancestors


def collapse(tree: Tree, leaves: Leaves, tag_bits: Mapping[str, int]) -> CollapsedDom:
    """Return the collapsed DOM over some leaves; there must be one at least.

    Args:
        tag_bits: The tags to distinguish, each with its bit (1, 2, 4, …).
    """
    opens, closes = np.array(tree.opens, np.int64), np.array(tree.closes, np.int64)
    first, end = leaves.first.searchsorted(opens), leaves.last.searchsorted(closes, side="right")
    used = np.flatnonzero(first < end)
    first, end = first[used], end[used]
    is_new = np.ones(len(used), bool)
    is_new[1:] = (first[1:] != first[:-1]) | (end[1:] != end[:-1])
    starts = np.flatnonzero(is_new)
    node_of = np.full(len(tree) + 1, NO_NODE, np.int64)
    node_of[used] = np.cumsum(is_new) - 1
    outermost, innermost = used[starts], used[np.append(starts[1:], len(used)) - 1]
    parents = node_of[np.array(tree.parents, np.int64)[outermost]]
    bits = np.fromiter((tag_bits.get(tree.tags[element], 0) for element in used.tolist()), np.int64, len(used))
    tags = np.bitwise_or.reduceat(bits, starts)
    first, end = first[starts], end[starts]
    # A leaf that is alone in an element has a node of its own; another hangs in a larger one.
    alone = np.full(len(leaves.texts), NO_NODE, np.int64)
    single = np.flatnonzero(end - first == 1)
    alone[first[single]] = single
    inputs = np.array([tree.opens[element] for element, tag in enumerate(tree.tags) if tag == "input"], np.int64)
    has_input = inputs.searchsorted(opens[innermost]) < inputs.searchsorted(closes[innermost], side="right")
    has_own = alone != NO_NODE
    holders = np.where(has_own, innermost[alone], leaves.elements)
    return CollapsedDom(
        first=first, end=end, parents=parents, depths=_measure_depths(parents), tags=tags, has_input=has_input,
        leaf_tags=np.where(has_own, tags[alone], 0),
        leaf_parents=np.where(has_own, parents[alone], node_of[leaves.elements]),
        leaf_paths=_write_paths(tree, used)[holders],
    )  # fmt: skip


def _measure_depths(parents: IntArray) -> IntArray:
    """Return the number of nodes above each; a parent comes before its children."""
    depths: list[int] = []
    for parent in parents.tolist():
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return np.array(depths, np.int64)


def _write_paths(tree: Tree, used: IntArray) -> IntArray:
    """Return a number for each of the elements `used`, the same for equal paths of tags and
    classes; 0 for the others."""
    numbers: dict[tuple[int, str], int] = {}
    paths = [0] * (len(tree) + 1)
    for element in used.tolist():
        step = (paths[tree.parents[element]], _write_selector(tree.start_tag(element)))
        paths[element] = numbers.setdefault(step, len(numbers) + 1)
    return np.array(paths, np.int64)


_NAME = re.compile("[^\t\n\f\r />]+")


# A page repeats its start tags, and a site's pages have the same ones.
@lru_cache(maxsize=1 << 14)
def _write_selector(start_tag: str) -> str:
    """Return a start tag's name with its classes in the order of the alphabet, as in
    `p.big.red`."""
    name = _NAME.search(start_tag, 1)
    classes = sorted(set((attribute(start_tag, "class") or "").split()))
    return ".".join([name[0] if name else "", *classes])
