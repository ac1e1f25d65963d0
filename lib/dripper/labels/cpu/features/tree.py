"""Computes features of the blocks' positions in the tree: ancestors, their class names as bits,
links and other inline elements, and repeated structure.

Elements are integers in document order (see `dripper.tree.tree`), so a subtree is a range, and
counts over subtrees are differences of running sums. There are no loops over pairs of blocks or
over depths, so the time is nearly linear in elements and blocks.
"""

import functools
import re
from collections.abc import Sequence
from itertools import groupby, repeat
from operator import itemgetter, or_

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, HashArray, IntArray
from dripper.labels.cpu.features import characters
from dripper.labels.cpu.features.places import LEVELS, Places, number_distinct

NAME_GROUPS: dict[str, str] = {
    "comment": "comment|disqus|reply|replies|respond|discuss",
    "navigation": "nav|menu|breadcrumb|crumb|paginat|pager",
    "foot": "foot|copyright|legal|colophon",
    "side": "side|rail|widget|right|aside",
    "share": "share|social|follow|tweet|facebook",
    "related": "relat|recommend|more|popular|trending|also|teaser|promo|latest|carousel|suggest",
    "body": "content|body|text|entry|prose|copy",
    "article": "article|story|post|main|blog|news",
    "title": "title|headline|heading",
    "byline": "author|byline|meta|date|time|info|published|user|avatar|profile|signature",
    "advertisement": "advert|banner|sponsor|^ads?$|outbrain|taboola",
    "consent": "cookie|consent|gdpr|newsletter|subscri|signup|login|modal|popup|paywall|overlay",
    "tags": "tag|categor|topic|label|keyword",
    "caption": "caption|image|photo|gallery|figure|media|video",
    "hidden": "hidden|^sr$|reader|visually|collapse",
    "thread": "message|thread|forum|quote|answer|question|bbcode",
    "product": "product|price|cart|shop|spec|sku|item",
    "list": "list|grid|card|archive|result|feed|tile",
    "description": "descri|summary|excerpt|lead|intro|detail|overview|about|hero",
    "review": "review|rating|testimonial|faq|accordion|tab",
}
"""Meanings of class, id, role and itemprop values, each with a pattern of the words that indicate
this meaning. Sites in all languages use such English words in their markup."""
# Generated class lists can be kilobytes long. The classes that describe an element are in the first
# 200 characters.
_NAMED = re.compile(r' (?:class|id|role|itemprop)="([^"]{1,200})')
_GROUPS = [re.compile(pattern) for pattern in NAME_GROUPS.values()]
# Grouping the 130 alternatives by their first characters makes matching three times as fast.
_STEMS = sorted("|".join(NAME_GROUPS.values()).split("|"))
_ANY_GROUP = re.compile(
    "|".join(f"{first}(?:{'|'.join(stem[1:] for stem in stems)})" for first, stems in groupby(_STEMS, itemgetter(0)))
)
_WORD = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")


def encode_names(start_tags: Sequence[str]) -> list[int]:
    """Return an integer for each serialised start tag. Bit i is set if one of the tag's names
    belongs to group i of NAME_GROUPS.

    >>> encode_names(['<p class="comment-body" id="x1">', "<p>"]) == [1 << 0 | 1 << 6, 0]
    True
    """
    if characters.IN_C:
        return characters.characters_c.encode(list(start_tags), _make_memory(), _word_bits)
    names = [" ".join(_NAMED.findall(start_tag)) for start_tag in start_tags]
    bits = {each: functools.reduce(or_, map(_word_bits, _WORD.findall(each)), 0) for each in set(names)}
    return [bits[each] for each in names]


@functools.cache
def _make_memory() -> bytearray:
    """Return an empty cache of 4,096 words for the C version of `encode_names`."""
    return bytearray(1 << 17)


