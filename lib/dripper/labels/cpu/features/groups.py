"""Computes features that compare parts of a page: paragraphs' votes for their containers, repeated
siblings, and the headings above a block.

A network that sees a window of blocks could learn these features itself, but 2,300 training pages
are too few for that.
"""

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, stack_columns
from dripper.labels.cpu.features.places import FARTHEST, LEVELS, Places
from dripper.labels.cpu.features.vocabulary import CUES

VOTE_LEVELS = 3
# Readability (Arc90, 2009; https://github.com/mozilla/readability): paragraphs of at least 25
# characters vote for their container with one point, one more per comma, and one more per hundred
# characters (at most three). They vote half as much for the container above, and less for further
# ancestors.
_VOTER_CHARS = 25
_DIVISORS = (1.0, 2.0, 6.0, 9.0, 12.0)

GROUP_LEVELS = 4
# Two similar siblings can be a header and a footer, or two columns. Three are a list.
LEAST_ALIKE = 3
# A heading or a button that introduces comments or links to other pages is short; a sentence that
# mentions them is not.
ANNOUNCEMENT_CHARS = 40

NAMES = (
    *(f"votes{level}" for level in range(VOTE_LEVELS)), "in_top", "top_share", "top_links", "before_top", "after_top",
    *(f"{what}{level}" for level in range(GROUP_LEVELS) for what in ("alike", "alike_chars", "alike_links")),
    "in_list", "list_share", "list_place", "list_chars", "list_links", "list_members",
    *(f"under_{name}" for name in CUES), "since_comments", "since_related",
)  # fmt: skip


def compute_group_features(
    places: Places,
    chars: FloatArray,
    link_chars: FloatArray,
    commas: FloatArray,
    cues: FloatArray,
    is_heading: npt.NDArray[np.bool_],
) -> FloatArray:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)).

    Args:
        chars, link_chars, commas: (n_blocks,), the number of characters, of characters in links,
            and of commas in each block's text.
        cues: (n_blocks, len(CUES)), 1 if a block's text has a cue of this kind, otherwise 0.
        is_heading: (n_blocks,), whether each block is a heading.
    """
    chars_in, links_in = places.sums_in(chars), places.sums_in(link_chars)
    return np.concatenate(
        [
            _count_votes(places, chars, link_chars, commas, chars_in, links_in),
            _compare_siblings(places, chars_in, links_in),
            _trace_announcements(chars, cues, is_heading),
        ],
        axis=1,
    )


def _count_votes(
    places: Places,
    chars: FloatArray,
    link_chars: FloatArray,
    commas: FloatArray,
    chars_in: FloatArray,
    links_in: FloatArray,
) -> FloatArray:
    """Return the votes for each block's containers, as fractions of the votes for the winning
    container. Also return the winner's position, text and links."""
    index = np.arange(len(chars))
    points = (
        (1 + commas + np.minimum(chars // 100, 3)) * (1 - link_chars / np.maximum(chars, 1)) * (chars >= _VOTER_CHARS)
    )
    votes = np.zeros(len(places.parents))
    for level in range(LEVELS):
        votes += np.bincount(places.containers[:, level], points / _DIVISORS[level], len(votes))
    votes *= 1 - links_in / np.maximum(chars_in, 1)
    top = int(np.argmax(votes))
    start, end = places.starts_in[top], places.ends_in[top]
    columns = (
        *(votes / (votes[top] + 1))[places.containers[:, :VOTE_LEVELS].T],
        (index >= start) & (index < end), chars_in[top] / max(chars_in[0], 1), links_in[top] / max(chars_in[top], 1),
        np.log1p(np.clip(start - index, 0, FARTHEST)), np.log1p(np.clip(index - end + 1, 0, FARTHEST)),
    )  # fmt: skip
    return stack_columns(columns, len(chars))


def _compare_siblings(places: Places, chars_in: FloatArray, links_in: FloatArray) -> FloatArray:
    """For each container of a block, return features of the container's siblings with the same tag:
    their number, mean length and fraction of link text. Also return the block's position in the
    page's main list, which is the group of siblings with the most unlinked text."""
    n_elements, n_blocks = len(places.parents), len(places.elements)
    group = places.tag_numbers * n_elements + places.parents
    _, group = np.unique(group, return_inverse=True)
    members = np.bincount(group)
    group_chars, group_links = np.bincount(group, chars_in), np.bincount(group, links_in)
    shapes = [np.log1p(members), np.log1p(group_chars / members), group_links / (group_chars + 1)]
    around = np.stack(shapes, axis=1)[group[places.containers[:, :GROUP_LEVELS]]].reshape(n_blocks, -1)
    # The group with the most unlinked text, among groups with enough members.
    plain = np.where(members >= LEAST_ALIKE, group_chars - group_links + 1, 0.0)
    if not plain.any():
        return np.concatenate([around, np.zeros((n_blocks, 6))], axis=1)
    top = int(np.argmax(plain))
    own_members = np.flatnonzero(group == top)
    index = np.arange(n_blocks)
    member = np.maximum(np.searchsorted(places.starts_in[own_members], index, side="right") - 1, 0)
    element = own_members[member]
    inside = (places.starts_in[element] <= index) & (index < places.ends_in[element])
    columns = (
        inside, group_chars[top] / max(chars_in[0], 1), np.where(inside, (member + 1) / len(own_members), 0),
        np.log1p(group_chars[top] / len(own_members)), group_links[top] / (group_chars[top] + 1),
        np.log1p(len(own_members)),
    )  # fmt: skip
    return np.concatenate([around, stack_columns(columns, n_blocks)], axis=1)


def _trace_announcements(chars: FloatArray, cues: FloatArray, is_heading: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the cues of the heading above a block, and the distance to the last block that
    introduces comments or links to other pages."""
    n_blocks = len(chars)
    index = np.arange(n_blocks)
    above = np.maximum.accumulate(np.where(is_heading, index, -1))
    under = np.where(above[:, None] >= 0, cues[above], 0.0)
    since = []
    for name in ("comments", "related"):
        announces = (cues[:, list(CUES).index(name)] > 0) & (chars <= ANNOUNCEMENT_CHARS)
        last = np.maximum.accumulate(np.where(announces, index, -1))
        since.append(np.where(last >= 0, 1 / (1 + np.log1p(np.minimum(index - last, FARTHEST))), 0.0))
    return np.concatenate([under, np.stack(since, axis=1)], axis=1)
