"""Features of the blocks' places: ancestors, their class names, links and other inline elements, repeated structure.

Elements are integers in document order (see `dripper.html.tree`), so a subtree is a range, and counts over subtrees are
differences of running sums. Nothing here loops over pairs of blocks or over depths: cost is linear in elements and blocks.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dripper.html.tree import Tree
from dripper.labels.places import LEVELS, Places

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

TAG_GROUPS = (
    "nav", "header", "footer", "aside", "article", "main", "form", "li ul ol dt dl menu", "table", "blockquote", "h1", "h2",
    "h3", "h4 h5 h6", "p", "pre", "figcaption figure", "noscript", "button label", "section", "dd", "td th", "address", "div",
    "details", "body",
)  # fmt: skip
"""Elements whose presence among a block's ancestors is a feature, those of one group together."""

NAME_GROUPS: dict[str, str] = {
    "comment": r"comment|disqus|repl(?:y|ies)|respond|discuss",
    "navigation": r"nav|menu|bread-?crumb|pagination|pager",
    "foot": r"foot|copyright|legal|colophon",
    "side": r"side|rail|widget|right-?col|column-?right|aside",
    "share": r"share|social|follow|tweet|facebook",
    "related": r"relat|recommend|more-|popular|trending|also|teaser|promo|latest|carousel|suggest",
    "body": r"articlebody|(?:entry|post|article|story|page|main)[-_]?(?:content|body|text)|content|body|text|entry|prose",
    "article": r"article|story|post|main|blog|news",
    "title": r"title|headline|heading",
    "byline": r"author|byline|meta|date|time|info|published|user|avatar|profile|signature",
    "advertisement": r"advert|banner|sponsor|\bads?\b|outbrain|taboola",
    "consent": r"cookie|consent|gdpr|newsletter|subscri|sign-?up|log-?in|modal|popup|paywall|overlay",
    "tags": r"tag|categor|topic|label|keyword",
    "caption": r"caption|image|photo|gallery|figure|media|video",
    "hidden": r"hidden|sr-only|screen-reader|visually|collapse",
    "thread": r"message|thread|forum|quote|answer|question|bbcode",
    "product": r"product|price|cart|shop|spec|sku|item",
    "list": r"list|grid|card|archive|result|feed|tile",
    "description": r"descri|summary|excerpt|lead|intro|detail|overview|about|hero",
    "review": r"review|rating|testimonial|faq|accordion|tab",
}
"""What class, id, role and itemprop values tell: English words that sites of every language use in their markup."""
_NAMED = re.compile(r'\s(?:class|id|role|itemprop)="([^"]*)"')
_NAME = re.compile("|".join(f"({pattern})" for pattern in NAME_GROUPS.values()), re.IGNORECASE)
# Generated class lists run to kilobytes; what names an element stands at their beginning.
_NAME_CHARS = 200

INLINE_GROUPS = (
    "a",
    "b strong",
    "em i",
    "img picture video iframe",
    "br",
    "code kbd samp",
    "span",
    "input button select",
)
"""Elements counted inside each block."""

NAMES = (
    *(f"{what}{level}" for level in range(LEVELS) for what in ("share", "links", "blocks")), "link_share", "depth",
    "log_same_path", "same_path_share", "same_path_mean", "log_same_class", "same_class_links", "same_class_mean",
    "siblings_alike", "is_run",
    *(f"in_{group.split()[0]}" for group in TAG_GROUPS), *(f"own_{group.split()[0]}" for group in TAG_GROUPS),
    *(f"named_{name}" for name in NAME_GROUPS), *(f"near_{name}" for name in NAME_GROUPS),
    *(f"holds_{group.split()[0]}" for group in INLINE_GROUPS),
)  # fmt: skip


