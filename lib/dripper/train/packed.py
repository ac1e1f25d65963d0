"""The network's operations in JAX, over many pages packed end to end."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dripper.labels.cpu.network import EPSILON, POOLED_LIMIT, Array


class PackedOperations:
    """What :class:`dripper.labels.cpu.network.Operations` says, in float32, without rounding.

    page: (n_blocks,) which page each block belongs to. starts, ends: (n_blocks, n_levels), ranges
    in the packed order. drop: what residual branches go through.
    """

    def __init__(self, page: Array, starts: Array, ends: Array, drop: Callable[[Array], Array] = lambda x: x) -> None:
        self._page, self._starts, self._ends = page, starts, ends
        self.drop = drop

    def linear(self, x: Array, matrix: Array, bias: Array) -> Array:
        """Return x @ matrix + bias. (Rounding has no gradient, and its 0.2 % of an activation is
        far under the dropout.)"""
        return x @ matrix + bias

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0)."""
        return jax.nn.relu(x)

    def normalise(self, x: Array) -> Array:
        """Divide every row by its root mean square."""
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + EPSILON)

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return the dilated convolution; blocks of other pages count as zero."""
        return self._moved(x, dilation) * taps[0] + x * taps[1] + self._moved(x, -dilation) * taps[2]

    def container_means(self, x: Array, bias: Array) -> Array:
        """Return means over each block's containers, with bias, rectified and clipped."""
        sums = jnp.concatenate([jnp.zeros_like(x[:1]), jnp.cumsum(x, axis=0)])
        levels = jnp.split(sums, self._starts.shape[1], axis=1)
        means = [
            (part[self._ends[:, level]] - part[self._starts[:, level]])
            / (self._ends[:, level] - self._starts[:, level])[:, None]
            for level, part in enumerate(levels)
        ]
        return jnp.clip(jnp.concatenate(means, axis=1) + bias, 0, POOLED_LIMIT)

    def _moved(self, x: Array, by: int) -> Any:
        source = jnp.arange(len(self._page)) - by
        same = (source >= 0) & (source < len(self._page)) & (jnp.roll(self._page, by) == self._page)
        return jnp.roll(x, by, axis=0) * same[:, None]
