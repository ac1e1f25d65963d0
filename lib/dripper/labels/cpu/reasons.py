"""Explains the decisions of the `cpu` labeler, by computing the odds of each block without one
group of features.

For each group, the network runs again with the group's features set to their means over the
training pages. This is done for all blocks of the page at the same time. The difference of the log
odds is the group's evidence: a positive difference is evidence for main, a negative difference is
evidence against. The differences of all groups do not add up to the log odds, because groups
overlap: for example, a link in a menu affects the groups for links, tags and place. Only the first
network is used, without the second opinion and the focus (see `second_opinion`).
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.cpu.network import Array, Operations, forward
from dripper.labels.cpu.weights import Weights

GROUPS: Mapping[str, Sequence[str]] = {
    "links": ("links", "link_share", "same_class_links", "alike_links", "list_links", "top_links", "holds_a"),
    "title and metadata": ("of_title", "title_covered", "in_description", "in_json_ld"),
    "kind of page": ("page_", "is_article", "is_product", "is_forum", "is_list", "is_website", "has_"),
    "cue words": ("cue_", "under_", "since_comments", "since_related"),
    "class names": ("named_", "near_"),
    "repetition": ("copied_", "seen_", "log_same_", "same_", "siblings_alike", "alike", "list_", "in_list"),
    "place on the page": (
        *("position", "chars_before", "from_", "since_", "until_", "share", "blocks", "depth"),
        *("votes", "in_top", "top_share", "before_top", "after_top"),
    ),
    "tags": ("in_", "own_", "holds_", "heading_level", "is_run"),
    "length and punctuation": (
        *("log_chars", "log_words", "chars_per_word", "punctuation", "sentences", "commas", "ends_", "starts_upper"),
        *("log_lines", "no_words"),
    ),
    "words and letters": (
        *("digits", "upper", "unspaced", "other_letters", "date", "frequent_words", "short_words", "distinct_words"),
    ),
}
"""Maps feature groups to prefixes of feature names. A feature belongs to the first group with a
matching prefix."""


def find_group(feature: str) -> str:
    """Return the group of a feature.

    >>> find_group("links0"), find_group("in_list"), find_group("in_nav")
    ('links', 'repetition', 'tags')
    """
    return next(group for group, starts in GROUPS.items() if feature.startswith(tuple(starts)))


@cache
def _list_columns() -> Mapping[str, Sequence[int]]:
    """Return the feature columns of each group."""
    return {group: [at for at, name in enumerate(NAMES) if find_group(name) == group] for group in GROUPS}


def weigh_groups(weights: Weights, features: Array, do: Operations) -> Mapping[str, FloatArray]:
    """Return an array of evidence for each group, in log odds, shape (n_blocks,). Positive numbers
    are evidence that a block is main. Groups are in the order of GROUPS.

    The network runs once for each group.

    Args:
        features: (n_blocks, n_features), standardised, in multiples of 1/256.
        do: The operations for the page (see `network`).
    """

    def logits(values: Array) -> FloatArray:
        return np.asarray(forward(weights.exact, weights.shape, values, do), np.float64)

    all_logits = logits(features.copy())
    log_odds = {}
    for group, columns in _list_columns().items():
        without = features.copy()
        without[:, columns] = 0
        log_odds[group] = (all_logits - logits(without)) / weights.temperature
    return log_odds
