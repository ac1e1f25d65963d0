"""Implements the `web2text` labeler: computes features, the potentials of blocks and block pairs,
and the most probable label sequence.

Requires numpy, but not PyTorch. `dripper_lab.train.web2text` trains the weights.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels.arrays import FloatArray, find_blas, one_thread
from dripper.labels.base import Labels, expected_f1
from dripper.labels.words import words_of
from dripper_labelers.web2text.chain import choose_most_probable, compute_marginals
from dripper_labelers.web2text.features import NAMES, PageFeatures, compute_block_features
from dripper_labelers.web2text.network import (
    LEAF_OUTCOMES,
    PAIR_OUTCOMES,
    RADIUS,
    Layer,
    compute_log_potentials,
    standardise,
)
from dripper_labelers.web2text.weights import Weights, load_weights

# Activations take about 3 KB per block, so windows limit the memory for a long page to 50 MB.
WINDOW = 16_384


class Web2TextLabeler:
    """The `web2text` labeler. A page gets the same labels and probabilities on every machine."""

    name = "web2text"

    def __init__(self, weights: Weights) -> None:
        self.version = weights.version
        self._weights = weights
        self._blas = find_blas()

    @classmethod
    def load(cls, path: Path | None = None) -> "Web2TextLabeler":
        """Load weights from a file, by default the one in this package. Raises MachineError if the
        file is missing or invalid."""
        return cls(load_weights(path))

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page. `confidence` is the expected F1 over words, computed from
        the probabilities."""
        # The matrices are so small that BLAS threads would only wait for each other.
        with one_thread(self._blas):
            return [self._label(page) for page in pages]

    def _label(self, page: Page) -> Labels:
        main, probability = decide(compute_potentials(self._weights, compute_block_features(page)))
        words = np.array([len(words_of(block.text)) for block in page.blocks], np.int64)
        return Labels(main, probability.astype(np.float32), expected_f1(main, probability, words))


class Potentials(NamedTuple):
    """Weighted log potentials, as `chain.choose_most_probable` expects them."""

    leaves: FloatArray
    pairs: FloatArray


def compute_potentials(weights: Weights, page: PageFeatures) -> Potentials:
    """Return the potentials of both networks for the raw features of a page."""
    n = len(NAMES)
    leaves = _compute_in_windows(weights.leaf_layers, page.leaves, weights.mean[:n], weights.scale[:n], LEAF_OUTCOMES)
    pairs = _compute_in_windows(weights.pair_layers, page.pairs, weights.mean[n:], weights.scale[n:], PAIR_OUTCOMES)
    return Potentials(leaves + np.array([0.0, weights.main_bias]), pairs * weights.pair_weight)


def _compute_in_windows(
    layers: Sequence[Layer], features: npt.NDArray[np.floating[Any]], mean: FloatArray, scale: FloatArray, outcomes: int
) -> FloatArray:
    """Return the log potentials, (length, outcomes), computed for WINDOW rows at a time.

    Each window includes the neighbors that influence its first and last rows. Therefore, windows do
    not change the result.
    """
    all_potentials = np.zeros((len(features), outcomes))
    for start in range(0, len(features), WINDOW):
        first, end = max(start - RADIUS, 0), min(start + WINDOW, len(features))
        inputs = standardise(features[first : end + RADIUS], mean, scale)
        all_potentials[start:end] = compute_log_potentials(layers, inputs)[start - first : end - first]
    return all_potentials


def decide(page_potentials: Potentials) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return whether each leaf is main, and the probability of main. Both have the shape
    (n_leaves,)."""
    return choose_most_probable(*page_potentials), compute_marginals(*page_potentials)
