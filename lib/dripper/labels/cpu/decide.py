"""Turns probabilities into labels, by choosing the set of blocks with the highest expected F1 (Ye
et al. 2012, "Optimizing F-measure"). Also classifies the page, and estimates the confidence of its
labels.

A linear layer computes the kind of page. Its inputs are means of the blocks' features and of the
network's states. Each mean is computed over blocks, over words, and over words weighted by the
probability of main. With means over blocks alone, a menu of a hundred links would outweigh one long
text. Other inputs are counts of elements and form fields, and the page's declared types.

A threshold of one half would maximise accuracy, but the goal is F1. On a page with many doubtful
blocks, such as a listing, it is better to mark all or none of them. The best set is always the k
most probable blocks for some k.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.arithmetic import snap
from dripper.labels.cpu.network import ACTIVATION_STEPS, Array

# Probabilities are rounded to multiples of 1/4096, so that the last bit of a machine's exp() cannot
# change a label.
PROBABILITY_STEPS = 4096
# Beyond this limit, the rounded probability is 0 or 1 anyway, and exp() could overflow.
LOGIT_LIMIT = 30.0
# Errors within a page are correlated: annotators leave out all items of a list or none. So we
# assume a normal error, with standard deviation 1.5, that all logits of a page share. The
# three-point Gauss-Hermite rule approximates this error by three pairs (factor for the odds,
# weight). The factors are 1 and exp(±1.5·√3). Held-out F1 is 0.8924 with this error and 0.8912
# without. With standard deviations of 1 and 2, F1 is 0.8920.
PAGE_DOUBTS = ((13.445, 1 / 6), (1.0, 2 / 3), (1 / 13.445, 1 / 6))

# ROUGE-5 compares sequences of five words. A wrong block costs its own words and up to eight
# sequences at its edges. Adding this number to the number of words of each block increases held-out
# ROUGE-5 F1 by 0.002. The mean over kinds of pages increases by 0.003.
EDGE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Decision:
    """The blocks that are main, shape (n_blocks,), and the expected F1 of this choice, 0 to 1. The
    F1 counts words and EDGE_WORDS, and is 0 if the page has no words."""

    main: npt.NDArray[np.bool_]
    expected_f1: float


def probabilities(logits: FloatArray, temperature: float = 1.0, shift: float = 0.0) -> FloatArray:
    """Convert logits to calibrated probabilities, rounded to multiples of 1/4096.

    A calibrated logit is (logit - shift) / temperature. Temperature and shift were fitted on
    validation pages.
    """
    probability = 1.0 / (1.0 + np.exp(-np.clip((logits - shift) / temperature, -LOGIT_LIMIT, LOGIT_LIMIT)))
    return np.rint(probability * PROBABILITY_STEPS) / PROBABILITY_STEPS


def decide(probability: FloatArray, words: IntArray, beta: float = 1.0, threshold: float | None = None) -> Decision:
    """Choose the labels with the highest expected F1 over words. A block without words, such as an
    image, is main if its probability is at least half of the best F1. For another beta, the bound
    is the best F-beta divided by 1 + beta². If `threshold` is given, the bound is `threshold`.

    If two sets have the same score, the smaller set wins. If two blocks have the same probability,
    the block that comes first on the page wins.

    Args:
        beta: The weight of recall relative to precision (F-beta).
        threshold: If given, blocks with at least this probability are main. The likeliest block
            with words is always main.
        probability: (n_blocks,), the probability of main.
        words: (n_blocks,), the number of words. The weight of a block with words is this number
            plus EDGE_WORDS.

    Expected F1 is approximated by the ratio of expectations, averaged over PAGE_DOUBTS.

    >>> decide(np.array([0.9, 0.2, 0.6]), np.array([10, 5, 30])).main
    array([ True, False,  True])
    """
    if not words.any():
        return Decision(probability >= (0.5 if threshold is None else threshold), 0.0)
    order = np.argsort(-probability, kind="stable")
    weights = np.where(words > 0, words + EDGE_WORDS, 0)[order]
    sizes, probability_in_order = np.cumsum(weights), probability[order]
    f1, focused = np.zeros(len(words)), np.zeros(len(words))
    for odds, weight in PAGE_DOUBTS:
        shifted = probability_in_order * odds / (1 - probability_in_order + probability_in_order * odds)
        hits = np.cumsum(shifted * weights)
        f1 += weight * 2 * hits / np.maximum(sizes + hits[-1], 1)
        if beta != 1.0:
            focused += weight * (1 + beta**2) * hits / np.maximum(sizes + beta**2 * hits[-1], 1)
    scores = f1 if beta == 1.0 else focused
    best = int(np.argmax(scores))
    if threshold is not None:
        best = max(int(np.count_nonzero(probability >= threshold)) - 1, int(np.argmax(weights > 0)))
    main = np.zeros(len(words), bool)
    main[order[: best + 1]] = True
    # The best set is close to the set of all blocks with a probability above half of the best F1
    # (Lipton et al. 2014). This rule decides blocks without words, such as images.
    cut = scores[best] / (1 + beta**2) if threshold is None else threshold
    return Decision(main | ((words == 0) & (probability >= cut)), float(f1[best]))


KINDS = (
    "article", "collection", "documentation", "form", "forum", "listing", "nothing", "other", "product", "recipe", "service",
)  # fmt: skip
"""Kinds of pages, in the order of the layer's columns. collection: a shop's list of products.
forum: threads, and questions with answers. other: portals, and pages that fit no other kind.
nothing: pages without main content, such as error pages and login walls."""

# The expected F1 is clipped to between 0.002 and 0.998, because 0 and 1 have no finite logit.
_SUREST = 0.998


@dataclass(slots=True)
class PageSummary:
    """Accumulates the means of the features and states of a page's blocks, window by window.

    >>> summary = PageSummary()
    >>> summary.add(np.array([3, 1]), np.array([1.0, 0.0]), np.array([[1.0], [3.0]]))
    >>> summary.means().tolist()
    [2.0, 1.5, 1.0]
    """

    sums: FloatArray | None = None
    """(3, 1 + n_columns), the sums over blocks, over words, and over words weighted by the
    probability of main. The first column has the sums of the weights."""

    def add(self, words: IntArray, probability: FloatArray, *columns: Array) -> None:
        """Add a window of blocks.

        Args:
            words: (n_blocks,), the number of words.
            probability: (n_blocks,), the network's probability of main, in multiples of 1/4096.
            columns: The features and states, each of shape (n_blocks, any number), in multiples of
                1/256.
        """
        # Sums of products of rounded values are exact, so the order of summation does not matter.
        weights = np.stack([np.ones(len(words)), words, words * probability])
        own = np.concatenate([weights.sum(axis=1, keepdims=True), *(weights @ each for each in columns)], axis=1)
        self.sums = own if self.sums is None else self.sums + own

    def means(self) -> FloatArray:
        """Return the means over blocks, over words and over main words, shape (3 · n_columns,), in
        multiples of 1/256. If there are no words, the means over words are 0. Raises ValueError if
        no blocks were added."""
        if self.sums is None:
            raise ValueError("a page of which nothing was added has no means")
        return np.asarray(snap((self.sums[:, 1:] / np.maximum(self.sums[:, :1], 1)).ravel()))


def classify(matrix: FloatArray, bias: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return the probability of each kind in KINDS, shape (n_kinds,), as multiples of 1/4096.

    Args:
        matrix: (n_inputs, n_kinds), in multiples of 1/1024.
        bias: (n_kinds,), in multiples of 1/1024.
        inputs: (n_inputs,), the page's inputs to the layer, in multiples of 1/256.
    """
    logits = inputs @ matrix + bias  # exact, because the factors are rounded
    odds = np.exp(logits - logits.max())
    return np.asarray(np.rint(odds / odds.sum() * PROBABILITY_STEPS) / PROBABILITY_STEPS)


def make_evidence(expected_f1: float, kinds: FloatArray) -> FloatArray:
    """Return the inputs of the logistic function that gives the confidence, shape (2 · n_kinds,).
    These are the probabilities of the kinds, and their products with the logit of the expected F1.

    Args:
        kinds: (n_kinds,), the probability of each kind.
    """
    bounded = min(max(expected_f1, 1 - _SUREST), _SUREST)
    logit = round(math.log(bounded / (1 - bounded)) * ACTIVATION_STEPS) / ACTIVATION_STEPS
    return np.concatenate([kinds, kinds * logit])


def estimate_confidence(coefficients: FloatArray, expected_f1: float, kinds: FloatArray) -> float:
    """Estimate the F1 of a page's labels from their expected F1 and the page's kind. Return the F1,
    0 to 1, as a multiple of 1/4096.

    Args:
        coefficients: (2 · n_kinds,), in multiples of 1/1024.
    """
    logit = float(make_evidence(expected_f1, kinds) @ coefficients)  # exact
    return round(PROBABILITY_STEPS / (1 + math.exp(-logit))) / PROBABILITY_STEPS