# Nearly all pages use the same few thousand words in their names, and twenty searches per word are
# slow, so results are cached.
@functools.lru_cache(maxsize=1 << 15)
def _word_bits(word: str) -> int:
    lowered = word.lower()
    if _ANY_GROUP.search(lowered) is None:
        return 0
    hits = (group.search(lowered) is not None for group in _GROUPS)
    return sum(1 << bit for bit, hit in enumerate(hits) if hit)


TAG_GROUPS = (
    "nav", "header", "footer", "aside", "article", "main", "form", "li ul ol dt dl menu", "table", "blockquote", "h1", "h2",
    "h3", "h4 h5 h6", "p", "pre", "figcaption figure", "noscript", "button label", "section", "dd", "td th", "address", "div",
    "details", "body",
)  # fmt: skip
"""Groups of tags. Each group has two features: whether the block's own element is in the group, and
whether this element or one of its ancestors is in it."""

INLINE_GROUPS = (
    "a", "b strong", "em i", "img picture video iframe", "br", "code kbd samp", "span", "input button select",
)  # fmt: skip
"""Groups of tags. The elements of each group are counted inside each block."""

NAMES = (
    *(f"{what}{level}" for level in range(LEVELS) for what in ("share", "links", "blocks")), "link_share", "depth",
    "log_same_path", "same_path_share", "same_path_mean", "log_same_class", "same_class_links", "same_class_mean",
    "siblings_alike", "is_run",
    *(f"in_{group.split()[0]}" for group in TAG_GROUPS), *(f"own_{group.split()[0]}" for group in TAG_GROUPS),
    *(f"named_{name}" for name in NAME_GROUPS), *(f"near_{name}" for name in NAME_GROUPS),
    *(f"holds_{group.split()[0]}" for group in INLINE_GROUPS),
)  # fmt: skip

_TAG_SHIFT, _MIX_SHIFT = 32, np.uint64(29)
_MIXERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Constants of splitmix64 (Steele et al. 2014)."""


def compute_tree_features(
    places: Places, tags: Sequence[str], chars: FloatArray, link_chars: FloatArray
) -> npt.NDArray[np.float32]:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)).

    Args:
        tags: The tags of all elements of the page.
        chars, link_chars: (n_blocks,), the number of characters in each block's text, and in its
            links.
    """
    own, n_tags = places.elements, len(TAG_GROUPS)
    start_tags = number_distinct(places.start_tags)
    flags = _flags_of(places)[start_tags]
    near = flags[own] | flags[places.containers[:, 0]] | flags[places.containers[:, 1]]
    of_own, of_path, of_near = _bits(np.stack([flags[own], _inherit_flags(flags, places.parents)[own], near]))
    parts: tuple[npt.NDArray[np.float64 | np.uint8], ...] = (
        _compute_container_features(places, chars, link_chars), _compute_repetition_features(places, start_tags, chars, link_chars),
        of_path[:, :n_tags], of_own[:, :n_tags], of_path[:, n_tags:], of_near[:, n_tags:], _inline_counts(tags, places.inside),
    )  # fmt: skip
    return np.concatenate(parts, axis=1, dtype=np.float32)


def _compute_container_features(places: Places, chars: FloatArray, link_chars: FloatArray) -> FloatArray:
    """For each container of a block, return the container's fraction of the page's text, its link
    density and its number of blocks. Also return the block's own link density."""
    chars_in, links_in = places.sums_in(chars), places.sums_in(link_chars)
    elements = np.array(
        [
            np.log(chars_in / max(chars_in[0], 1) + 1e-3), links_in / (chars_in + 1),
            np.log1p(places.ends_in - places.starts_in),
        ]
    ).T  # fmt: skip
    own = (link_chars / np.maximum(chars, 1))[:, None]
    return np.concatenate([elements[places.containers].reshape(len(chars), -1), own], axis=1)


