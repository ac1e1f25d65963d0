"""Fits the weights of `web2text` on examples, and scores them on held-out sites."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper_lab.train.web2text.examples import Example, Recipe
from dripper_lab.train.web2text.optimise import Sequences, train
from dripper_labelers.web2text.chain import choose_most_probable
from dripper_labelers.web2text.features import NAMES, PAIR_NAMES, PageFeatures, is_binary
from dripper_labelers.web2text.labeler import Potentials, compute_potentials, decide
from dripper_labelers.web2text.network import LEAF_OUTCOMES, PAIR_OUTCOMES, name_matrices, standardise
from dripper_labelers.web2text.weights import LEAF, PAIR, Weights

PAIR_WEIGHTS = (0.0, 0.1, 0.3, 1.0)
MAIN_BIASES = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


class Choice(NamedTuple):
    """Values that are chosen rather than trained, and the mean F1 over words that they reach on
    held-out pages."""

    pair_weight: float
    main_bias: float
    f1: float


def compute_unweighted_potentials(weights: Weights, page: Example) -> Potentials:
    """Return the potentials of a page before pairs are weighted and the bias is added."""
    return compute_potentials(replace(weights, pair_weight=1.0, main_bias=0.0), page.features)


def choose(examples: Sequence[Example], potentials: Sequence[Potentials]) -> Choice:
    """Return the pair weight and the bias with the highest mean F1 over words. In a tie, the first
    values of the grid are chosen."""

    def chosen(pair_weight: float, main_bias: float) -> Choice:
        labels = labels_with(potentials, pair_weight, main_bias)
        return Choice(pair_weight, main_bias, float(np.mean(page_f1(examples, labels))))

    return max((chosen(*each) for each in product(PAIR_WEIGHTS, MAIN_BIASES)), key=lambda choice: choice.f1)


def labels_with(potentials: Sequence[Potentials], pair_weight: float, main_bias: float) -> list[npt.NDArray[np.bool_]]:
    """Return whether each leaf of each page is main.

    Args:
        potentials: See :func:`compute_unweighted_potentials`.
    """
    bias = np.array([0.0, main_bias])
    return [choose_most_probable(page.leaves + bias, page.pairs * pair_weight) for page in potentials]


def page_f1(examples: Sequence[Example], labels: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.float64]:
    """Return the F1 over words of each page."""
    return np.array([page.f1(main) for page, main in zip(examples, labels, strict=True)])


# Added to each deviation. Otherwise, features that hardly vary would be divided by almost 0.
SMALLEST_SCALE = 0.01


def fit(examples: Sequence[Example], recipe: Recipe, validation: Sequence[Example] = ()) -> Weights:
    """Train both networks.

    Args:
        validation: Pages for choosing each network's best weights during training. Without these
            pages, the last weights are used.
    """
    mean, scale = _moments(examples)
    unfitted = Weights({}, mean, scale, recipe.pair_weight)
    matrices: dict[str, FloatArray] = {}
    for sequences, prefix, outcomes in ((leaf_sequences, LEAF, LEAF_OUTCOMES), (pair_sequences, PAIR, PAIR_OUTCOMES)):
        checked = sequences(validation, unfitted) if validation else None
        layers = train(sequences(examples, unfitted), outcomes, recipe, checked)
        matrices |= name_matrices(layers, prefix)
    return Weights(matrices, mean, scale, recipe.pair_weight)


def leaf_sequences(examples: Sequence[Example], weights: Weights) -> Sequences:
    """Return the leaves of the pages with their labels."""
    n = len(NAMES)
    return Sequences.of(
        [
            standardise(page.features.leaves, weights.mean[:n], weights.scale[:n]).astype(np.float16)
            for page in examples
        ],
        [page.main.astype(np.int64) for page in examples],
    )


def pair_sequences(examples: Sequence[Example], weights: Weights) -> Sequences:
    """Return the pairs of neighbours on the pages, labelled with the labels of both."""
    n = len(NAMES)
    return Sequences.of(
        [standardise(page.features.pairs, weights.mean[n:], weights.scale[n:]).astype(np.float16) for page in examples],
        [2 * page.main[:-1].astype(np.int64) + page.main[1:] for page in examples],
    )


def _moments(examples: Sequence[Example]) -> tuple[FloatArray, FloatArray]:
    """Return the mean and deviation of each leaf feature, followed by each pair feature. They are 0
    and 1 for binary features, which are not standardised. Missing values are ignored."""
    columns = [np.concatenate([getattr(page.features, part) for page in examples]) for part in PageFeatures._fields]
    mean = np.concatenate([np.nanmean(part, axis=0, dtype=np.float64) for part in columns])
    scale = np.concatenate([np.nanstd(part, axis=0, dtype=np.float64) for part in columns]) + SMALLEST_SCALE
    binary = np.array([is_binary(name) for name in (*NAMES, *PAIR_NAMES)])
    is_scaled = np.isfinite(mean) & ~binary
    return np.where(is_scaled, mean, 0.0), np.where(is_scaled, scale, 1.0)


def labels_of(weights: Weights, examples: Sequence[Example]) -> list[npt.NDArray[np.bool_]]:
    """Return whether each leaf of each page is main, according to the weights."""
    return [decide(compute_potentials(weights, page.features))[0] for page in examples]


class LeafScore(NamedTuple):
    """Scores over all leaves of all pages, with equal weight for each leaf, as in the paper's Table
    1."""

    accuracy: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, examples: Sequence[Example], labels: Sequence[npt.NDArray[np.bool_]]) -> "LeafScore":
        """Compare labels with the ground truth."""
        truth, predicted = np.concatenate([page.main for page in examples]), np.concatenate(labels)
        hits, chosen, positive = int((truth & predicted).sum()), int(predicted.sum()), int(truth.sum())
        precision, recall = hits / max(chosen, 1), hits / max(positive, 1)
        f1 = 2 * hits / max(chosen + positive, 1)
        return cls(float((truth == predicted).mean()), precision, recall, f1)
