"""The network's operations for labelling, in numpy and in C. Results are exact (see
`dripper.labels.cpu.network`).

The C version exists only if a C compiler was available during installation (see setup.py). Both
versions return the same bits. C is faster, because each numpy operation reads all activations from
memory and writes them back.
"""

import numpy as np

from dripper.labels.arrays import IntArray
from dripper.labels.cpu.network import ACTIVATION_STEPS, EPSILON, POOLED_LIMIT, POOLED_STEPS, Array, Operations

try:
    from dripper.labels.cpu import arithmetic_c as arithmetic_c

    # Do not use a module that was compiled from older code.
    IN_C = hasattr(arithmetic_c, "standardise")
except ImportError:
    IN_C = False

# Adding and subtracting 1.5·2^(52-8) rounds a float64 to a multiple of 2^-8, with ties to even. For
# a float32, the number is 1.5·2^(23-8).
_ROUNDER_64 = 1.5 * 2.0**52 / ACTIVATION_STEPS
_ROUNDER_32 = np.float32(1.5 * 2.0**23 / ACTIVATION_STEPS)
_POOLED_ROUNDER = 1.5 * 2.0**52 / POOLED_STEPS


def choose_operations(starts: IntArray, ends: IntArray) -> Operations:
    """Return the operations for one page, in C if possible.

    Args:
        starts, ends: As in `network.BlockSequence`.
    """
    return OperationsInC(starts, ends) if IN_C else NumpyOperations(starts, ends)


class NumpyOperations:
    """The operations for labelling in numpy. starts, ends: as in `network.BlockSequence`."""

    def __init__(self, starts: IntArray, ends: IntArray) -> None:
        # Compute the mean of each container only once, because neighbouring blocks usually share a
        # container. Levels are processed one after another.
        starts_at, ends_at = starts.T, ends.T
        is_new = np.ones(starts_at.shape, bool)
        is_new[:, 1:] = (starts_at[:, 1:] != starts_at[:, :-1]) | (ends_at[:, 1:] != ends_at[:, :-1])
        self._own = (np.cumsum(is_new).reshape(is_new.shape) - 1).T
        self._levels = np.nonzero(is_new)[0]
        self._sizes = (ends_at[is_new] - starts_at[is_new]).astype(np.float64)[:, None]
        self._n_levels = starts.shape[1]
        self._starts, self._ends = (part.T[is_new] * self._n_levels + self._levels for part in (starts, ends))

    def linear(self, x: Array, matrix: Array, bias: Array) -> Array:
        """Return x @ matrix + bias, rounded to multiples of 1/256, as float32. If the matrix is
        float64, the operation is computed in float64, and |result| must be under 2^43."""
        y = x.astype(matrix.dtype, copy=False) @ matrix
        y += bias
        return snap(y).astype(np.float32, copy=False)

    def rectify(self, x: Array) -> Array:
        """Set the negative values of `x` to 0, and return `x`."""
        return np.maximum(x, 0, out=x)

    def normalise(self, x: Array) -> Array:
        """Return x with every row divided by its root mean square, rounded to multiples of
        1/256."""
        exact = x.astype(np.float64)
        mean_square = np.einsum("ij,ij->i", exact, exact) / x.shape[1]
        return snap(x * (1 / np.sqrt(mean_square + EPSILON)).astype(np.float32)[:, None])

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return the dilated convolution, with one filter for each column, rounded to multiples of
        1/256."""
        y = x * taps[1]
        if dilation < len(x):
            y[dilation:] += x[:-dilation] * taps[0]
            y[:-dilation] += x[dilation:] * taps[2]
        return snap(y)

    def container_means(self, x: Array, bias: Array) -> Array:
        """Return the container means plus bias, rectified, clipped and rounded to multiples of
        1/64."""
        sums = np.zeros((len(x) + 1, x.shape[1]))
        sums[1:] = x
        # numpy sums column by column. It is faster to sum two columns at a time as complex numbers.
        pairs = sums.view(np.complex128)
        np.cumsum(pairs, axis=0, out=pairs)
        # Use one row for each pair of block and level. With this layout, the sum over a range needs
        # only two copies of contiguous numbers.
        columns = x.shape[1] // self._n_levels
        rows = sums.reshape(-1, columns)
        means = rows.take(self._ends, axis=0)
        means -= rows.take(self._starts, axis=0)
        means /= self._sizes
        means += np.reshape(bias, (-1, columns))[self._levels]
        np.clip(means, 0, POOLED_LIMIT, out=means)
        means += _POOLED_ROUNDER
        means -= _POOLED_ROUNDER
        return means.astype(np.float32).take(self._own, axis=0).reshape(x.shape)

    def drop(self, x: Array) -> Array:
        """Return x unchanged."""
        return x


class OperationsInC:
    """The operations for labelling in C (`arithmetic_c.c`). Matrix products still use numpy.
    starts, ends: as in `network.BlockSequence`."""

    def __init__(self, starts: IntArray, ends: IntArray) -> None:
        self._starts, self._ends = (np.ascontiguousarray(part, np.int64) for part in (starts, ends))

    def linear(self, x: Array, matrix: Array, bias: Array) -> Array:
        """Return x @ matrix + bias, rounded to multiples of 1/256, as float32. If the matrix is
        float64, the operation is computed in float64, and |result| must be under 2^43."""
        y = x.astype(matrix.dtype, copy=False) @ matrix
        if y.dtype == np.float32:
            # The bias is the number 0 if the layer has none.
            arithmetic_c.snap(y, bias if isinstance(bias, np.ndarray) else b"")
            return y
        snapped = np.empty(y.shape, np.float32)
        arithmetic_c.snap_64(y, bias, snapped)
        return snapped

    def rectify(self, x: Array) -> Array:
        """Set the negative values of `x` to 0, and return `x`."""
        arithmetic_c.rectify(x)
        return x

    def normalise(self, x: Array) -> Array:
        """Return x with every row divided by its root mean square, rounded to multiples of
        1/256."""
        y = np.empty_like(x)
        arithmetic_c.normalise(x, x.shape[1], y)
        return y

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return the dilated convolution, with one filter for each column, rounded to multiples of
        1/256."""
        y = np.empty_like(x)
        arithmetic_c.convolve(x, taps, dilation, y)
        return y

    def container_means(self, x: Array, bias: Array) -> Array:
        """Return the container means plus bias, rectified, clipped and rounded to multiples of
        1/64."""
        y = np.empty_like(x)
        arithmetic_c.container_means(x, self._starts, self._ends, self._starts.shape[1], bias, y)
        return y

    def drop(self, x: Array) -> Array:
        """Return x unchanged."""
        return x


def snap(x: Array) -> Array:
    """Round the values of `x` itself to multiples of 1/256, and return `x`. |x| must be less than
    2^43, or less than 2^14 for float32."""
    rounder = _ROUNDER_32 if x.dtype == np.float32 else _ROUNDER_64
    x += rounder
    x -= rounder
    return x