def _compute_repetition_features(
    places: Places, start_tags: IntArray, chars: FloatArray, link_chars: FloatArray
) -> FloatArray:
    """For each block, return the number and length of the blocks in two groups: the blocks with the
    same path of tags, and the blocks that have the same start tag and a container with the same
    start tag. Also return the block's depth, the number of blocks with the same tag in the same
    container, and whether the block is a run."""
    paths, depths = _paths(places)
    own, around = places.elements, places.containers[:, 0]
    tags = places.tag_numbers[own]
    n_elements = len(start_tags)
    same_path, same_class, siblings = (
        np.unique(keys, return_inverse=True)[1]
        for keys in (paths[own], start_tags[own] * n_elements + start_tags[around], tags * n_elements + around)
    )
    path_blocks, class_blocks = np.bincount(same_path)[same_path], np.bincount(same_class)[same_class]
    path_chars, class_chars = (np.bincount(group, chars)[group] for group in (same_path, same_class))
    class_links = np.bincount(same_class, link_chars)[same_class]
    return np.array(
        [
            depths[own] / 15, np.log1p(path_blocks), path_chars / max(chars.sum(), 1), np.log1p(path_chars / path_blocks),
            np.log1p(class_blocks), class_links / (class_chars + 1), np.log1p(class_chars / class_blocks),
            np.log1p(np.bincount(siblings)[siblings]), places.is_run,
        ]
    ).T  # fmt: skip


def _paths(places: Places) -> tuple[HashArray, IntArray]:
    """Return, for every element, a hash of its path of tag names, and its depth."""
    depths = np.arange(len(places.parents)) - places.n_ended
    # The hash is the sum, over the path's elements, of well-mixed bits of tag and depth, modulo
    # 2^64.
    steps = ((places.tag_numbers << _TAG_SHIFT) + depths).astype(np.uint64)
    for factor in _MIXERS:
        steps *= factor
        steps ^= steps >> _MIX_SHIFT
    return places.sums_above(steps), depths


def _flags_of(places: Places) -> IntArray:
    """Return, for each distinct start tag in order of appearance, the bits of its own tag group and
    name groups."""
    groups = {tag: 1 << bit for bit, group in enumerate(TAG_GROUPS) for tag in group.split()}
    tags = dict(zip(places.start_tags, places.tags, strict=True))
    bits = [
        groups.get(tag, 0) | of_names << len(TAG_GROUPS)
        for tag, of_names in zip(tags.values(), encode_names(list(tags)), strict=True)
    ]
    return np.array(bits, np.int64)


def _inherit_flags(flags: IntArray, parents: IntArray) -> IntArray:
    """Return, for every element, the combined bits of the element and all its ancestors. Pointer
    doubling needs only log2(depth) rounds."""
    flags, above = flags.copy(), parents
    while above.any():
        flags |= flags[above]
        above = above[above]
    return flags


def _bits(flags: IntArray) -> npt.NDArray[np.uint8]:
    """Return the bits of flags along a new last axis: tag groups first, then name groups."""
    bytes_of = flags.astype("<u8").view(np.uint8).reshape(*flags.shape, 8)
    return np.unpackbits(bytes_of, axis=-1, count=len(TAG_GROUPS) + len(NAME_GROUPS), bitorder="little")


def _inline_counts(tags: Sequence[str], inside: IntArray) -> FloatArray:
    groups = {tag: number for number, group in enumerate(INLINE_GROUPS) for tag in group.split()}
    kinds = np.fromiter(map(groups.get, tags, repeat(-1)), np.int64, len(tags))
    tag_places = np.flatnonzero(kinds >= 0)
    block = inside[:, 0].searchsorted(tag_places, side="right") - 1
    is_inside = tag_places < inside[block, 1]
    is_inside &= block >= 0
    n_groups = len(INLINE_GROUPS)
    counts = np.bincount(block[is_inside] * n_groups + kinds[tag_places[is_inside]], minlength=len(inside) * n_groups)
    return np.log1p(counts).reshape(-1, n_groups)
