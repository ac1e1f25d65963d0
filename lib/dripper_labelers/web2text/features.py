"""Computes 128 features per leaf and 25 features per pair of neighbors (paper 3.3 and appendix A).

Features are in the order of the appendix: column i, counted from 0, is the feature b(i+1). If the
appendix is unclear, the published code (https://github.com/dalab/web2text) decides, except for the
points in docs/labeler_web2text.md. Features of a missing parent or grandparent are NaN and count as
average.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels.arrays import FloatArray, IntArray
from dripper.tree.elements import LINE_BREAKING
from dripper.tree.tree import Tree
from dripper_labelers.web2text.leaves import NO_NODE, CollapsedDom, Leaves, collapse
from dripper_labelers.web2text.text import COUNTS, LeafTexts, read_texts

_TEXT_NAMES = (
    "average_word_length", "has_stop_word", "stop_word_ratio", "log_characters", "log_punctuation_ratio", "has_numeric",
    "numeric_ratio", "log_sentence_length", "ends_with_punctuation", "ends_with_question_mark", "contains_copyright",
    "contains_email", "contains_url", "contains_year", "capital_ratio", "capital_ratio_squared", "capital_ratio_cubed",
)  # fmt: skip
NODE_NAMES = ("body_share", "link_density", *_TEXT_NAMES, "contains_form_element")
"""The features of a parent, b29 to b48. A grandparent, the root and the common ancestor of a pair
have the same features."""
LEAF_TAGS = [
    "a",
    "p",
    "td",
    "b",
    "li",
    "span",
    "i",
    "tr",
    "div",
    "strong",
    "em",
    "h3",
    "h2",
    "table",
    "h4",
    "small",
    "sup",
    "h1",
    "blockquote",
]
# `ul` appears twice, as in the appendix and the published code.
PARENT_TAGS = [
    "td",
    "div",
    "p",
    "tr",
    "table",
    "body",
    "ul",
    "span",
    "li",
    "blockquote",
    "b",
    "small",
    "a",
    "ol",
    "ul",
    "i",
    "form",
    "dl",
    "strong",
    "pre",
]
_LEAF_ORDER = (
    "has_word", "log_words", *_TEXT_NAMES[:8], "ends_with_punctuation", "ends_with_question_mark", "contains_copyright",
    "contains_email", "contains_url", "contains_year", *_TEXT_NAMES[14:], "contains_punctuation", "punctuation_count",
    "has_multiple_sentences", "relative_position", "relative_position_squared",
)  # fmt: skip
NAMES = (
    "has_duplicate", "has_10_duplicates", "same_class_path_ratio", *_LEAF_ORDER, "has_parent",
    *(f"parent_{name}" for name in NODE_NAMES),
    *(f"parent_tag_{tag}" if tag not in PARENT_TAGS[:n] else f"parent_tag_{tag}_again" for n, tag in enumerate(PARENT_TAGS)),
    "has_grandparent", *(f"grandparent_{name}" for name in NODE_NAMES), *(f"root_{name}" for name in NODE_NAMES),
    *(f"tag_{tag}" for tag in LEAF_TAGS),
)  # fmt: skip
"""The names of a leaf's features, in column order."""
PAIR_NAMES = (
    "distance_2", "distance_3", "distance_4", "distance_more", "line_break", *(f"ancestor_{name}" for name in NODE_NAMES),
)  # fmt: skip
"""The names of a pair's features, in column order."""

_CONTINUOUS = frozenset({
    "same_class_path_ratio", "log_words", "average_word_length", "stop_word_ratio", "log_characters", "log_punctuation_ratio",
    "numeric_ratio", "log_sentence_length", "capital_ratio", "capital_ratio_squared", "capital_ratio_cubed",
    "punctuation_count", "relative_position", "relative_position_squared", "body_share", "link_density",
})  # fmt: skip
_OF_NODES = ("parent_", "grandparent_", "root_", "ancestor_")

