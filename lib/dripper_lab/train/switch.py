"""Trains the switch of conventions, which finds the blocks that are comments and the block that is
the title.

It is two logistic regressions on the features and the network's states of each block, fitted after
the network, which stays as it is: trained together with its truths, comments and titles cost 0.004
of F1.
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

# In a row of logits: if there is no page to learn from, nothing is a comment, nothing a title.
NOWHERE = -10.0
# Newton's method on a convex function: after eight steps nothing moves any more on the grid of
# weights.
NEWTON_STEPS = 8
# Relative to the penalty, a page counts like this many blocks, for any number of blocks.
PAGE_WEIGHT = 100


def with_switch(weights: Weights, examples: Sequence[Example], ridge: float) -> Weights:
    """Return the weights with a switch.

    Comments are learned from pages with made-up comments, pages that have some, and forums, because
    their posts are no comments; titles from the pages that have one.

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
    """Yield the inputs of the switch for each page, with a last column of ones, and the mask of
    blocks that belong to the part."""
    for example in examples:
        page = normalize_page(weights, example.blocks)
        states = compute_states(weights.exact, weights.shape, page.features, page.ops)
        yield np.concatenate([page.features, states, np.ones((len(states), 1))], axis=1), part(example)


def _logistic_regression(rows: Iterator[tuple[FloatArray, Flags]], size: int, ridge: float) -> FloatArray:
    """Return the coefficients by Newton's method, shape (size,), the coefficient of the ones last;
    every page has the same weight."""
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
