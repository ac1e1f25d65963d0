"""What kind of page it is (an article, a thread, a shop's product…), and how sure the labels of
such a page may be held for.

The kind is read by a linear layer from means of the blocks' features: over blocks, and over words,
so that a menu of a hundred links does not hide the one long text.
"""

import math
from dataclasses import dataclass

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.arithmetic import snap
from dripper.labels.cpu.decode import PROBABILITY_STEPS
from dripper.labels.cpu.network import ACTIVATION_STEPS, Array

KINDS = ("article", "documentation", "form", "forum", "listing", "nothing", "other", "product", "recipe", "service")
"""In the order of the layer's columns. forum: threads, questions with answers. listing: a shop's
collections too. other: portals, and what fits nowhere. nothing: no main content, as on error pages
and login walls."""

# An expected F1 of 0 or 1 has no logit.
_SUREST = 0.998


@dataclass(slots=True)
class PageSummary:
    """Means of a page's features, gathered window by window.

    >>> summary = PageSummary()
    >>> summary.add(np.array([[1.0], [3.0]]), np.array([3, 1]))
    >>> summary.means().tolist()
    [2.0, 1.5]
    """

    n_blocks: int = 0
    n_words: int = 0
    sums: FloatArray | None = None
    """(2, n_features): over blocks, over words."""

    def add(self, features: Array, words: IntArray) -> None:
        """Count more blocks. features: (n_blocks, n_features), standardised, on the grid."""
        # Sums of multiples of 1/256 are exact, so their order does not matter.
        own = np.stack([features.sum(axis=0), words.astype(np.float64) @ features])
        self.sums = own if self.sums is None else self.sums + own
        self.n_blocks, self.n_words = self.n_blocks + len(words), self.n_words + int(words.sum())

    def means(self) -> FloatArray:
        """Return the means over blocks, then over words (0 where there are none), shape
        (2 · n_features,), on the grid of activations. Raises ValueError where nothing was added."""
        if self.sums is None:
            raise ValueError("a page of which nothing was added has no means")
        means: FloatArray = (self.sums / np.array([[max(self.n_blocks, 1)], [max(self.n_words, 1)]])).ravel()
        return np.asarray(snap(means))


def kind_probabilities(matrix: FloatArray, bias: FloatArray, means: FloatArray) -> FloatArray:
    """Return the probability of each of KINDS, multiples of 1/4096; shape (n_kinds,).

    matrix: (2 · n_features, n_kinds), on the grid of weights, as bias is. means: of a
    `PageSummary`.
    """
    logits = means @ matrix + bias  # exact: products of two grids
    odds = np.exp(logits - logits.max())
    return np.asarray(np.rint(odds / odds.sum() * PROBABILITY_STEPS) / PROBABILITY_STEPS)


def evidence_of_f1(expected_f1: float, kinds: FloatArray) -> FloatArray:
    """Return what the confidence is a logistic function of: the kinds' probabilities, and these
    times the logit of the F1 that the decoder expects; shape (2 · n_kinds,), kinds: (n_kinds,)."""
    bounded = min(max(expected_f1, 1 - _SUREST), _SUREST)
    logit = round(math.log(bounded / (1 - bounded)) * ACTIVATION_STEPS) / ACTIVATION_STEPS
    return np.concatenate([kinds, kinds * logit])


def confidence_of(coefficients: FloatArray, expected_f1: float, kinds: FloatArray) -> float:
    """Return the F1 that such labels of such pages have reached, 0 to 1, a multiple of 1/4096.

    coefficients: (2 · n_kinds,), on the grid of weights.
    """
    said = float(evidence_of_f1(expected_f1, kinds) @ coefficients)  # exact
    return round(PROBABILITY_STEPS / (1 + math.exp(-said))) / PROBABILITY_STEPS
