"""Creates training examples for the `web2text` labeler from labelled pages, and defines the
hyperparameters.
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
    """The hyperparameters. The defaults are as in the paper (3.4, 4.2), unless noted."""

    steps: int = 4000
    """5,000 in the paper, which reports no improvement after that."""
    excerpts: int = 128
    """Number of page excerpts per step."""
    excerpt_leaves: int = 9
    """Number of leaves in an excerpt. Shorter pages are padded."""
    learning_rate: float = 1e-3
    dropout: float = 0.2
    """Fraction of activations of each hidden layer that is dropped. The published code drops
    weights instead."""
    weight_decay: float = 1e-4
    """Factor of half the sum of squared weights."""
    pair_weight: float = 0.1
    """The paper's lambda."""
    seed: int = 0


log = logging.getLogger(__name__)

TEXT_NODE_SHARE = 2 / 3
"""A text node is main if at least this fraction of its words is in the ground truth, as in the
paper (4.1). For blocks, the fraction is one half, as for the other labelers."""


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on. Arrays are in the order of its leaves."""

    key: tuple[str, str]
    """The data set, and the page's ID in it."""
    host: str
    page_type: str
    features: PageFeatures
    """Features in half precision, before standardisation."""
    words: IntArray
    """(n_leaves,), the number of words in each leaf."""
    matched: FloatArray
    """(n_leaves,), the number of these words that belong to the ground truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_leaves,), whether each leaf is main. A leaf without words, such as an image, is main if
    the nearest leaves with words on both sides are main."""

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """Return the F1 over words of these main leaves, compared with the ground truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)


def read_examples(pages: Iterable[LabelledPage], *, text_nodes: bool = False) -> Iterator[Example]:
    """Yield one example per page. Pages without a main leaf are logged and left out.

    Args:
        text_nodes: Whether leaves are text nodes, as in the paper, instead of blocks.
    """
    for labelled, page in split_pages(pages):
        example = example_of(page, labelled, text_nodes=text_nodes)
        if example.main.any():
            yield example
        else:
            log.warning("%s/%s left out: no leaf holds its truth", labelled.data_set, labelled.id)


def example_of(page: Page, labelled: LabelledPage, *, text_nodes: bool = False) -> Example:
    """Return the example of a page that is already split into blocks."""
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