def tree_features(places: Places, chars: FloatArray, link_chars: FloatArray) -> FloatArray:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)).

    chars, link_chars: (n_blocks,), length of each block's text, and of the part of it in links.
    """
    own = places.elements
    flags = _flags_of(places.tree)
    inherited = _inherited(flags, places.parents)
    near = flags[own] | flags[places.containers[:, 0]] | flags[places.containers[:, 1]]
    n_tags, n_names = len(TAG_GROUPS), len(NAME_GROUPS)
    return np.concatenate(
        [
            _container_features(places, chars, link_chars),
            _repetition_features(places, chars, link_chars),
            _bits(inherited[own], 0, n_tags), _bits(flags[own], 0, n_tags),
            _bits(inherited[own], n_tags, n_names), _bits(near, n_tags, n_names),
            _inline_counts(places),
        ],
        axis=1,
    )  # fmt: skip


def _container_features(places: Places, chars: FloatArray, link_chars: FloatArray) -> FloatArray:
    """Share of the page's text, link density and number of blocks of each container; the block's own link density."""
    sums, link_sums = (np.concatenate([[0.0], np.cumsum(values)]) for values in (chars, link_chars))
    inside = sums[places.ends] - sums[places.starts]
    links = link_sums[places.ends] - link_sums[places.starts]
    levels = [np.log(inside / max(sums[-1], 1) + 1e-3), links / (inside + 1), np.log1p(places.ends - places.starts)]
    own = (link_chars / np.maximum(chars, 1))[:, None]
    return np.concatenate([np.stack(levels, axis=2).reshape(len(chars), -1), own], axis=1)


def _repetition_features(places: Places, chars: FloatArray, link_chars: FloatArray) -> FloatArray:
    """How many blocks stand on the same path of tags, or in equal start tags, and how long and linked those are."""
    tree = places.tree
    paths, depths = _paths(tree)
    own: list[int] = places.elements.tolist()
    around = places.containers[:, 0].tolist()
    same_path = _group([paths[element] for element in own])
    same_class = _group([(tree.start_tag(i), tree.start_tag(j)) for i, j in zip(own, around, strict=True)])
    siblings = _group([(tree.tags[i], j) for i, j in zip(own, around, strict=True)])
    path_blocks, class_blocks = np.bincount(same_path)[same_path], np.bincount(same_class)[same_class]
    path_chars, class_chars = (np.bincount(group, chars)[group] for group in (same_path, same_class))
    class_links = np.bincount(same_class, link_chars)[same_class]
    return np.stack(
        [
            depths[own] / 15, np.log1p(path_blocks), path_chars / max(chars.sum(), 1), np.log1p(path_chars / path_blocks),
            np.log1p(class_blocks), class_links / (class_chars + 1), np.log1p(class_chars / class_blocks),
            np.log1p(np.bincount(siblings)[siblings]), places.is_run,
        ],
        axis=1,
    )  # fmt: skip


def _paths(tree: Tree) -> tuple[list[int], FloatArray]:
    """Return, for every element, a number that equal paths of tag names share, and its depth."""
    numbers: dict[tuple[int, str], int] = {}
    paths: list[int] = []
    depths: list[int] = []
    for parent, tag in zip(tree.parents, tree.tags, strict=True):
        above, depth = (paths[parent], depths[parent] + 1) if parent >= 0 else (-1, 0)
        paths.append(numbers.setdefault((above, tag), len(numbers)))
        depths.append(depth)
    return paths, np.array(depths, np.float64)


def _group(keys: Sequence[object]) -> IntArray:
    """Return a small number for each key, equal for equal keys."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _flags_of(tree: Tree) -> IntArray:
    """Return, for every element, the bits of its own tag group and name groups; looks at each distinct tag once."""
    groups = {tag: 1 << bit for bit, group in enumerate(TAG_GROUPS) for tag in group.split()}
    bits = {start_tag: groups.get(name, 0) | _name_bits(start_tag) for start_tag, name in tree.names.items()}
    return np.array([bits[tree.parts[index]] for index in tree.opens], np.int64)


def _name_bits(start_tag: str) -> int:
    bits = 0
    for values in _NAMED.findall(start_tag):
        for match in _NAME.finditer(values, 0, _NAME_CHARS):
            bits |= 1 << (len(TAG_GROUPS) + (match.lastindex or 1) - 1)
    return bits


def _inherited(flags: IntArray, parents: IntArray) -> IntArray:
    """Return the bits of every element and all its ancestors: pointers double, so the rounds are log2 of the depth."""
    flags = flags.copy()
    above = np.maximum(parents, 0)
    while above.any():
        flags |= flags[above]
        above = above[above]
    return flags


def _bits(flags: IntArray, first: int, count: int) -> FloatArray:
    return (flags[:, None] >> np.arange(first, first + count) & 1).astype(np.float64)


def _inline_counts(places: Places) -> FloatArray:
    groups = {tag: number for number, group in enumerate(INLINE_GROUPS) for tag in group.split()}
    kinds = np.array([groups.get(tag, -1) for tag in places.tree.tags])
    counts = []
    for number in range(len(INLINE_GROUPS)):
        sums = np.concatenate([[0], np.cumsum(kinds == number)])
        counts.append(np.log1p(sums[places.lasts] - sums[places.firsts]))
    return np.stack(counts, axis=1)
