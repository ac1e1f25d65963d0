"""Converts a labelled page's ground truth to labels of its blocks, and scores labels of blocks by
ROUGE-5 over words.

F1 over words hardly changes for some mistakes that a reader notices. A stray line in the middle of
a thread costs only a few words, but ROUGE-5 also loses the eight 5-grams around the line.
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
    """A page's words, block by block, and the 5-grams of its ground truth."""

    words: Hashes
    """(n_words,), the words in the order of the blocks. Equal words have the same number."""
    starts: IntArray
    """(n_blocks + 1,), the start of each block's words in `words`."""
    grams: Hashes
    """(n_grams,), the hashes of the distinct 5-grams of the ground truth, ascending."""
    counts: IntArray
    """(n_grams,), the number of occurrences of each 5-gram."""

    @classmethod
    def of(cls, blocks: Sequence[Sequence[str]], truth: Sequence[str]) -> "Texts":
        """Return the `Texts` for lists of words from `dripper.labels.words.words_of`."""
        numbers: dict[str, int] = {}
        words, true = (
            np.array([numbers.setdefault(word, len(numbers) + 1) for word in part], np.uint64)
            for part in ((word for block in blocks for word in block), truth)
        )
        starts = np.cumsum([0, *(len(block) for block in blocks)])
        return cls(words, starts, *np.unique(_grams(true), return_counts=True))

    def rouge5(self, main: npt.NDArray[np.bool_]) -> float:
        """Return the F1 over 5-grams of the main blocks. `main` has the shape (n_blocks,). This is
        `dripper.eval.rouge_n` with tokens="words", except that scripts without spaces are split
        into characters. Text with fewer than five words is a single n-gram. If both sides are
        empty, the result is 1.
        """
        chosen = self.words[np.repeat(main, np.diff(self.starts))]
        grams, counts = np.unique(_grams(chosen), return_counts=True)
        if not len(grams) or not len(self.grams):
            return float(len(grams) == len(self.grams))
        at = np.minimum(np.searchsorted(self.grams, grams), len(self.grams) - 1)
        hits = np.where(self.grams[at] == grams, np.minimum(counts, self.counts[at]), 0).sum()
        return float(2 * hits / (counts.sum() + self.counts.sum()))


def _grams(words: Hashes) -> Hashes:
    """Return a hash of every 5-gram. Shorter text has one hash of all its words."""
    size = min(GRAM, len(words))
    hashes = np.full(len(words) - size + 1 if size else 0, size, np.uint64)
    for place in range(size):
        hashes = (hashes ^ (hashes >> _SHIFT)) * _FACTOR + words[place : len(words) - size + 1 + place]
    return hashes


log = logging.getLogger(__name__)

BLOCK_SHARE = 0.5
"""A block is main if at least this fraction of its words is in the labelled text."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The ground truth of one page. Arrays are in the order of its leaves, which are usually
    blocks."""

    key: tuple[str, str]
    """The data set, and the page's ID in it."""
    host: str
    kind: str
    """The page's type: `nothing` if the page has no main content, and `article` if the data set
    states no type."""
    words: IntArray
    """(n_leaves,), the number of words in each leaf."""
    matched: FloatArray
    """(n_leaves,), the number of these words that belong to the ground truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_leaves,), whether each leaf is main. A leaf without words, such as an image, is main if
    the nearest leaves with words on both sides are main."""

    @classmethod
    def of(cls, texts: Sequence[str], labelled: LabelledPage, share: float = BLOCK_SHARE) -> "Truth":
        """Return the ground truth for the text of the page's leaves.

        Args:
            share: A leaf is main if at least this fraction of its words is in the labelled text.
        """
        own, truth = [words_of(text) for text in texts], words_of(labelled.truth_text)
        words = np.array([len(each) for each in own], np.int64)
        matched = match_shares(own, truth).astype(np.float64) * words
        main = between((matched >= share * words) & (words > 0), words)
        kind = (labelled.page_type or "article") if truth else "nothing"
        return cls((labelled.data_set, labelled.id), labelled.host, kind, words, matched, len(truth), main)

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """Return the F1 over words of these main leaves, compared with the ground truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)


def f1_of(words: IntArray, matched: FloatArray, truth_words: int, main: npt.NDArray[np.bool_]) -> float:
    """Return the F1 over words of main leaves. It is the objective of training, and close to ROUGE.
    Arrays have the shape (n_leaves,).

    Args:
        matched: The number of each leaf's words that belong to the ground truth.
    """
    return float(2 * matched[main].sum() / max(1, int(words[main].sum()) + truth_words))


def split_pages(pages: Iterable[LabelledPage]) -> Iterator[tuple[LabelledPage, Page]]:
    """Yield the pages split into blocks. Pages that cannot be split are logged and left out."""
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        yield labelled, page


def read_truths(pages: Iterable[LabelledPage]) -> Iterator[tuple[Page, Truth]]:
    """Yield the pages with their ground truth. Pages without blocks, and pages with labelled text
    but no main block, are logged and left out. On a page with an empty ground truth, no block is
    main."""
    for labelled, page in split_pages(pages):
        truth = Truth.of([block.text for block in page.blocks], labelled)
        if page.blocks and (truth.main.any() or not truth.truth_words):
            yield page, truth
        else:
            log.warning("%s/%s left out: no block holds its truth", labelled.data_set, labelled.id)


def between(main: npt.NDArray[np.bool_], words: Sequence[int] | IntArray) -> npt.NDArray[np.bool_]:
    """Return labels in which a leaf without words is main if the nearest leaves with words on both
    sides are main.

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
