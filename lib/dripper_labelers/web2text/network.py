"""Defines the two convolutional networks (paper 3.4): one for leaves, the other for pairs of
neighbors.

Labeling and training (JAX, `dripper_lab.train.web2text.optimise`) share this definition. Labeling
is exact, as in `dripper.labels.cpu.network`. Weights are multiples of 2^-10 within ±32, and values
between layers are multiples of 2^-8 within ±2^12. Sums of products are therefore multiples of 2^-18
below 2^25, which float64 represents exactly in any order of addition.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from dripper.labels.arrays import FloatArray

Array = Any
"""A numpy or JAX array. They have no common type."""

FILTERS, KERNELS = (50, 50, 50, 10), (1, 1, 3, 3, 3)
"""The number of filters in each hidden layer, and the kernel size of every layer. The last layer
has one filter per outcome."""
RADIUS = sum(kernel // 2 for kernel in KERNELS)
"""The number of leaves on each side that influence the outcome of a leaf."""
LEAF_OUTCOMES, PAIR_OUTCOMES = 2, 4
"""Outcomes of a leaf: other, main. Outcomes of a pair: other-other, other-main, main-other,
main-main."""
WEIGHT_STEPS, ACTIVATION_STEPS, ACTIVATION_LIMIT = 1024, 256, 4096.0
FEATURE_LIMIT = 6.0
"""Standardized features are clipped to ± this limit, because larger values are outliers."""
LOG_STEPS = 4096
"""Log potentials are rounded to multiples of 1/4096, so that machines with slightly different exp()
results give the same labels."""


class Layer(NamedTuple):
    """A layer's weights: `taps`, (kernel, n_in, n_out), and `bias`, (n_out,)."""

    taps: Array
    bias: Array


class Operations(Protocol):
    """Operations that are implemented differently for labeling and for training."""

    def convolve(self, x: Array, layer: Layer) -> Array:
        """Convolve x with a layer's taps, with zero padding at both ends, and add the bias."""

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0)."""


def forward(layers: Sequence[Layer], x: Array, ops: Operations) -> Array:
    """Return the logits for each outcome, (…, length, outcomes).

    Args:
        x: The standardised features, (…, length, n_features).
    """
    for layer in layers[:-1]:
        x = ops.rectify(ops.convolve(x, layer))
    return ops.convolve(x, layers[-1])


def list_layer_shapes(n_features: int, outcomes: int) -> list[tuple[int, int, int]]:
    """Return the shape of each layer's taps.

    >>> sum(kernel * n_in * n_out for kernel, n_in, n_out in list_layer_shapes(128, 2))
    17960
    """
    widths = (n_features, *FILTERS, outcomes)
    return [(kernel, *widths[number : number + 2]) for number, kernel in enumerate(KERNELS)]  # type: ignore[misc]


class ExactOperations:
    """Operations in numpy. They are exact, because weights and activations are rounded. `x` is
    float64, (length, n_in)."""

    def convolve(self, x: Array, layer: Layer) -> Array:
        """Convolve x with a layer's taps, add the bias, and round to multiples of 1/256."""
        if len(layer.taps) == 1:
            y = x @ layer.taps[0]
        else:
            y = x @ layer.taps[1]
            y[1:] += x[:-1] @ layer.taps[0]
            y[:-1] += x[1:] @ layer.taps[2]
        return round_to_grid(y + layer.bias)

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0)."""
        return np.maximum(x, 0)


def round_to_grid(x: FloatArray) -> FloatArray:
    """Round to multiples of 1/256, and clip to ±ACTIVATION_LIMIT."""
    return np.clip(np.rint(x * ACTIVATION_STEPS) / ACTIVATION_STEPS, -ACTIVATION_LIMIT, ACTIVATION_LIMIT)


def standardise(features: Array, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Convert features to the networks' input, float64. Missing features become 0, the average."""
    values = (features.astype(np.float64) - mean) / scale
    return round_to_grid(np.nan_to_num(np.clip(values, -FEATURE_LIMIT, FEATURE_LIMIT), nan=0.0))


def compute_log_potentials(layers: Sequence[Layer], features: FloatArray) -> FloatArray:
    """Return the log probability of each outcome, (length, outcomes), rounded to multiples of
    1/4096."""
    logits = forward(layers, features, ExactOperations())
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return np.asarray(np.rint(logs * LOG_STEPS) / LOG_STEPS)


def split_layers(matrices: Mapping[str, FloatArray], prefix: str) -> list[Layer]:
    """Create layers from matrices named by :func:`name_matrices`."""
    return [Layer(matrices[f"{prefix}{n}"], matrices[f"{prefix}{n}_bias"]) for n in range(len(KERNELS))]


def name_matrices(layers: Sequence[Layer], prefix: str) -> dict[str, FloatArray]:
    """Return the matrices of layers, keyed by name and rounded to multiples of 1/1024."""
    matrices = {
        f"{prefix}{n}{end}": part
        for n, layer in enumerate(layers)
        for end, part in zip(("", "_bias"), layer, strict=True)
    }
    return {
        name: np.rint(np.asarray(value, np.float64) * WEIGHT_STEPS) / WEIGHT_STEPS for name, value in matrices.items()
    }
