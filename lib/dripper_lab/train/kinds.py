"""Fits two regressions. One predicts the kind of a page, the other the confidence in the page's
labels. Both are fitted after the network, which stays unchanged."""

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
"""Page type in a data set → kind of page, for types that are not themselves kinds."""
KIND_BALANCE = 0.6
"""A page has the weight n^-0.6 if there are n pages of its kind. Otherwise, rare kinds would be
mistaken for frequent kinds."""
KIND_RIDGE = 0.1
CONFIDENCE_RIDGE = 10.0
"""KIND_RIDGE and CONFIDENCE_RIDGE are penalties on squared coefficients. The former is added to a
mean loss over pages, the latter to a sum over pages."""
# Added to each deviation. Otherwise, means that hardly vary over pages would be divided by almost
# 0.
_LEAST_DEVIATION = 0.05
_NEWTON_STEPS = 12


def kind_of(example: Example) -> str:
    """Return the kind of a page, one of KINDS; unknown types are `other`."""
    kind = ALIASES.get(example.kind, example.kind)
    return kind if kind in KINDS else "other"


def summary_of(weights: Weights, example: Example) -> PageSummary:
    """Return the summary of a page. `example` must have raw features."""
    page, summary = normalize_page(weights, example.blocks), PageSummary()
    logits, states = score_blocks(weights, page)
    summary.add(example.words, probabilities(logits), page.features, states)
    return summary


def compute_held_out_kinds(weights: Weights, example: Example) -> FloatArray:
    """Return the probability of each of KINDS, shape (n_kinds,), for a page that the weights were
    not trained on."""
    return classify_page(weights, summary_of(weights, example), example.structure)


def with_page_kinds(weights: Weights, examples: Sequence[Example]) -> Weights:
    """Return the weights with a layer that predicts page kinds by multinomial logistic
    regression."""
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
    """Return coefficients, shape (n_inputs + 1, n_kinds), with the constant in the last row.
    targets: (n_pages, n_kinds), one-hot. weight: (n_pages,), with the sum 1."""
    from scipy.optimize import minimize  # from the extra [train]

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
    """Return the coefficients of `decide.estimate_confidence`, shape (2 · n_kinds,). They come from
    a logistic regression on held-out pages. A penalty keeps the coefficients of each kind close to
    the shared coefficients.

    Args:
        expected: (n_pages,), the F1 that the decoder expected.
        kinds: (n_pages, n_kinds), the probability of each kind.
        scores: (n_pages,), the F1 that was reached.
    """
    evidence = np.stack([make_evidence(one, page) for one, page in zip(expected.tolist(), kinds, strict=True)])
    n = kinds.shape[1]
    # The first two inputs, a constant and a slope, are shared by all kinds. The others are for the
    # differences of each kind.
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
