"""The mix of kinds of pages that a network learns from.

Two thirds of the training pages are articles. Taught on them as they are, a network reads a shop's
page as if it were one; with as many of each kind it forgets articles.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray


def turns_an_epoch(kinds: Sequence[str], balance: float) -> FloatArray:
    """Return how often each page comes in an epoch, on average; shape (n_pages,), mean 1.

    kinds: of each page. balance: 0 to 1; a kind of n pages has n^(1 - balance) turns, in
    proportion.

    >>> turns_an_epoch(["article", "article", "article", "article", "forum"], 0.5).round(2).tolist()
    [0.83, 0.83, 0.83, 0.83, 1.67]
    """
    counts = Counter(kinds)
    turns = np.array([float(counts[kind]) ** -balance for kind in kinds], np.float64)
    return np.asarray(turns * len(turns) / turns.sum())


def draw_turns(turns: FloatArray, draw: np.random.Generator) -> IntArray:
    """Return the indexes of the pages of one epoch, in random order, each as often as its turns,
    rounded up or down by chance."""
    times = np.floor(turns + draw.random(len(turns))).astype(np.int64)
    return draw.permutation(np.repeat(np.arange(len(turns)), times))