_TAG_BITS = {tag: 1 << bit for bit, tag in enumerate(dict.fromkeys((*LEAF_TAGS, *PARENT_TAGS)))}
_COLUMN = {name: column for column, name in enumerate(COUNTS)}


class PageFeatures(NamedTuple):
    """The raw features of a page, before standardization."""

    leaves: npt.NDArray[np.float32]
    """(n_leaves, len(NAMES))."""
    pairs: npt.NDArray[np.float32]
    """(n_leaves - 1, len(PAIR_NAMES)), one row per leaf and its successor."""


def is_binary(name: str) -> bool:
    """Return whether a feature is always 0 or 1. Such features are not standardized.

    >>> is_binary("parent_has_numeric"), is_binary("root_link_density")
    (True, False)
    """
    for prefix in _OF_NODES:
        name = name.removeprefix(prefix)
    return name not in _CONTINUOUS


def compute_block_features(page: Page) -> PageFeatures:
    """Return the features of a page with its blocks as leaves. Takes time linear in the number of
    characters, elements and blocks."""
    return compute_features(page.elements, Leaves.of_blocks(page))


def compute_features(tree: Tree, leaves: Leaves) -> PageFeatures:
    """Return the features of `leaves`, which must belong to `tree`."""
    n = len(leaves.texts)
    if not n:
        return PageFeatures(np.zeros((0, len(NAMES)), np.float32), np.zeros((0, len(PAIR_NAMES)), np.float32))
    dom = collapse(tree, leaves, _TAG_BITS)
    texts, source = read_texts(tree, leaves), _find_source_range(tree, leaves)
    nodes = _compute_node_features(dom, texts, source).astype(np.float32)
    above = np.append(dom.parents, NO_NODE)[dom.leaf_parents]
    parents, grandparents = _of(nodes, dom.leaf_parents), _of(nodes, above)
    features = np.concatenate(
        [
            _count_duplicates(leaves, dom), _compute_leaf_features(texts, source).astype(np.float32),
            (dom.leaf_parents != NO_NODE)[:, None], parents,
            _flags(np.append(dom.tags, 0)[dom.leaf_parents], PARENT_TAGS), (above != NO_NODE)[:, None], grandparents,
            np.broadcast_to(nodes[0], (n, nodes.shape[1])), _flags(dom.leaf_tags, LEAF_TAGS),
        ],
        axis=1, dtype=np.float32,
    )  # fmt: skip
    return PageFeatures(features, _compute_pair_features(tree, leaves, dom, nodes))


def _find_source_range(tree: Tree, leaves: Leaves) -> tuple[FloatArray, FloatArray]:
    """Return the start and end of each leaf in the source. Both are scaled so that the first leaf
    starts at 0 and the last leaf ends at 1."""
    offsets = np.zeros(len(tree.parts) + 1)
    np.cumsum(np.fromiter(map(len, tree.parts), np.int64, len(tree.parts)), out=offsets[1:])
    start, end = offsets[leaves.first], offsets[leaves.last + 1]
    length = max(end[-1] - start[0], 1)
    return (start - start[0]) / length, (end - start[0]) / length


def _count_duplicates(leaves: Leaves, dom: CollapsedDom) -> FloatArray:
    """Return the features b1 to b3 of each leaf. Leaves without text have no duplicates."""
    numbers: dict[str, int] = {}
    texts = np.array([numbers.setdefault(text, len(numbers)) for text in leaves.texts], np.int64)
    equal = np.where([bool(text) for text in leaves.texts], np.bincount(texts)[texts], 1)
    paths = np.bincount(dom.leaf_paths)[dom.leaf_paths]
    return np.stack([equal > 1, equal > 10, paths / len(paths)], axis=1)


