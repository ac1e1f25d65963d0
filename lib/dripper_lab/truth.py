"""Turns a labelled page's truth into labels of its blocks, and scores choices of blocks by ROUGE-5
over words.

A block's F1 over words forgives faults that a reader notices: for a stray line in the middle of a
thread it loses a few words, but ROUGE-5 also loses the eight 5-grams around it.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.errors import PageError
from dripper.html import Page, preprocess
from dripper.labels.align import match_shares
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.words import words_of
from dripper.warc import decode
from dripper_lab.datasets import LabelledPage

GRAM = 5
Hashes = npt.NDArray[np.uint64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Texts(NamedTuple):
    """A page's words, block by block, and the 5-grams of its truth."""

    words: Hashes
    """(n_words,), a number for each different word, in the order of the blocks."""
    starts: IntArray
    """(n_blocks + 1,), the start of each block's words in `words`."""
    grams: Hashes
    """(n_grams,), the different 5-grams of the truth, ascending."""
    counts: IntArray
    """(n_grams,), the count of each."""

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
        `dripper.eval.rouge_n` with tokens="words" does, but that scripts without
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


log = logging.getLogger(__name__)

BLOCK_SHARE = 0.5
"""The share of a block's words in the labelled text from which the block is main."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth of one page; arrays in the order of its blocks, or of other leaves."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    kind: str
    """The page's type: `nothing` if it has no main content; sets without types have articles."""
    words: IntArray
    """(n_leaves,) words of each leaf."""
    matched: FloatArray
    """(n_leaves,) how many of them belong to the truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_leaves,) which leaves are main. A leaf without words (an image) is main if its neighbours
    on both sides are."""

    @classmethod
    def of(cls, texts: Sequence[str], labelled: LabelledPage, share: float = BLOCK_SHARE) -> "Truth":
        """Make it of the texts of the page's leaves.

        Args:
            share: Of a leaf's words, from which on it is main.
        """
        own, truth = [words_of(text) for text in texts], words_of(labelled.truth_text)
        words = np.array([len(each) for each in own], np.int64)
        matched = match_shares(own, truth).astype(np.float64) * words
        main = between((matched >= share * words) & (words > 0), words)
        kind = (labelled.page_type or "article") if truth else "nothing"
        return cls((labelled.data_set, labelled.id), labelled.host, kind, words, matched, len(truth), main)

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of leaves against the truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)


def f1_of(words: IntArray, matched: FloatArray, truth_words: int, main: npt.NDArray[np.bool_]) -> float:
    """F1 over words of a choice of leaves: the objective of training, close to ROUGE. Arrays have
    shape (n_leaves,).

    Args:
        matched: How many of the words belong to the truth.
    """
    return float(2 * matched[main].sum() / max(1, int(words[main].sum()) + truth_words))


def split_pages(pages: Iterable[LabelledPage]) -> Iterator[tuple[LabelledPage, Page]]:
    """Yield the pages split into blocks; pages that cannot be split are left out and logged."""
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        yield labelled, page


def read_truths(pages: Iterable[LabelledPage]) -> Iterator[tuple[Page, Truth]]:
    """Yield the pages with their labels; unusable pages (with no labelled text in their blocks) are
    left out and logged. A page without a truth teaches that nothing of it is main."""
    for labelled, page in split_pages(pages):
        truth = Truth.of([block.text for block in page.blocks], labelled)
        if page.blocks and (truth.main.any() or not truth.truth_words):
            yield page, truth
        else:
            log.warning("%s/%s left out: no block holds its truth", labelled.data_set, labelled.id)


def between(main: npt.NDArray[np.bool_], words: Sequence[int] | IntArray) -> npt.NDArray[np.bool_]:
    """Return labels where leaves without words are main if the nearest ones with words on both
    sides are.

    >>> between(np.array([True, False, True, False]), [5, 0, 9, 0])
    array([ True,  True,  True, False])
    """
    has_words = np.asarray(words) > 0
    with_words = np.flatnonzero(has_words)
    if not len(with_words):
        return main
    index = np.arange(len(main))
    after = with_words.searchsorted(index)
    left, right = with_words[np.maximum(after - 1, 0)], with_words[np.minimum(after, len(with_words) - 1)]
    inside = (after > 0) & (after < len(with_words)) & main[left] & main[right]
    return np.where(has_words, main, inside)
