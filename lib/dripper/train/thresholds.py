"""The probability above which a block is main, chosen on pages that the model did not see."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.train.truth import Truth


class Choice(NamedTuple):
    """The threshold of the highest mean F1 over words, and that of one half."""

    threshold: float
    f1: float
    f1_at_half: float


def choose_threshold(truths: Sequence[Truth], said: Sequence[FloatArray], thresholds: Sequence[float]) -> Choice:
    """Return the best of some thresholds. said: the probabilities of each page's blocks."""

    def f1(threshold: float) -> float:
        return float(np.mean([truth.f1(page > threshold) for truth, page in zip(truths, said, strict=True)]))

    best = max(thresholds, key=f1)
    return Choice(best, f1(best), f1(0.5))
