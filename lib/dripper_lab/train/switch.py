"""Trains the switch, which consists of two classifiers. One detects readers' comments, and the
other detects the block with the title.

Each classifier is a logistic regression on a block's features and network states. Both are fitted
after the network, which stays unchanged. Training the network on comments and titles, too, cost
0.004 F1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import LOGIT_LIMIT
from dripper.labels.cpu.labeler import normalize_page
from dripper.labels.cpu.network import WEIGHT_STEPS, compute_states
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.examples import Example

Flags = npt.NDArray[np.bool_]

# The constant coefficient if there is no page to train on. No block is then a comment or a title.
NOWHERE = -10.0
# Number of steps of Newton's method. The function is convex, and after eight steps the rounded
# weights no longer change.
NEWTON_STEPS = 8
# Each page has the same weight as this number of blocks, however many blocks it has. This
# determines its weight relative to the penalty.
PAGE_WEIGHT = 100


def with_switch(weights: Weights, examples: Sequence[Example], ridge: float) -> Weights:
    """Return the weights with a switch.

    Comments are learned from pages with added or real comments, and from forums, because forum
    posts are not comments. Titles are learned from the pages that have a block with the title.

    Args:
        ridge: The penalty on squared coefficients.
    """
    commented = [example.commented for example in examples if example.commented is not None]
    uncommented = [example for example in examples if example.page_type == "forum" or example.comments.any()]
    titled = [example for example in examples if example.title.any()]
    size = len(weights.feature_names) + len(weights.matrices["conv0"]) + 1
    columns = [
        _logistic_regression(_rows(weights, [*commented, *uncommented], lambda page: page.comments), size, ridge),
        _logistic_regression(_rows(weights, titled, lambda page: page.title), size, ridge),
    ]
    matrix = np.rint(np.stack(columns, axis=1) * WEIGHT_STEPS) / WEIGHT_STEPS
    return replace(weights, matrices={**weights.matrices, "switch": matrix[:-1], "switch_bias": matrix[-1]})


def _rows(
    weights: Weights, examples: Sequence[Example], part: Callable[[Example], Flags]
) -> Iterator[tuple[FloatArray, Flags]]:
    """Yield two arrays for each page: the inputs of the switch, with a last column of ones, and the
    mask of the blocks to detect."""
    for example in examples:
        page = normalize_page(weights, example.blocks)
        states = compute_states(weights.exact, weights.shape, page.features, page.ops)
        yield np.concatenate([page.features, states, np.ones((len(states), 1))], axis=1), part(example)


def _logistic_regression(rows: Iterator[tuple[FloatArray, Flags]], size: int, ridge: float) -> FloatArray:
    """Fit a logistic regression with Newton's method, and return its coefficients, shape (size,).
    The last coefficient belongs to the column of ones. Every page has the same weight."""
    pages = [(x.astype(np.float32), flags) for x, flags in rows]
    coefficients = np.zeros(size)
    coefficients[-1] = 0.0 if pages else NOWHERE
    for _ in range(NEWTON_STEPS if pages else 0):
        gradient, curvature = ridge * coefficients, ridge * np.eye(size)
        for x, flags in pages:
            weight = PAGE_WEIGHT / len(x)
            probability = 1 / (1 + np.exp(-np.clip(x @ coefficients, -LOGIT_LIMIT, LOGIT_LIMIT)))
            gradient += (probability - flags) @ x * weight
            curvature += (x.T * (probability * (1 - probability) * weight)) @ x
        coefficients = coefficients - np.linalg.solve(curvature, gradient)
    return coefficients
