"""A second opinion where the network promises little: other networks, taught on pages made harder,
are asked too.

Where a short article stands among many teasers, in the markup of 2008 or above readers' comments,
the network takes some of what is around along. Networks that were taught on such pages
(`dripper.train.crowded`, `antique`, `commented`) leave it out, but lose some lists. The mean of
both is better than either alone, and where the first is sure it changes nothing: so only the other
pages pay for it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.decode import decide, probabilities
from dripper.labels.cpu.focus import apply_focus
from dripper.labels.cpu.network import BlockSequence

# Of the expected F1. Asked on every page the others bring nothing more
# (docs/research/labeler_cpu.md); under 0.85 it is a quarter of articles.
DOUBTFUL = 0.85


def probability_with_second_opinion(
    logits: FloatArray,
    others: Callable[[], Sequence[FloatArray]],
    calibration: tuple[float, float],
    blocks: BlockSequence,
    words: IntArray,
) -> FloatArray:
    """Return the probability of main of every block, calibrated and focused, shape (n_blocks,).

    logits: of the network. others: returns those of the other networks, asked only where the labels
    that follow from the first are expected to reach less than DOUBTFUL; then all have the same
    voice. calibration: temperature and shift.
    """

    def probability_from(agreed: FloatArray) -> FloatArray:
        return apply_focus(probabilities(agreed, *calibration), words, blocks.starts, blocks.ends)

    probability = probability_from(logits)
    if not words.any() or decide(probability, words).expected_f1 >= DOUBTFUL:
        return probability
    # Logits stand on a grid, so their sum is exact and has no order.
    opinions = [logits, *others()]
    return probability_from(np.sum(opinions, axis=0) / len(opinions))
