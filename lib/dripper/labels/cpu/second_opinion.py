"""Asks other networks, trained on harder pages, for a second opinion if the network is unsure. Also
focuses on the container with most of the main content.

If a short article is among many teasers, in markup from 2008, or above readers' comments, the
network also marks some of its surroundings. Networks that were trained on such pages
(`dripper_lab.train.crowded`, `antique`, `commented`) leave the surroundings out, but lose some
lists. The mean of all networks is better than either kind alone. If the first network is sure, the
mean changes nothing, so it is computed only for the other pages.

The network sees containers and siblings, but scores each block alone. If a short article is among
many teasers, it takes the teasers for a list, and the decision keeps the blocks that look likely.
Choosing a single container, as Readability does (https://github.com/mozilla/readability), is right
for such pages but wrong for lists and forums. So the focus lowers probabilities, but removes no
blocks.
"""

from collections.abc import Callable, Sequence

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.decide import decide, probabilities
from dripper.labels.cpu.network import BlockSequence

# Shares from 0.35 to 0.85, odds from 2 to 50, and several containers at a time were tried
# (docs/research/labeler_cpu.md). Shares of 0.5 and 0.6 with odds of 2 and 4 all help on held-out
# pages and on other collections. Higher odds lose more on lists than they gain.
MAIN_SHARE = 0.6
DOUBT = 4.0


def apply_focus(probability: FloatArray, words: IntArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return the probability of `main`, after dividing the odds by DOUBT outside the smallest
    container with MAIN_SHARE of the main words.

    Args:
        probability: (n_blocks,), each block's own probability of main, in multiples of 2^-12.
        words: (n_blocks,), the number of words. A block's weight is its words times its squared
            probability, so that certain blocks decide.
        starts, ends: (n_blocks, n_levels), the ranges of blocks in containers as in
            `network.BlockSequence`; the last level is the page.

    >>> probability, words = np.array([0.75, 0.75, 0.5]), np.array([50, 60, 5])
    >>> starts, ends = np.array([[0, 0], [0, 0], [2, 0]]), np.array([[2, 3], [2, 3], [3, 3]])
    >>> apply_focus(probability, words, starts, ends)
    array([0.75, 0.75, 0.2 ])
    """
    if not words.any():
        return probability
    # These sums of multiples of 2^-24 are exact below 2^28 words, and so the same on every machine.
    expected = np.concatenate([[0.0], np.cumsum(probability * probability * words)])
    first, end = starts.ravel(), ends.ravel()
    holding = np.flatnonzero(expected[end] - expected[first] >= MAIN_SHARE * expected[-1])
    smallest = holding[np.argmin((end - first)[holding])]
    doubted = probability / (probability + DOUBT * (1 - probability))
    inside = slice(first[smallest], end[smallest])
    doubted[inside] = probability[inside]
    return doubted


# Expected F1 below which the other networks are asked: on a quarter of articles. Asking them on
# every page gains nothing more (docs/research/labeler_cpu.md).
DOUBTFUL = 0.85


def probability_with_second_opinion(
    logits: FloatArray,
    other_logits: Callable[[], Sequence[FloatArray]],
    calibration: tuple[float, float],
    blocks: BlockSequence,
    words: IntArray,
) -> FloatArray:
    """Return the calibrated and focused probability of main for every block, shape (n_blocks,).

    The other networks are asked only if the expected F1 of the first network's labels is below
    DOUBTFUL. Then the logits of all networks count equally.

    Args:
        logits: (n_blocks,), the first network's uncalibrated logits.
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
    # Logits are on a grid, so their sum is exact in any order.
    opinions = [logits, *other_logits()]
    return calibrate(np.sum(opinions, axis=0) / len(opinions))
