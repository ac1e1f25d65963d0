"""From labelled pages to examples for the labeler `web2text`."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage
from dripper.html import Page
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.web2text.features import PageFeatures, block_features, features_of
from dripper.labels.web2text.leaves import Leaves
from dripper.train.truth import BLOCK_SHARE, Truth, f1_of, split_pages

log = logging.getLogger(__name__)

TEXT_NODE_SHARE = 2 / 3
"""A text node is main where so much of it is in the truth, as in the paper (4.1); of a block half,
as for the other labelers."""


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
        return f1_of(self.words, self.matched, self.truth_words, main)


def read_examples(pages: Iterable[LabelledPage], *, text_nodes: bool = False) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach are left out, logged.

    text_nodes: the leaves are those of the paper, not blocks.
    """
    for labelled, page in split_pages(pages):
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
    truth = Truth.of(texts, labelled, share)
    halved = PageFeatures(features.leaves.astype(np.float16), features.pairs.astype(np.float16))
    return Example(
        truth.key,
        truth.host,
        labelled.page_type or "",
        halved,
        truth.words,
        truth.matched,
        truth.truth_words,
        truth.main,
    )
