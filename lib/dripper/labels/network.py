"""The network that scores blocks: dilated separable convolutions over the sequence, and means over block containers.

One definition of the layers serves labelling (numpy, here) and training (JAX, `dripper.train.packed`): what differs is
behind :class:`Operations`.

Labelling gives the same bits on every machine. Sums of floats depend on their order, and each processor's BLAS has its
own; so weights and activations are rounded to dyadic grids (2^-12 and 2^-8), coarse enough for every sum of products to
be exact in float64, and exact sums have no order. What is left are single IEEE operations, the same everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Array = Any
"""An array of numpy or of JAX; the two have no common type."""

WEIGHT_STEPS = 4096
"""Weights are multiples of 1/4096 within ±8: int16 in the file."""
ACTIVATION_STEPS = 256
"""Activations are multiples of 1/256. The longest exact chain is a convolution, activation · tap · weight: multiples of
2^-32 which, a normalised row of `width` ≤ 256 being at most 16, stay under 2^20: 52 bits, and float64 holds 53."""
EPSILON = 2.0**-10
"""Keeps an all-zero row finite in the normalisation; far under the mean square of any other row (about 1)."""

# Adding and taking away 1.5·2^(52-8) leaves a float64 rounded to multiples of 2^-8, ties to even, in two operations.
_ROUNDER = 1.5 * 2.0**52 / ACTIVATION_STEPS


@dataclass(frozen=True, slots=True)
class Shape:
    """What the weights do not tell by themselves.

    dilations: one convolution layer each, in order. pooled: after which layers (by index) the container means follow.
    """

    dilations: tuple[int, ...]
    pooled: tuple[int, ...]


class BlockSequence(NamedTuple):
    """The blocks of one page as the network sees them.

    features: (n_blocks, n_features). starts, ends: (n_blocks, n_levels), the range of blocks under the block's container
    at each level, end exclusive: a mean over it tells a block about its list, its section, its page.
    """

    features: Array
    starts: Array
    ends: Array


class Operations(Protocol):
    """What numpy and JAX do differently. x: (n_blocks, any number of columns).

    `snap` and `rectify` may overwrite their argument, which nobody uses again.
    """

    def snap(self, x: Array) -> Array:
        """Round to the grid of activations (training: not at all)."""

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0)."""

    def normalise(self, x: Array) -> Array:
        """Divide every row by its root mean square, on the grid (RMSNorm, Zhang and Sennrich 2019)."""

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return taps[0]·x[i-dilation] + taps[1]·x[i] + taps[2]·x[i+dilation]; blocks beyond the page are zero."""

    def container_means(self, x: Array) -> Array:
        """Return means over each block's containers: an equal share of the columns for each level."""

    def drop(self, x: Array) -> Array:
        """Disturb a residual branch (training only)."""


def forward(weights: Mapping[str, Array], shape: Shape, features: Array, do: Operations) -> Array:
    """Return the logit of `main` for every block, shape (n_blocks,).

    weights: by name, as :func:`weight_shapes` lists them. features: (n_blocks, n_features), standardised, on the grid.
    """
    x = do.rectify(do.snap(features @ weights["input"] + weights["input_bias"]))
    for layer, dilation in enumerate(shape.dilations):
        y = do.convolve(do.normalise(x), weights[f"conv{layer}_taps"], dilation)
        y = do.rectify(do.snap(y @ weights[f"conv{layer}"] + weights[f"conv{layer}_bias"]))
        x = x + do.drop(y)
        if layer in shape.pooled:
            y = do.container_means(do.snap(do.normalise(x) @ weights[f"pool{layer}_down"]))
            y = do.rectify(do.snap(y + weights[f"pool{layer}_bias"]))
            x = x + do.drop(do.snap(y @ weights[f"pool{layer}_up"]))
    y = do.rectify(do.snap(do.normalise(x) @ weights["hidden"] + weights["hidden_bias"]))
    return do.snap(y @ weights["output"] + weights["output_bias"])[:, 0]


def weight_shapes(
    shape: Shape, n_features: int, n_levels: int, width: int, pool_width: int
) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every weight of a network of `width` channels, `pool_width` of them a level."""
    shapes: dict[str, tuple[int, ...]] = {"input": (n_features, width), "input_bias": (width,)}
    for layer in range(len(shape.dilations)):
        shapes |= {f"conv{layer}_taps": (3, width), f"conv{layer}": (width, width), f"conv{layer}_bias": (width,)}
    pooled = n_levels * pool_width
    for layer in shape.pooled:
        shapes |= {f"pool{layer}_down": (width, pooled), f"pool{layer}_bias": (pooled,)}
        shapes |= {f"pool{layer}_up": (pooled, width)}
    shapes |= {"hidden": (width, width // 2), "hidden_bias": (width // 2,)}
    return shapes | {"output": (width // 2, 1), "output_bias": (1,)}


class ExactOperations:
    """The operations of labelling, on one page: float64 on grids. starts, ends: those of :class:`BlockSequence`."""

    def __init__(self, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> None:
        self._sizes = (ends - starts).astype(np.float64)
        n_levels = starts.shape[1]
        self._starts, self._ends = (part * n_levels + np.arange(n_levels) for part in (starts, ends))

    def snap(self, x: Array) -> Array:
        """Round to multiples of 1/256, in place; |x| must be under 2^43."""
        x += _ROUNDER
        x -= _ROUNDER
        return x

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0), in place."""
        return np.maximum(x, 0, out=x)

    def normalise(self, x: Array) -> Array:
        """Divide every row by its root mean square, on the grid."""
        mean_square = np.einsum("ij,ij->i", x, x) / x.shape[1]
        return self.snap(x / np.sqrt(mean_square + EPSILON)[:, None])

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return the dilated convolution, a filter for each column."""
        y = x * taps[1]
        if dilation < len(x):
            y[dilation:] += x[:-dilation] * taps[0]
            y[:-dilation] += x[dilation:] * taps[2]
        return y

    def container_means(self, x: Array) -> Array:
        """Return means over each block's containers, on the grid."""
        sums = np.zeros((len(x) + 1, x.shape[1]))
        np.cumsum(x, axis=0, out=sums[1:])
        # A row for each pair of block and level, so that each range costs two copies of neighbouring numbers.
        rows = sums.reshape(-1, x.shape[1] // self._sizes.shape[1])
        means = rows.take(self._ends, axis=0)
        means -= rows.take(self._starts, axis=0)
        means /= self._sizes[:, :, None]
        return self.snap(means.reshape(x.shape))

    def drop(self, x: Array) -> Array:
        """Return x: nothing is disturbed."""
        return x
