"""Makes examples for the labeler `web2text` from labelled pages, with all arguments of a training
run.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.html import Page
from dripper.labels.arrays import FloatArray, IntArray
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import BLOCK_SHARE, Truth, f1_of, split_pages
from dripper_labelers.web2text.features import PageFeatures, compute_block_features, compute_features
from dripper_labelers.web2text.leaves import Leaves


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe of a training: as in the paper (3.4, 4.2), unless noted."""

    steps: int = 4000
    """5,000 in the paper, which sees no improvement after that."""
    excerpts: int = 128
    """Excerpts of pages a step."""
    excerpt_leaves: int = 9
    """Leaves of an excerpt; shorter pages are filled up with nothing."""
    learning_rate: float = 1e-3
    dropout: float = 0.2
    """Share of the activations of each hidden layer that is dropped; the published code drops
    weights."""
    weight_decay: float = 1e-4
    """Factor of half the sum of squared weights."""
    pair_weight: float = 0.1
    """The paper's lambda."""
    seed: int = 0


log = logging.getLogger(__name__)

TEXT_NODE_SHARE = 2 / 3
"""A text node is main if so much of it is in the truth, as in the paper (4.1); a block if half of
it is, as for the other labelers."""


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on; arrays in the order of its leaves."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    page_type: str
    features: PageFeatures
    """Features in half precision, not yet standardised."""
    words: IntArray
    """(n_leaves,) words of each leaf."""
    matched: FloatArray
    """(n_leaves,) how many of them belong to the truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_leaves,) which leaves are main. A leaf without words (an image) is main if its neighbours
    on both sides are."""

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of leaves against the truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)


def read_examples(pages: Iterable[LabelledPage], *, text_nodes: bool = False) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach are left out, logged.

    Args:
        text_nodes: The leaves are text nodes, as in the paper, not blocks.
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
        features, texts, share = compute_features(page.elements, leaves), leaves.texts, TEXT_NODE_SHARE
    else:
        features, texts, share = compute_block_features(page), [block.text for block in page.blocks], BLOCK_SHARE
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
