"""What the report scores, for choices of blocks: ROUGE-5 over words.

A block's F1 over words forgives what a reader sees at once: a stray line in the middle of a thread
costs its few words there, here eight 5-grams around it too.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import IntArray

GRAM = 5
Hashes = npt.NDArray[np.uint64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Texts(NamedTuple):
    """A page's words, block by block, and the 5-grams of its truth."""

    words: Hashes
    """(n_words,), a number for each different word, in the order of the blocks."""
    starts: IntArray
    """(n_blocks + 1,), where each block's words begin in `words`."""
    grams: Hashes
    """(n_grams,), the different 5-grams of the truth, ascending."""
    counts: IntArray
    """(n_grams,), how often each stands there."""

    @classmethod
    def of(cls, blocks: Sequence[Sequence[str]], truth: Sequence[str]) -> "Texts":
        """Return the texts of words as `dripper.labels.words.words_of` gives them."""
        numbers: dict[str, int] = {}
        words, true = (
            np.array([numbers.setdefault(word, len(numbers) + 1) for word in part], np.uint64)
            for part in ((word for block in blocks for word in block), truth)
        )
        starts = np.cumsum([0, *(len(block) for block in blocks)])
        return cls(words, starts, *np.unique(_grams(true), return_counts=True))

    def rouge5(self, main: npt.NDArray[np.bool_]) -> float:
        """Return the F1 over 5-grams of a choice of blocks, shape (n_blocks,), as
        `dripper.eval.metrics.overlap.rouge_n` with tokens="words" does, but that scripts without
        spaces are cut into characters: a shorter text is one n-gram; nothing against nothing is 1.
        """
        chosen = self.words[np.repeat(main, np.diff(self.starts))]
        grams, counts = np.unique(_grams(chosen), return_counts=True)
        if not len(grams) or not len(self.grams):
            return float(len(grams) == len(self.grams))
        at = np.minimum(np.searchsorted(self.grams, grams), len(self.grams) - 1)
        hits = np.where(self.grams[at] == grams, np.minimum(counts, self.counts[at]), 0).sum()
        return float(2 * hits / (counts.sum() + self.counts.sum()))


def _grams(words: Hashes) -> Hashes:
    """Return a hash of every 5-gram; of a shorter text one of all of it."""
    size = min(GRAM, len(words))
    hashes = np.full(len(words) - size + 1 if size else 0, size, np.uint64)
    for place in range(size):
        hashes = (hashes ^ (hashes >> _SHIFT)) * _FACTOR + words[place : len(words) - size + 1 + place]
    return hashes
