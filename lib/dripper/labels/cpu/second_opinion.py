"""Gets a second opinion from other networks, trained on harder pages, if the first network is
unsure. Also focuses on the container with most of the main content.

If a short article is surrounded by many teasers, written in markup from 2008, or followed by
readers' comments, the first network also marks some of the surroundings. Networks that were trained
on such pages (`dripper_lab.train.crowded`, `antique`, `commented`) leave the surroundings out, but
miss some lists. The mean of all networks is better than either kind alone. If the first network is
sure of a page, the mean gains nothing, so the mean is not computed.

The network sees containers and siblings, but scores each block separately. If a short article is
among many teasers, the network treats the teasers as a list, and marks some of them as main.
Choosing a single container, as in Readability (https://github.com/mozilla/readability), is right
for such pages, but wrong for lists and forums. Therefore the focus does not drop the blocks outside
the container, and only lowers their probabilities.
"""

from collections.abc import Callable, Sequence

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.decide import decide, probabilities
from dripper.labels.cpu.network import BlockSequence

# We tried MAIN_SHARE from 0.35 to 0.85, DOUBT from 2 to 50, and several containers at a time
# (docs/research/labeler_cpu.md). All combinations of a MAIN_SHARE of 0.5 or 0.6 and a DOUBT of 2 or
# 4 help on held-out pages and on other collections. With a higher DOUBT, lists lose more than other
# pages gain.
MAIN_SHARE = 0.6
DOUBT = 4.0


def apply_focus(probability: FloatArray, words: IntArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Divide the odds of main by DOUBT in blocks outside the page's focus. The focus is the
    smallest container that has at least MAIN_SHARE of the main words. Return the new probabilities.

    Args:
        probability: (n_blocks,), each block's probability of main, in multiples of 2^-12.
        words: (n_blocks,), the number of words. The weight of a block is its number of words times
            its squared probability, so blocks that are almost certainly main have the most
            influence.
        starts, ends: (n_blocks, n_levels), the ranges of blocks in containers, as in
            `network.BlockSequence`. The last level is the page.

    >>> probability, words = np.array([0.75, 0.75, 0.5]), np.array([50, 60, 5])
    >>> starts, ends = np.array([[0, 0], [0, 0], [2, 0]]), np.array([[2, 3], [2, 3], [3, 3]])
    >>> apply_focus(probability, words, starts, ends)
    array([0.75, 0.75, 0.2 ])
    """
    if not words.any():
        return probability
    # Up to 2^28 words, these sums of multiples of 2^-24 are exact, and therefore the same on every
    # machine.
    expected = np.concatenate([[0.0], np.cumsum(probability * probability * words)])
    first, end = starts.ravel(), ends.ravel()
    holding = np.flatnonzero(expected[end] - expected[first] >= MAIN_SHARE * expected[-1])
    smallest = holding[np.argmin((end - first)[holding])]
    doubted = probability / (probability + DOUBT * (1 - probability))
    inside = slice(first[smallest], end[smallest])
    doubted[inside] = probability[inside]
    return doubted


# The other networks run if the expected F1 is below this number, as it is for a quarter of
# articles. Running them on every page gains nothing more (docs/research/labeler_cpu.md).
DOUBTFUL = 0.85


def probability_with_second_opinion(
    logits: FloatArray,
    other_logits: Callable[[], Sequence[FloatArray]],
    calibration: tuple[float, float],
    blocks: BlockSequence,
    words: IntArray,
) -> FloatArray:
    """Return the calibrated and focused probability of main for every block, shape (n_blocks,).

    If the expected F1 of the first network's labels is below DOUBTFUL, the other networks run too,
    and the mean of all logits is used.

    Args:
        logits: (n_blocks,), the first network's uncalibrated logits.
        other_logits: Returns the logits of the other networks.
        calibration: Temperature and shift.
        blocks: The blocks of the page. Only their containers are used.
        words: (n_blocks,), the number of words of each block.
    """

    def calibrate(agreed: FloatArray) -> FloatArray:
        return apply_focus(probabilities(agreed, *calibration), words, blocks.starts, blocks.ends)

    probability = calibrate(logits)
    if not words.any() or decide(probability, words).expected_f1 >= DOUBTFUL:
        return probability
    # Logits are multiples of 1/256, so their sum is exact in any order.
    opinions = [logits, *other_logits()]
    return calibrate(np.sum(opinions, axis=0) / len(opinions))
