"""What is chosen on sites that were held out, and what it reaches there."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.web2text.chain import most_probable
from dripper.labels.web2text.labeler import Potentials, potentials
from dripper.labels.web2text.weights import Weights
from dripper.train.web2text.examples import Example

PAIR_WEIGHTS = (0.0, 0.1, 0.3, 1.0)
MAIN_BIASES = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


class Choice(NamedTuple):
    """What the weights do not learn, and the mean F1 over words that held-out pages reach with
    it."""

    pair_weight: float
    main_bias: float
    f1: float


def said_of(weights: Weights, page: Example) -> Potentials:
    """Return the potentials of a page before pairs are weighted and the bias is added."""
    return potentials(replace(weights, pair_weight=1.0, main_bias=0.0), page.features)


def choose(examples: Sequence[Example], said: Sequence[Potentials]) -> Choice:
    """Return the weight of pairs and the bias of the highest mean F1 over words; ties go to the
    first of the grid."""

    def chosen(pair_weight: float, main_bias: float) -> Choice:
        labels = labels_with(said, pair_weight, main_bias)
        return Choice(pair_weight, main_bias, float(np.mean(page_f1(examples, labels))))

    return max((chosen(*each) for each in product(PAIR_WEIGHTS, MAIN_BIASES)), key=lambda choice: choice.f1)


def labels_with(said: Sequence[Potentials], pair_weight: float, main_bias: float) -> list[npt.NDArray[np.bool_]]:
    """Return which leaves of each page are main. said: see :func:`said_of`."""
    bias = np.array([0.0, main_bias])
    return [most_probable(page.leaves + bias, page.pairs * pair_weight) for page in said]


def page_f1(examples: Sequence[Example], labels: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.float64]:
    """Return the F1 over words of each page."""
    return np.array([page.f1(main) for page, main in zip(examples, labels, strict=True)])