def _compute_leaf_features(texts: LeafTexts, source: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the features b4 to b27 of each leaf."""
    counts, start = texts.counts, source[0]
    words, punctuation = counts[:, _COLUMN["words"]], counts[:, _COLUMN["punctuation"]]
    shared = _compute_text_features(counts, texts.ends_with_punctuation, texts.ends_with_question, longest=5.5)
    return np.column_stack(
        [
            words > 0, np.clip(np.log(np.maximum(words, 1)), 0, 3.5), shared, punctuation > 0, np.minimum(punctuation, 10),
            counts[:, _COLUMN["sentences"]] > 1, start, start * start,
        ]
    )  # fmt: skip


def _compute_node_features(dom: CollapsedDom, texts: LeafTexts, source: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the features b29 to b48 of each node."""
    sums = np.zeros((len(texts.counts) + 1, len(COUNTS)), np.int64)
    np.cumsum(texts.counts, axis=0, out=sums[1:])
    counts, last = sums[dom.end] - sums[dom.first], dom.end - 1
    shared = _compute_text_features(
        counts, texts.ends_with_punctuation[last], texts.ends_with_question[last], longest=10
    )
    return np.column_stack(
        [
            source[1][last] - source[0][dom.first],
            counts[:, _COLUMN["link_characters"]] / counts[:, _COLUMN["characters"]], shared, dom.has_input,
        ]
    )  # fmt: skip


def _compute_text_features(
    counts: IntArray,
    ends_with_punctuation: npt.NDArray[np.bool_],
    ends_with_question: npt.NDArray[np.bool_],
    longest: float,
) -> FloatArray:
    """Return the features in `_TEXT_NAMES` for leaves or nodes. `longest` limits the logarithm of
    the number of characters."""
    column = {name: counts[:, number].astype(np.float64) for name, number in _COLUMN.items()}
    words, size = np.maximum(column["words"], 1), column["characters"]
    capitals = np.minimum(column["capitals"] / words, 1)
    # Ratios below e^-4 are raised to e^-4.
    punctuation = np.maximum(column["punctuation"] / size, np.exp(-4))
    return np.column_stack(
        [
            np.clip(column["word_length"] / words, 3, 15), column["stop_words"] > 0, column["stop_words"] / words,
            np.clip(np.log(size), 2.5, longest), np.minimum(np.log(punctuation), -2.5), column["numeric"] > 0,
            column["numeric"] / size, np.clip(np.log(size / np.maximum(column["sentences"], 1)), 2, 5),
            ends_with_punctuation, ends_with_question,
            *(column[name] > 0 for name in ("copyright", "email", "url", "year")), capitals, capitals**2, capitals**3,
        ]
    )  # fmt: skip


def _compute_pair_features(
    tree: Tree, leaves: Leaves, dom: CollapsedDom, nodes: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """For each pair, return the distance in the tree, whether there is a line break between the two
    leaves, and the features b29 to b48 of the common ancestor."""
    if len(leaves.texts) == 1:
        return np.zeros((0, len(PAIR_NAMES)), np.float32)
    common, depths = dom.common_ancestors(), dom.leaf_depths
    distance = depths[:-1] + depths[1:] - 2 * dom.depths[common]
    breaking = {tag: name in LINE_BREAKING for tag, name in tree.names.items()}
    breaks = np.zeros(len(tree.parts) + 1, np.int64)
    breaks[2::2] = np.fromiter((breaking.get(tag, False) for tag in tree.parts[1::2]), np.int64, len(tree.parts) // 2)
    before = np.cumsum(breaks)
    line_break = before[leaves.first[1:]] > before[leaves.last[:-1]]
    return np.column_stack(
        [distance == 2, distance == 3, distance == 4, distance > 4, line_break, nodes[common]]
    ).astype(np.float32)


def _of(nodes: npt.NDArray[np.float32], which: IntArray) -> npt.NDArray[np.float32]:
    return np.where((which == NO_NODE)[:, None], np.float32(np.nan), nodes[which])


def _flags(bits: IntArray, tags: list[str]) -> npt.NDArray[np.bool_]:
    tag_bits = np.array([_TAG_BITS[tag] for tag in tags], np.int64)
    return (bits[:, None] & tag_bits) > 0
