"""From labelled pages to examples for the labeler `web2text`."""

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
from dripper.labels.web2text.features import PageFeatures, block_features, features_of
from dripper.labels.web2text.leaves import Leaves
from dripper.labels.words import words_of
from dripper.warc import decode

log = logging.getLogger(__name__)

# A leaf is main where so much of it is in the truth: half of a block, as for the other labelers;
# two thirds of a text node, as in the paper (4.1).
BLOCK_SHARE, TEXT_NODE_SHARE = 0.5, 2 / 3


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on; arrays in the order of its leaves."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    page_type: str
    features: PageFeatures
    """In half precision, not yet standardised."""
    words: IntArray
    """(n_leaves,) words of each leaf."""
    matched: FloatArray
    """(n_leaves,) how many of them belong to the truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_leaves,) which leaves are main. A leaf without words (an image) is, where its neighbours
    on both sides are."""

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of leaves against the truth."""
        return float(2 * self.matched[main].sum() / max(1, int(self.words[main].sum()) + self.truth_words))


def read_examples(pages: Iterable[LabelledPage], *, text_nodes: bool = False) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach are left out, logged.

    text_nodes: the leaves are those of the paper, not blocks.
    """
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        example = example_of(page, labelled, text_nodes=text_nodes)
        if example.main.any():
            yield example
        else:
            log.warning("%s/%s left out: no leaf holds its truth", labelled.data_set, labelled.id)


def example_of(page: Page, labelled: LabelledPage, *, text_nodes: bool = False) -> Example:
    """Return the example of a page that is split already."""
    if text_nodes:
        leaves = Leaves.of_text_nodes(page.elements)
        features, texts, share = features_of(page.elements, leaves), leaves.texts, TEXT_NODE_SHARE
    else:
        features, texts, share = block_features(page), [block.text for block in page.blocks], BLOCK_SHARE
    truth, own = words_of(labelled.truth_text), [words_of(text) for text in texts]
    words = np.array([len(each) for each in own], np.int64)
    matched = matched_shares(own, truth).astype(np.float64) * words
    halved = PageFeatures(features.leaves.astype(np.float16), features.pairs.astype(np.float16))
    main = between((matched >= share * words) & (words > 0), words)
    key = (labelled.data_set, labelled.id)
    return Example(key, labelled.host, labelled.page_type or "", halved, words, matched, len(truth), main)


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
