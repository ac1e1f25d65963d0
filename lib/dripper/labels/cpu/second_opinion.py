"""Asks for a second opinion if the network is unsure: other networks, trained on harder pages, and
a focus on the container that holds most of the main content.

If a short article is among many teasers, in the markup of 2008 or above readers' comments, the
network takes some of its surroundings too. Networks that were trained on such pages
(`dripper_lab.train.crowded`, `antique`, `commented`) leave these out, but lose some lists. The mean
of both is better than either alone. If the first network is sure, the mean changes nothing, so only
the other pages pay for it.

The network sees containers and siblings, but decides each block alone. On a short article among
many teasers it takes the teasers for a list, and the decoder keeps the blocks that look likely.
Readability's one container (https://github.com/mozilla/readability) is right there and wrong on
lists and forums, so the focus lowers probabilities and cuts nothing.
"""

from collections.abc import Callable, Sequence

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.decide import decide, probabilities
from dripper.labels.cpu.network import BlockSequence

# Tried: shares of 0.35 to 0.85, odds of 2 to 50, several containers at once
# (docs/research/labeler_cpu.md). Of 0.5 and 0.6, 2 and 4, all help on held-out pages and on other
# collections; higher odds cost lists more than they bring.
MAIN_SHARE = 0.6
DOUBT = 4.0


def apply_focus(probability: FloatArray, words: IntArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return the probability of `main`, its odds divided by DOUBT outside the smallest container
    with MAIN_SHARE of the main words.

    Args:
        probability: (n_blocks,), of each block alone, multiples of 2^-12.
        words: (n_blocks,). A block counts by its words times its squared probability, so that
            certain blocks decide.
        starts, ends: (n_blocks, n_levels), the ranges of blocks in containers as in
            `network.BlockSequence`; the last level is the page.

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


# Of the expected F1. Asked on every page the others bring nothing more
# (docs/research/labeler_cpu.md); under 0.85 it is a quarter of articles.
DOUBTFUL = 0.85


def probability_with_second_opinion(
    logits: FloatArray,
    other_logits: Callable[[], Sequence[FloatArray]],
    calibration: tuple[float, float],
    blocks: BlockSequence,
    words: IntArray,
) -> FloatArray:
    """Return the probability of main of every block, calibrated and focused, shape (n_blocks,).

    The other networks are asked only if the labels that follow from the first are expected to
    reach less than DOUBTFUL. Then the logits of all networks count the same.

    Args:
        logits: Of the network, not calibrated.
        other_logits: Returns the logits of the other networks.
        calibration: Temperature and shift.
        blocks: The blocks of the page, with their containers.
        words: (n_blocks,), the number of words of each block.
    """

    def calibrate(agreed: FloatArray) -> FloatArray:
        return apply_focus(probabilities(agreed, *calibration), words, blocks.starts, blocks.ends)

    probability = calibrate(logits)
    if not words.any() or decide(probability, words).expected_f1 >= DOUBTFUL:
        return probability
    # Logits are on a grid, so their sum is exact and has no order.
    opinions = [logits, *other_logits()]
    return calibrate(np.sum(opinions, axis=0) / len(opinions))
