"""From probabilities to labels: the set of blocks with the highest expected F1 (Ye et al. 2012,
"Optimizing F-measure").

A threshold of one half maximises accuracy. F1 is another goal: on a page of many doubtful blocks (a
listing) it pays to take all of them or none. With blocks weighed by their words, the best set is
always the k most probable blocks.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, IntArray

# Probabilities are rounded to this grid, so that the last bit of a machine's exp() cannot turn a
# label.
PROBABILITY_STEPS = 4096
# Beyond it the probability is 0 or 1 on that grid anyway, and exp() could overflow.
LOGIT_LIMIT = 30.0
# Errors of a page's blocks go together: if the page is a list whose items annotators leave out, all
# of them are. So the logits of a page share a doubt, normal with deviation 1.5, as the three points
# of its Gauss-Hermite rule: factors of the odds (exp(±1.5·√3)) with weights. Held-out F1 0.8924
# where blocks without it gave 0.8912; 1 and 2 gave 0.8920.
PAGE_DOUBTS = ((13.445, 1 / 6), (1.0, 2 / 3), (1 / 13.445, 1 / 6))

# A block that is wrong costs more than its words where sequences of words are compared (ROUGE-5):
# at its edges up to eight sequences of five. Held-out ROUGE-5 F1 +0.002, over kinds +0.003.
EDGE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Decision:
    """main: (n_blocks,) bool. expected_f1: of `main`, 0 to 1, over words and edges; 0 where the
    page has no words."""

    main: npt.NDArray[np.bool_]
    expected_f1: float


def probabilities(logits: FloatArray, temperature: float = 1.0, shift: float = 0.0) -> FloatArray:
    """Return calibrated probabilities, shaped as the logits, as multiples of 1/4096.

    temperature and shift: fitted on validation pages; the logit becomes (logit - shift) /
    temperature.
    """
    probability = 1.0 / (1.0 + np.exp(-np.clip((logits - shift) / temperature, -LOGIT_LIMIT, LOGIT_LIMIT)))
    return np.rint(probability * PROBABILITY_STEPS) / PROBABILITY_STEPS


def decide(probability: FloatArray, words: IntArray) -> Decision:
    """Return the labels of highest expected F1 over words; blocks without words (images) go by the
    same cut.

    probability: (n_blocks,) of main. words: (n_blocks,) number of words: with EDGE_WORDS, the
    weight of a block. The expectation of F1 is taken as the ratio of expectations, mixed over
    PAGE_DOUBTS. Ties go to the smaller set, and within it to the earlier block.

    >>> decide(np.array([0.9, 0.2, 0.6]), np.array([10, 5, 30])).main
    array([ True, False,  True])
    """
    if not words.any():
        return Decision(probability >= 0.5, 0.0)
    order = np.argsort(-probability, kind="stable")
    weights = np.where(words > 0, words + EDGE_WORDS, 0)[order]
    sizes, probability_in_order = np.cumsum(weights), probability[order]
    f1 = np.zeros(len(words))
    for odds, weight in PAGE_DOUBTS:
        shifted = probability_in_order * odds / (1 - probability_in_order + probability_in_order * odds)
        hits = np.cumsum(shifted * weights)
        f1 += weight * 2 * hits / np.maximum(sizes + hits[-1], 1)
    best = int(np.argmax(f1))
    main = np.zeros(len(words), bool)
    main[order[: best + 1]] = True
    # The best set is close to "every block above half of the best F1" (Lipton et al. 2014): the
    # rule for blocks that have no words to count, as images.
    return Decision(main | ((words == 0) & (probability >= f1[best] / 2)), float(f1[best]))
