"""Fits the layer that predicts the kind of a page, and the confidence of a page: two regressions,
fitted after the network, which stays as it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import KINDS, PageSummary, make_evidence, probabilities
from dripper.labels.cpu.labeler import classify_page, normalize_page, score_blocks
from dripper.labels.cpu.network import WEIGHT_STEPS
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.examples import Example

ALIASES: Mapping[str, str] = {"error": "nothing"}
"""Types of the data sets that are not separate kinds."""
KIND_BALANCE = 0.6
"""Pages of a kind count n^-0.6 each: else rare kinds would be taken for frequent ones."""
KIND_RIDGE = 0.1
CONFIDENCE_RIDGE = 10.0
"""Both: penalties on squared coefficients (of inputs of deviation 1; of a sum over pages)."""
# Means that hardly vary over pages would be blown up.
_LEAST_DEVIATION = 0.05
_NEWTON_STEPS = 12


def kind_of(example: Example) -> str:
    """Return the kind of a page, one of KINDS; unknown types are `other`."""
    kind = ALIASES.get(example.kind, example.kind)
    return kind if kind in KINDS else "other"


def summary_of(weights: Weights, example: Example) -> PageSummary:
    """Return the means of a page. example: with raw features."""
    page, summary = normalize_page(weights, example.blocks), PageSummary()
    logits, states = score_blocks(weights, page)
    summary.add(example.words, probabilities(logits), page.features, states)
    return summary


def compute_held_out_kinds(weights: Weights, example: Example) -> FloatArray:
    """Return the probabilities of KINDS of a page that the weights did not see, shape
    (n_kinds,)."""
    return classify_page(weights, summary_of(weights, example), example.structure)


def with_page_kinds(weights: Weights, examples: Sequence[Example]) -> Weights:
    """Return the weights with the layer of page kinds: a multinomial logistic regression."""
    pages = [example for example in examples if len(example.words)]
    inputs = np.stack([np.concatenate([summary_of(weights, page).means(), page.structure]) for page in pages])
    kinds = np.array([KINDS.index(kind_of(example)) for example in pages])
    center, scale = inputs.mean(axis=0), inputs.std(axis=0) + _LEAST_DEVIATION
    counts = Counter(kinds.tolist())
    weight = np.array([counts[kind] ** -KIND_BALANCE for kind in kinds.tolist()])
    matrix = _multinomial((inputs - center) / scale, np.eye(len(KINDS))[kinds], weight / weight.sum())
    layer = np.rint(matrix[:-1] / scale[:, None] * WEIGHT_STEPS) / WEIGHT_STEPS
    bias = np.rint((matrix[-1] - center @ layer) * WEIGHT_STEPS) / WEIGHT_STEPS
    return replace(weights, matrices={**weights.matrices, "kind": layer, "kind_bias": bias})


def _multinomial(inputs: FloatArray, targets: FloatArray, weight: FloatArray) -> FloatArray:
    """Return coefficients, shape (n_inputs + 1, n_kinds), the constant last. targets: (n_pages,
    n_kinds), one-hot. weight: (n_pages,), of sum 1."""
    from scipy.optimize import minimize  # of the extra [train]

    padded = np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1)
    ridge = np.full((padded.shape[1], 1), KIND_RIDGE)
    ridge[-1] = 0

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients = flat.reshape(padded.shape[1], -1)
        logits = padded @ coefficients
        logits -= logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        gradient = padded.T @ ((np.exp(logs) - targets) * weight[:, None]) + ridge * coefficients
        value = -(weight[:, None] * targets * logs).sum() + 0.5 * (ridge * coefficients**2).sum()
        return float(value), gradient.ravel()

    solution = minimize(
        loss, np.zeros(padded.shape[1] * targets.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 400}
    )
    return np.asarray(solution.x).reshape(padded.shape[1], -1)


def fit_confidence(expected: FloatArray, kinds: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the coefficients of `decide.estimate_confidence`, shape (2 · n_kinds,): a logistic
    regression on held-out pages, each kind drawn towards the mean of all.

    Args:
        expected: (n_pages,), F1 that the decoder expected.
        kinds: (n_pages, n_kinds).
        scores: (n_pages,), the F1 that was reached.
    """
    evidence = np.stack([make_evidence(one, page) for one, page in zip(expected.tolist(), kinds, strict=True)])
    n = kinds.shape[1]
    # All kinds alike first: a constant and a slope; then the difference of each.
    alike = np.kron(np.eye(2), np.ones((n, 1)))
    both = np.concatenate([evidence @ alike, evidence], axis=1)
    ridge = np.concatenate([np.full(2, 0.01), np.full(2 * n, CONFIDENCE_RIDGE)])
    coefficients = np.zeros(2 + 2 * n)
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-both @ coefficients))
        gradient = both.T @ (chance - scores) + ridge * coefficients
        curvature = (both.T * (chance * (1 - chance))) @ both + np.diag(ridge)
        coefficients = coefficients - np.linalg.solve(curvature, gradient)
    whole = alike @ coefficients[:2] + coefficients[2:]
    return np.asarray(np.rint(whole * WEIGHT_STEPS) / WEIGHT_STEPS)
