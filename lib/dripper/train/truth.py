"""What the truth of a labelled page says of its blocks: where every training begins."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage
from dripper.errors import PageError
from dripper.html import Page, preprocess
from dripper.labels.align import matched_shares
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.words import words_of
from dripper.warc import decode

log = logging.getLogger(__name__)

BLOCK_SHARE = 0.5
"""A block is main where so much of it is in the truth."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Of one page; arrays in the order of its blocks, or of other leaves."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    kind: str
    """The page's type: `nothing` where it has no main content; sets that name none are of
    articles."""
    words: IntArray
    """(n_leaves,) words of each leaf."""
    matched: FloatArray
    """(n_leaves,) how many of them belong to the truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_leaves,) which leaves are main. A leaf without words (an image) is, where its neighbours
    on both sides are."""

    @classmethod
    def of(cls, texts: Sequence[str], labelled: LabelledPage, share: float = BLOCK_SHARE) -> "Truth":
        """From the texts of the page's leaves. share: of a leaf's words, from which on it is
        main."""
        own, truth = [words_of(text) for text in texts], words_of(labelled.truth_text)
        words = np.array([len(each) for each in own], np.int64)
        matched = matched_shares(own, truth).astype(np.float64) * words
        main = between((matched >= share * words) & (words > 0), words)
        kind = (labelled.page_type or "article") if truth else "nothing"
        return cls((labelled.data_set, labelled.id), labelled.host, kind, words, matched, len(truth), main)

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of leaves against the truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)


def f1_of(words: IntArray, matched: FloatArray, truth_words: int, main: npt.NDArray[np.bool_]) -> float:
    """F1 over words of a choice of leaves: what training optimises, close to ROUGE. Arrays have
    shape (n_leaves,). matched: how many of the words belong to the truth."""
    return float(2 * matched[main].sum() / max(1, int(words[main].sum()) + truth_words))


def split_pages(pages: Iterable[LabelledPage]) -> Iterator[tuple[LabelledPage, Page]]:
    """Yield the pages split into blocks; those that cannot be are left out, logged."""
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        yield labelled, page


def read_truths(pages: Iterable[LabelledPage]) -> Iterator[tuple[Page, Truth]]:
    """Yield the pages with what their truth says; those that cannot teach (nothing of the truth in
    their blocks) are left out, logged. A page without a truth teaches that nothing of it is
    main."""
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
    known = np.flatnonzero(has_words)
    if not len(known):
        return main
    index = np.arange(len(main))
    after = known.searchsorted(index)
    left, right = known[np.maximum(after - 1, 0)], known[np.minimum(after, len(known) - 1)]
    inside = (after > 0) & (after < len(known)) & main[left] & main[right]
    return np.where(has_words, main, inside)
