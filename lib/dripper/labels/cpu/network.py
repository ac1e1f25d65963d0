"""The network that scores blocks. It consists of dilated separable convolutions over the sequence
of blocks, and means over the blocks' containers.

Labelling (`dripper.labels.cpu.arithmetic`) and training (JAX, `dripper_lab.train.optimise`) share
the definition of the layers. :class:`Operations` declares the operations that differ.

Labelling returns the same bits on every machine. A sum of floats depends on the order of summation,
which differs between processors' BLAS libraries. So weights are rounded to multiples of 2^-10, and
activations to multiples of 2^-8. These grids are so coarse that every sum of products is exact in
float32, in any order. All other steps are single IEEE operations, which are the same everywhere.
Values without a bound (features, running sums over a page) use float64, which has far more digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dripper.labels.arrays import FloatArray

Array = Any
"""A numpy or JAX array. There is no common type for both."""

WEIGHT_STEPS = 1024
"""Weights are multiples of 1/1024 between -32 and 32, so the file stores them as int16."""
ACTIVATION_STEPS = 256
"""Activations are multiples of 1/256."""
POOLED_STEPS, POOLED_LIMIT = 64, 8.0
"""Container means are multiples of 1/64 and at most 8. Unlike the inputs of most linear layers,
they are not normalised."""
EPSILON = 2.0**-10
"""Keeps an all-zero row finite in the normalisation. The mean square of any other row is about
1."""

# A float32 has 24 significant bits. Sums of products of activations and weights are multiples of
# 2^-18 (for pooled activations, 2^-16). Therefore they are exact in any order if the sum of the
# absolute products is less than 2^6 (pooled: 2^8).
_PRODUCT_LIMIT = 2.0**24 / (WEIGHT_STEPS * ACTIVATION_STEPS)
_POOLED_PRODUCT_LIMIT = 2.0**24 / (WEIGHT_STEPS * POOLED_STEPS)


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties of a network that do not follow from its weights."""

    dilations: tuple[int, ...]
    """The dilation of each convolution layer, in order."""
    pooled: tuple[int, ...]
    """Indexes of the convolution layers that are followed by container means."""


class BlockSequence(NamedTuple):
    """The blocks of one page, with raw features and containers."""

    features: Array
    """(n_blocks, n_features)."""
    starts: Array
    ends: Array
    """`starts` and `ends`: (n_blocks, n_levels), the range of blocks in the block's container at
    each level, end exclusive. Containers are lists, sections or the page."""


class Operations(Protocol):
    """The operations that differ between labelling and training. x: (n_blocks, any number of
    columns). Operations are allowed to overwrite x."""

    def linear(self, x: Array, matrix: Array, bias: Array) -> Array:
        """Return x @ matrix + bias. For labelling, the result is rounded to multiples of 1/256.

        Args:
            bias: The bias of each column, or 0.
        """

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0)."""

    def normalise(self, x: Array) -> Array:
        """Return x with every row divided by its root mean square (RMSNorm, Zhang and Sennrich
        2019). Does not overwrite x."""

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return taps[0]·x[i-dilation] + taps[1]·x[i] + taps[2]·x[i+dilation] for each block i.
        Blocks beyond the page count as zero."""

    def container_means(self, x: Array, bias: Array) -> Array:
        """Return the means over each block's containers, plus bias, rectified and clipped to
        POOLED_LIMIT. The columns are divided equally among the levels."""

    def drop(self, x: Array) -> Array:
        """Apply dropout to a residual branch, in training only."""


def forward(weights: Mapping[str, Array], shape: Shape, features: Array, ops: Operations) -> Array:
    """Return the logit of `main` for every block, shape (n_blocks,). For the arguments, see
    :func:`compute_states`."""
    return compute_logits(weights, compute_states(weights, shape, features, ops), ops)


def compute_logits(weights: Mapping[str, Array], x: Array, ops: Operations) -> Array:
    """Return the logit of `main` for every block from its state."""
    y = ops.rectify(ops.linear(ops.normalise(x), weights["hidden"], weights["hidden_bias"]))
    return ops.linear(y, weights["output"], weights["output_bias"])[:, 0]


def compute_states(weights: Mapping[str, Array], shape: Shape, features: Array, ops: Operations) -> Array:
    """Return the network's state of every block, shape (n_blocks, width).

    Args:
        weights: The weights, keyed by name, as listed by
            `dripper_lab.train.weights.list_weight_shapes`.
        features: (n_blocks, n_features), standardised, in multiples of 1/256.
    """
    x = ops.rectify(ops.linear(features, weights["input"], weights["input_bias"]))
    for layer, dilation in enumerate(shape.dilations):
        y = ops.convolve(ops.normalise(x), weights[f"conv{layer}_taps"], dilation)
        y = ops.rectify(ops.linear(y, weights[f"conv{layer}"], weights[f"conv{layer}_bias"]))
        x = x + ops.drop(y)
        if layer in shape.pooled:
            y = ops.linear(ops.normalise(x), weights[f"pool{layer}_down"], 0)
            y = ops.container_means(y, weights[f"pool{layer}_bias"])
            x = x + ops.drop(ops.linear(y, weights[f"pool{layer}_up"], 0))
    return x


def prepare_exact_weights(weights: Mapping[str, FloatArray], shape: Shape) -> dict[str, Array]:
    """Convert weights for labelling to float32, except in the first and last layers.

    Raises ValueError if the weights are so large that sums of products might not be exact. The
    largest possible sum of each column is estimated by the Cauchy-Schwarz inequality. A normalised
    row has length sqrt(width), and rounding adds at most 1 %.
    """
    length = 1.01 * np.sqrt(len(weights["conv0"]))
    for layer in range(len(shape.dilations)):
        taps = np.abs(weights[f"conv{layer}_taps"]).max(axis=1).sum()
        _check(weights, f"conv{layer}", length * max(taps, 1), _PRODUCT_LIMIT)
    for layer in shape.pooled:
        _check(weights, f"pool{layer}_down", length, _PRODUCT_LIMIT)
        up = f"pool{layer}_up"
        _check(weights, up, POOLED_LIMIT * np.sqrt(len(weights[up])), _POOLED_PRODUCT_LIMIT)
    _check(weights, "hidden", length, _PRODUCT_LIMIT)
    unbounded = ("input", "input_bias", "output", "output_bias", "switch", "switch_bias")
    return {name: value if name in unbounded else value.astype(np.float32) for name, value in weights.items()}


def _check(weights: Mapping[str, FloatArray], name: str, length: float, limit: float) -> None:
    bias = np.abs(weights.get(f"{name}_bias", np.zeros(1))).max()
    largest = length * np.linalg.norm(weights[name], axis=0).max() + bias
    if not largest < limit:
        raise ValueError(f"weight {name} is too large for exact sums: {largest:.0f}, limit {limit:.0f}")
