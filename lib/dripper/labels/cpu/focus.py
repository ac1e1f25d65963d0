"""Main content stands in one place: blocks outside the container that holds most of it are held for
less likely.

The network sees containers and siblings, but speaks of each block alone. On a short article among
many teasers it takes the teasers for a list, and the decoder takes what the network holds for
likely. Readability's one container (https://github.com/mozilla/readability) is right there, and
wrong on lists and forums: so this is a doubt, not a cut.
"""

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray

# Tried: shares of 0.35 to 0.85, odds of 2 to 50, several containers at once
# (docs/research/labeler_cpu.md). Of 0.5 and 0.6, 2 and 4, all help on held-out pages and on other
# collections; higher odds cost lists more than they bring.
MAIN_SHARE = 0.6
DOUBT = 4.0


def apply_focus(
    probability: FloatArray,
    words: IntArray,
    starts: IntArray,
    ends: IntArray,
) -> FloatArray:
    """Return the probability of `main`, its odds divided by DOUBT outside the smallest container
    with MAIN_SHARE of the main words.

    probability: (n_blocks,), of each block alone, multiples of 2^-12. words: (n_blocks,). A block
    counts by its words times its squared probability, so that what is certain says where. starts,
    ends: (n_blocks, n_levels), the ranges of blocks in containers as in `network.BlockSequence`;
    the last level is the page.

    >>> probability, words = np.array([0.75, 0.75, 0.5]), np.array([50, 60, 5])
    >>> starts, ends = np.array([[0, 0], [0, 0], [2, 0]]), np.array([[2, 3], [2, 3], [3, 3]])
    >>> apply_focus(probability, words, starts, ends)
    array([0.75, 0.75, 0.2 ])
    """
    if not words.any():
        return probability
    # Exact, so the same on every machine: sums of multiples of 2^-24, below 2^28 words.
    expected = np.concatenate([[0.0], np.cumsum(probability * probability * words)])
    first, end = starts.ravel(), ends.ravel()
    holding = np.flatnonzero(expected[end] - expected[first] >= MAIN_SHARE * expected[-1])
    smallest = holding[np.argmin((end - first)[holding])]
    doubted = probability / (probability + DOUBT * (1 - probability))
    inside = slice(first[smallest], end[smallest])
    doubted[inside] = probability[inside]
    return doubted
