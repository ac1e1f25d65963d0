"""Cross-validation by site, and what is chosen on pages that were held out."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.web2text.chain import most_probable
from dripper.labels.web2text.labeler import Potentials, potentials
from dripper.labels.web2text.weights import Weights
from dripper.train.folds import fold_of
from dripper.train.web2text.examples import Example
from dripper.train.web2text.fit import fit
from dripper.train.web2text.recipe import Recipe

log = logging.getLogger(__name__)

PAIR_WEIGHTS = (0.0, 0.1, 0.3, 1.0)
MAIN_BIASES = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


class Choice(NamedTuple):
    """What the weights do not learn, and the mean F1 over words that held-out pages reach with it."""

    pair_weight: float
    main_bias: float
    f1: float


def held_out(examples: Sequence[Example], recipe: Recipe, folds: int) -> list[Potentials]:
    """Return the potentials of every page, of networks that saw no page of its site; pairs are not
    weighted, and there is no bias."""
    said: dict[int, Potentials] = {}
    for fold in range(folds):
        inside = [number for number, page in enumerate(examples) if fold_of(page.host, folds) == fold]
        log.info("fold %d of %d: %d pages held out", fold + 1, folds, len(inside))
        others = [page for page in examples if fold_of(page.host, folds) != fold]
        weights = fit(others, recipe) if inside else None
        said |= {number: said_of(weights, examples[number]) for number in inside if weights is not None}
    return [said[number] for number in range(len(examples))]


def said_of(weights: Weights, page: Example) -> Potentials:
    """Return the potentials of a page before pairs are weighted and the bias is added."""
    return potentials(replace(weights, pair_weight=1.0, main_bias=0.0), page.features)


def choose(examples: Sequence[Example], said: Sequence[Potentials]) -> Choice:
    """Return the weight of pairs and the bias of the highest mean F1 over words; ties go to the first
    of the grid."""

    def chosen(pair_weight: float, main_bias: float) -> Choice:
        labels = held_out_labels(said, pair_weight, main_bias)
        return Choice(pair_weight, main_bias, float(np.mean(page_f1(examples, labels))))

    return max((chosen(*each) for each in product(PAIR_WEIGHTS, MAIN_BIASES)), key=lambda choice: choice.f1)


def held_out_labels(said: Sequence[Potentials], pair_weight: float, main_bias: float) -> list[npt.NDArray[np.bool_]]:
    """Return which leaves of each page are main, from :func:`held_out`."""
    bias = np.array([0.0, main_bias])
    return [most_probable(page.leaves + bias, page.pairs * pair_weight) for page in said]


def page_f1(examples: Sequence[Example], labels: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.float64]:
    """Return the F1 over words of each page."""
    return np.array([page.f1(main) for page, main in zip(examples, labels, strict=True)])
