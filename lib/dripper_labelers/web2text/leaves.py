"""Builds the collapsed DOM (paper 3.1). In this tree, elements without text are removed, and an
element with a single child is merged with the child. The leaves are labeled.

A node is represented by the range of leaves below it. Elements with the same range contain only
each other, so they are merged. The tree therefore fits in a few sorted arrays, and no algorithm
depends on its depth.

In the paper (3.2), a leaf is a text node. This project uses blocks instead, like the other
labelers. Text nodes are only used for the paper's own protocol
(`dripper_lab.train.web2text.cleaneval`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels.arrays import IntArray
from dripper.tree.tree import Tree, attribute, unescape

SKIPPED = frozenset(
    ["checkbox", "head", "iframe", "noscript", "radio", "script", "select", "style", "textarea", "title", "video"]
)
"""Elements that contain no leaves, as in the published code (which also skips empty elements)."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """Leaves of a tree. Their spans are disjoint and in ascending order."""

    texts: Sequence[str]
    """The text of each leaf, with white space collapsed."""
    first: IntArray
    last: IntArray
    """`first` and `last` have shape (n_leaves,). They are the indexes in `Tree.parts` of the first
    and the last part of each leaf's text, or of its markup if the leaf has no text (an image)."""
    elements: IntArray
    """(n_leaves,), an element that is or contains the leaf."""

    @classmethod
    def of_blocks(cls, page: Page) -> "Leaves":
        """Return one leaf per block."""
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
        """Return one leaf per text node, unless the text node is blank or inside a SKIPPED
        element."""
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
"""The indexes of these fields in a `Block`."""


def _split_texts(tree: Tree) -> list[int]:
    """Return the indexes of the non-blank text nodes in `tree.parts`."""
    return [2 * number for number, text in enumerate(tree.parts[::2]) if text and not text.isspace()]


NO_NODE = -1


@dataclass(frozen=True, slots=True)
class CollapsedDom:
    """The nodes of a collapsed DOM in document order. Node 0 is the root. A node with one leaf
    consists of the elements that contain only this leaf."""

    first: IntArray
    end: IntArray
    """`first` and `end`: (n_nodes,), the range of leaves below each node, end exclusive."""
    parents: IntArray
    """(n_nodes,), each node's parent; NO_NODE for the root."""
    depths: IntArray
    """(n_nodes,), the number of nodes above each node."""
    tags: IntArray
    """(n_nodes,), a bit mask of the requested tags among each node's elements."""
    has_input: npt.NDArray[np.bool_]
    """(n_nodes,), whether the node's innermost element contains an `input`."""
    leaf_tags: IntArray
    """(n_leaves,), the same bit mask for the elements of each leaf."""
    leaf_parents: IntArray
    """(n_leaves,), the node above each leaf; NO_NODE if the leaf is the root."""
    leaf_paths: IntArray
    """(n_leaves,), a number for each leaf's path of tags and classes from the root. Equal paths
    have equal numbers."""

    @property
    def leaf_depths(self) -> IntArray:
        """(n_leaves,), the number of nodes above each leaf."""
        return np.where(self.leaf_parents == NO_NODE, 0, self.depths[self.leaf_parents] + 1)

    def common_ancestors(self) -> IntArray:
        """Return the lowest common ancestor of each leaf and its successor, (n_leaves - 1,).

        Takes linear time, because only the last leaf of a node climbs past that node.
        """
        ancestors = self.leaf_parents[:-1].copy()
        climbing = np.arange(len(ancestors))
        while len(climbing):
            climbing = climbing[self.end[ancestors[climbing]] <= climbing + 1]
            ancestors[climbing] = self.parents[ancestors[climbing]]
        return ancestors


def collapse(tree: Tree, leaves: Leaves, tag_bits: Mapping[str, int]) -> CollapsedDom:
    """Build the collapsed DOM over `leaves`, which must not be empty.

    Args:
        tag_bits: The requested tags, each with its bit (1, 2, 4, …).
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
    # A leaf that is alone in an element has its own node. Other leaves belong to a larger node.
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
    """Return the depth of each node. Parents precede their children."""
    depths: list[int] = []
    for parent in parents.tolist():
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return np.array(depths, np.int64)


def _write_paths(tree: Tree, used: IntArray) -> IntArray:
    """Return a number for each element. Two elements in `used` have the same number if they have
    the same path of tags and classes. All other elements have 0."""
    numbers: dict[tuple[int, str], int] = {}
    paths = [0] * (len(tree) + 1)
    for element in used.tolist():
        step = (paths[tree.parents[element]], _write_selector(tree.start_tag(element)))
        paths[element] = numbers.setdefault(step, len(numbers) + 1)
    return np.array(paths, np.int64)


_NAME = re.compile("[^\t\n\f\r />]+")


# The same start tags recur within a page and across the pages of a site.
@lru_cache(maxsize=1 << 14)
def _write_selector(start_tag: str) -> str:
    """Return a tag name with its classes in alphabetical order, as in `p.big.red`."""
    name = _NAME.search(start_tag, 1)
    classes = sorted(set((attribute(start_tag, "class") or "").split()))
    return ".".join([name[0] if name else "", *classes])
