"""Runs the paper's baselines (4.3), and converts the text of each extractor to labels of leaves.

An extractor's text is aligned with the leaves in the same way as the ground truth. Unfluff is a
port of Goose, so Goose is run instead. The paper's CRF is left out, because it exists only with its
authors' weights.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.extractors import peers
from dripper_lab.evaluation.extractors.base import Extract, Task, extract_or_nothing
from dripper_lab.evaluation.store import decode_page
from dripper_lab.train.web2text.examples import TEXT_NODE_SHARE, Example
from dripper_lab.train.web2text.fit import LeafScore
from dripper_lab.truth import Truth, split_pages
from dripper_labelers.web2text.leaves import Leaves

BASELINES: Mapping[str, Callable[[], Extract]] = {
    "BTE": peers.bte,
    "default-ext": lambda: peers.boilerpy3("DefaultExtractor"),
    "article-ext": peers.boilerpy3,
    "largest-ext": lambda: peers.boilerpy3("LargestContentExtractor"),
    "Unfluff": peers.goose3,
}
PUBLISHED: Mapping[str, Mapping[str, LeafScore]] = {
    "original": {
        "BTE": LeafScore(0.79, 0.79, 0.89, 0.83),
        "default-ext": LeafScore(0.80, 0.89, 0.75, 0.81),
        "article-ext": LeafScore(0.72, 0.91, 0.59, 0.71),
        "largest-ext": LeafScore(0.60, 0.93, 0.36, 0.52),
        "Unfluff": LeafScore(0.71, 0.90, 0.57, 0.70),
    },
    "ours": {
        "BTE": LeafScore(0.75, 0.76, 0.84, 0.80),
        "default-ext": LeafScore(0.79, 0.89, 0.74, 0.81),
        "article-ext": LeafScore(0.67, 0.89, 0.50, 0.64),
        "largest-ext": LeafScore(0.59, 0.93, 0.33, 0.48),
        "Unfluff": LeafScore(0.68, 0.90, 0.51, 0.65),
    },
}
"""The scores in the paper's Table 1, keyed by split."""

Labels = npt.NDArray[np.bool_]


def label_leaves(pages: Iterable[LabelledPage]) -> dict[str, dict[tuple[str, str], Labels]]:
    """Return baseline → page → whether the baseline's output contains each text node.

    If a baseline fails on a page, its output is empty.
    """
    extractors = {name: load() for name, load in BASELINES.items()}
    labels_by_baseline: dict[str, dict[tuple[str, str], Labels]] = {name: {} for name in extractors}
    for labelled, page in split_pages(pages):
        leaves, task = Leaves.of_text_nodes(page.elements).texts, Task(labelled, decode_page(labelled))
        for name, extract in extractors.items():
            truth = Truth.of(leaves, replace(labelled, truth_text=extract_or_nothing(extract, task)), TEXT_NODE_SHARE)
            labels_by_baseline[name][truth.key] = truth.main
    return labels_by_baseline


def score_baselines(
    labels: Mapping[str, Mapping[tuple[str, str], Labels]], test: Iterable[Example]
) -> dict[str, LeafScore]:
    """Return the scores of each baseline on the pages of a test set."""
    pages = list(test)
    return {name: LeafScore.of(pages, [of_page[page.key] for page in pages]) for name, of_page in labels.items()}
