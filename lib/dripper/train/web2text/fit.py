"""Weights from examples, and what weights reach on others."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.web2text.features import NAMES, PAIR_NAMES, PageFeatures, is_binary
from dripper.labels.web2text.labeler import decide, potentials
from dripper.labels.web2text.network import LEAF_OUTCOMES, PAIR_OUTCOMES, matrices_of, standardise
from dripper.labels.web2text.weights import LEAF, PAIR, Weights
from dripper.train.web2text.examples import Example
from dripper.train.web2text.optimise import Sequences, train
from dripper.train.web2text.recipe import Recipe

# Features that hardly vary would be blown up by their own tiny deviation.
SMALLEST_SCALE = 0.01


def fit(examples: Sequence[Example], recipe: Recipe, validation: Sequence[Example] = ()) -> Weights:
    """Train both networks. validation: pages by which the best of a network's weights are chosen;
    without them the last ones are taken."""
    mean, scale = _moments(examples)
    unfitted = Weights({}, mean, scale, recipe.pair_weight)
    matrices: dict[str, FloatArray] = {}
    for sequences, prefix, outcomes in ((leaf_sequences, LEAF, LEAF_OUTCOMES), (pair_sequences, PAIR, PAIR_OUTCOMES)):
        checked = sequences(validation, unfitted) if validation else None
        layers = train(sequences(examples, unfitted), outcomes, recipe, checked)
        matrices |= matrices_of(layers, prefix)
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
    """Return the pairs of neighbours with the labels of both."""
    n = len(NAMES)
    return Sequences.of(
        [standardise(page.features.pairs, weights.mean[n:], weights.scale[n:]).astype(np.float16) for page in examples],
        [2 * page.main[:-1].astype(np.int64) + page.main[1:] for page in examples],
    )


def _moments(examples: Sequence[Example]) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation of the features of leaves, then of pairs; of binary ones 0 and 1,
    as they stay as they are. What is not there does not count."""
    columns = [np.concatenate([getattr(page.features, part) for page in examples]) for part in PageFeatures._fields]
    mean = np.concatenate([np.nanmean(part, axis=0, dtype=np.float64) for part in columns])
    scale = np.concatenate([np.nanstd(part, axis=0, dtype=np.float64) for part in columns]) + SMALLEST_SCALE
    binary = np.array([is_binary(name) for name in (*NAMES, *PAIR_NAMES)])
    known = np.isfinite(mean) & ~binary
    return np.where(known, mean, 0.0), np.where(known, scale, 1.0)


def labels_of(weights: Weights, examples: Sequence[Example]) -> list[npt.NDArray[np.bool_]]:
    """Return which leaves of each page the weights hold for main."""
    return [decide(potentials(weights, page.features))[0] for page in examples]


class LeafScore(NamedTuple):
    """Over all leaves of all pages, each counting the same, as in the paper's table 1."""

    accuracy: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, examples: Sequence[Example], labels: Sequence[npt.NDArray[np.bool_]]) -> "LeafScore":
        """Score labels against the truth."""
        truth, said = np.concatenate([page.main for page in examples]), np.concatenate(labels)
        hits, chosen, wanted = int((truth & said).sum()), int(said.sum()), int(truth.sum())
        precision, recall = hits / max(chosen, 1), hits / max(wanted, 1)
        f1 = 2 * hits / max(chosen + wanted, 1)
        return cls(float((truth == said).mean()), precision, recall, f1)
