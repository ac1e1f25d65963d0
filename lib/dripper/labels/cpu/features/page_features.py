"""Computes all features of a page: one row of numbers for each block, and the ranges of blocks in
its containers.

Numbers are float32, so that a page of 100,000 blocks does not use up a worker's memory.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels.arrays import FloatArray, IntArray, stack_columns
from dripper.labels.cpu.arithmetic import snap
from dripper.labels.cpu.features.groups import NAMES as GROUP_NAMES
from dripper.labels.cpu.features.groups import compute_group_features
from dripper.labels.cpu.features.places import FARTHEST, LEVELS, find_places, link_chars
from dripper.labels.cpu.features.text import NAMES as TEXT_NAMES
from dripper.labels.cpu.features.text import compute_text_features
from dripper.labels.cpu.features.tree import NAMES as TREE_NAMES
from dripper.labels.cpu.features.tree import compute_tree_features
from dripper.labels.cpu.features.vocabulary import CUES
from dripper.labels.cpu.network import BlockSequence
from dripper.tree.elements import words
from dripper.tree.head import Hints

POSITION_NAMES = (
    "position", "chars_before", "from_start", "from_end", "share_of_longest", "share_of_page", "page_blocks", "page_chars",
    "page_links", "page_unspaced", "page_paragraphs", "page_headings", "page_items", "page_articles", "page_median",
    "since_heading", "heading_level", "until_long", "since_long",
)  # fmt: skip
KINDS: Mapping[str, frozenset[str]] = {
    "article": words("article newsarticle blogposting news reportagenewsarticle opinionnewsarticle blog"),
    "product": words("product og:product product.item productgroup offer"),
    "forum": words("discussionforumposting qapage socialmediaposting"),
    "list": words("itemlist collectionpage product.group searchresultspage offercatalog"),
    "website": words("website"),
}
"""Kinds of pages, each with the types by which pages declare this kind in `og:type` and JSON-LD
(see `dripper.tree.head`)."""
KIND_NAMES = (*(f"is_{kind}" for kind in KINDS), "has_types", "has_description")
NAMES = (*TEXT_NAMES, *TREE_NAMES, *POSITION_NAMES, *GROUP_NAMES, *KIND_NAMES)
"""The feature columns, in order."""

_COUNTED, _TYPES, _FIELDS = map(
    str.split,
    (
        "input select textarea button form label fieldset table tr td th ul li ol dl dt time article section img figure h1 h2 "
        "h3 h4 pre code iframe video blockquote p a span div svg option strong header footer nav aside main br",
        "article blogposting newsarticle product productgroup offer recipe howtostep nutritioninformation aggregaterating "
        "review event faqpage question qapage discussionforumposting person organization localbusiness postaladdress "
        "breadcrumblist itemlist collectionpage webpage website searchaction imageobject videoobject techarticle "
        "softwareapplication book movie profile contactpage",
        "text email tel password search checkbox radio hidden submit number",
    ),
)
STRUCTURE_NAMES = (*_COUNTED, *_TYPES, *(f"field_{field}" for field in _FIELDS))
"""Columns for the page as a whole, in multiples of 1/256. The kind of page is estimated from them.
They are the number of elements of each name (log), whether the page declares each type, and the
number of form fields of each type (log; fields with the same start tag count once)."""

# A block of this many characters is nearly always prose; menus and captions are rarely this long.
LONG_BLOCK_CHARS = 200


class PageFeatures(NamedTuple):
    """The features of a page.

    blocks: the raw features, as in `NAMES`, and the ranges of blocks in each block's containers,
    from the innermost container to the page. words: (n_blocks,), the number of words in each block.
    structure: as in `STRUCTURE_NAMES`.
    """

    blocks: BlockSequence
    words: IntArray
    structure: FloatArray


def compute_features(page: Page) -> PageFeatures:
    """Return the features of a page, in time linear in its characters, elements and blocks."""
    if not page.blocks:
        none = np.zeros((0, LEVELS + 1), np.int64)
        empty = BlockSequence(np.zeros((0, len(NAMES)), np.float32), none, none)
        return PageFeatures(empty, none[:, 0], np.zeros(len(STRUCTURE_NAMES)))
    texts = [block.text for block in page.blocks]
    chars = np.fromiter(map(len, texts), np.float64, len(texts))
    in_links = np.minimum(link_chars(page), chars)
    places = find_places(page)
    text, n_words = compute_text_features(texts, page.title, page.hints)
    tree = compute_tree_features(places, page.elements.tags, chars, in_links)
    position = _compute_position_features(chars, in_links, text, tree)
    heading = position[:, POSITION_NAMES.index("since_heading")] == 0
    heading &= position[:, POSITION_NAMES.index("heading_level")] > 0
    commas = np.rint(np.expm1(text[:, TEXT_NAMES.index("commas")].astype(np.float64)))
    groups = compute_group_features(places, chars, in_links, commas, text[:, -len(CUES) :].astype(np.float64), heading)
    whole = np.zeros((len(texts), 1), np.int64)
    blocks = BlockSequence(
        np.concatenate(
            [text, tree, position, groups, np.broadcast_to(_read_kinds(page.hints), (len(texts), len(KIND_NAMES)))],
            axis=1,
            dtype=np.float32,
        ),
        np.concatenate([places.starts, whole], axis=1),
        np.concatenate([places.ends, whole + len(texts)], axis=1),
    )
    return PageFeatures(blocks, n_words, _count_structure(page))


def _count_structure(page: Page) -> FloatArray:
    counts, types = Counter(page.elements.tags), frozenset(page.hints.types)
    inputs = "".join(tag for tag, name in page.elements.names.items() if name == "input").lower()
    fields = [inputs.count(f' type="{field}"') for field in _FIELDS]
    said = np.array([kind in types for kind in _TYPES], np.float64)
    return np.asarray(snap(np.concatenate([np.log1p([counts[name] for name in _COUNTED]), said, np.log1p(fields)])))


def _read_kinds(hints: Hints) -> list[bool]:
    types = frozenset(hints.types)
    return [*(not types.isdisjoint(kind) for kind in KINDS.values()), bool(types), bool(hints.description)]


def _compute_position_features(
    chars: FloatArray, link_chars: FloatArray, text: npt.NDArray[np.float32], tree: npt.NDArray[np.float32]
) -> FloatArray:
    """Return features that describe each block's position on the page, the whole page, and each
    block's distances to headings and long blocks."""
    n_blocks, total = len(chars), max(chars.sum(), 1)
    index = np.arange(n_blocks)
    far = np.minimum(index, FARTHEST)

    def within(name: str) -> npt.NDArray[np.float32]:
        return tree[:, TREE_NAMES.index(f"in_{name}")]

    first = TREE_NAMES.index("in_h1")
    in_headings = tree[:, first : first + 4] > 0  # the columns of h1, h2, h3, and of h4 to h6 together
    level = np.where(in_headings.any(axis=1), in_headings.argmax(axis=1) + 1, 0)
    is_heading = level > 0
    since_heading, last_heading = _since(is_heading)
    unspaced = text[:, TEXT_NAMES.index("unspaced")]
    is_long = chars >= LONG_BLOCK_CHARS
    page_shape = (
        np.log1p(min(n_blocks, FARTHEST)) / 5, np.log1p(total) / 10, link_chars.sum() / total, (unspaced * chars).sum() / total,
        (within("p") * chars).sum() / total,
        *(flags.sum() / n_blocks for flags in (is_heading, within("li"), within("article"))), np.log1p(_compute_median(chars)),
    )  # fmt: skip
    columns = (
        index / n_blocks, (np.cumsum(chars) - chars) / total, np.log1p(far) / 5, np.log1p(far[::-1]) / 5,
        chars / chars.max(initial=1), chars / total, *page_shape,
        np.log1p(since_heading), np.where(last_heading >= 0, level[last_heading], 0),
        np.log1p(_since(is_long[::-1])[0][::-1]), np.log1p(_since(is_long)[0]),
    )  # fmt: skip
    return stack_columns(columns, n_blocks)


def _compute_median(values: FloatArray) -> float:
    """Return the median (`np.median` is slow for the few blocks of a page)."""
    ascending = np.sort(values)
    return float(ascending[(len(values) - 1) // 2] + ascending[len(values) // 2]) / 2


def _since(flags: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return, for every block, the distance in blocks to the last flagged block (0 if the block
    itself is flagged), and the index of that flagged block (-1 if there is none)."""
    index = np.arange(len(flags))
    last = np.maximum.accumulate(np.where(flags, index, -1))
    return np.minimum(index - last, FARTHEST), last
