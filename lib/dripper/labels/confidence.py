"""How good a choice of blocks can be expected to be."""

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, IntArray


def expected_f1(main: npt.NDArray[np.bool_], probability: FloatArray, words: IntArray) -> float:
    """Return the F1 over words that a choice of blocks is expected to reach, as the ratio of
    expectations, 0 to 1; 0 where the page has no words.

    All: (n_blocks,): which blocks were chosen, the probability of each to be main, and its words.

    >>> expected_f1(np.array([True, False]), np.array([1.0, 0.5]), np.array([10, 10]))
    0.8
    """
    hits = float((probability * words)[main].sum())
    size = float(words[main].sum() + (probability * words).sum())
    return 2 * hits / size if size else 0.0
