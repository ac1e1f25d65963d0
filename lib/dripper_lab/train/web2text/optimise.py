"""The training loop (paper 4.2): Adam on the cross-entropy of excerpts, in JAX. Each network is
trained separately."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper_lab.train.web2text.examples import Recipe
from dripper_labelers.web2text.network import Array, Layer, forward, list_layer_shapes

CHECK_STEPS = 250
"""Number of steps between two checks on the validation pages."""


@dataclass(frozen=True)
class Sequences:
    """Sequences of leaves or of pairs of leaves, concatenated."""

    features: Any
    """(total length, n_features), standardised."""
    outcomes: IntArray
    """(total length,), the label of each leaf or pair."""
    ends: IntArray
    """(n_sequences,), the end of each sequence, exclusive."""

    @classmethod
    def of(cls, features: Sequence[FloatArray], outcomes: Sequence[IntArray]) -> "Sequences":
        """Concatenate sequences. Empty sequences are left out."""
        lengths = np.array([len(each) for each in outcomes])
        return cls(
            np.concatenate(features).astype(np.float32),
            np.concatenate(outcomes),
            np.cumsum(lengths[lengths > 0]),
        )


class Batch:
    """Excerpts of sequences: features (n, length, n_features), outcomes (n, length), and a mask (n,
    length, 1), which is 0 beyond the end of a sequence."""

    def __init__(self, sequences: Sequences, chosen: IntArray, starts: IntArray, length: int) -> None:
        """chosen: (n,), the sequence of each excerpt. starts: (n,), the index in the concatenated
        sequences at which each excerpt begins."""
        places = starts[:, None] + np.arange(length)
        inside = places < sequences.ends[chosen][:, None]
        places = np.minimum(places, len(sequences.outcomes) - 1)
        self.arrays = (
            sequences.features[places] * inside[:, :, None],
            sequences.outcomes[places],
            inside[:, :, None].astype(np.float32),
        )


class BatchOperations:
    """The operations of `network.Operations` in JAX, on excerpts; drop: a dropout function that is
    applied to hidden layers."""

    def __init__(self, inside: Array, drop: Callable[[Array], Array] = lambda x: x) -> None:
        """inside: (n, length, 1), 0 beyond the end of a sequence."""
        self._inside, self._drop = inside, drop

    def convolve(self, x: Array, layer: Layer) -> Array:
        """Return the layer's sums. Positions beyond the ends of a sequence count as zero."""
        x = x * self._inside
        if len(layer.taps) == 1:
            return x @ layer.taps[0] + layer.bias
        around = jnp.pad(x, ((0, 0), (1, 1), (0, 0)))
        return around[:, :-2] @ layer.taps[0] + x @ layer.taps[1] + around[:, 2:] @ layer.taps[2] + layer.bias

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0), after dropout."""
        return self._drop(jax.nn.relu(x))


def train(sequences: Sequences, outcomes: int, recipe: Recipe, validation: Sequences | None = None) -> list[Layer]:
    """Return the trained layers.

    Args:
        validation: Sequences for choosing weights. The weights with the lowest cross-entropy on
            these sequences are returned.
    """
    draw = np.random.default_rng(recipe.seed)
    layers = initial_layers(sequences.features.shape[1], outcomes, recipe.seed)
    moments: Any = (jax.tree.map(jnp.zeros_like, layers), jax.tree.map(jnp.zeros_like, layers))
    best, lowest = layers, np.inf
    starts_of = np.concatenate([[0], sequences.ends[:-1]])
    for step in range(1, recipe.steps + 1):
        chosen = draw.integers(len(sequences.ends), size=recipe.excerpts)
        room = np.maximum(sequences.ends[chosen] - starts_of[chosen] - recipe.excerpt_leaves, 0)
        starts = starts_of[chosen] + draw.integers(room + 1)
        batch = Batch(sequences, chosen, starts, recipe.excerpt_leaves)
        key = jax.random.PRNGKey(recipe.seed * 1_000_003 + step)
        regular = (recipe.dropout, recipe.weight_decay)
        layers, moments = _step(layers, moments, batch.arrays, key, step, recipe.learning_rate, regular)
        if validation is not None and step % CHECK_STEPS == 0:
            error = cross_entropy(layers, validation)
            if error < lowest:
                best, lowest = layers, error
    result = layers if validation is None else best
    return [Layer(*(np.asarray(part, np.float64) for part in layer)) for layer in result]


def initial_layers(n_features: int, outcomes: int, seed: int) -> list[Layer]:
    """Return random taps (He et al. 2015) and zero biases."""
    shapes = list_layer_shapes(n_features, outcomes)
    keys = jax.random.split(jax.random.PRNGKey(seed), len(shapes))
    return [
        Layer(jax.random.normal(key, shape) * np.sqrt(2 / (shape[0] * shape[1])), jnp.zeros(shape[2]))
        for key, shape in zip(keys, shapes, strict=True)
    ]


def cross_entropy(layers: Sequence[Layer], sequences: Sequences) -> float:
    """Return the cross-entropy on whole sequences, as a mean over leaves."""
    starts = np.concatenate([[0], sequences.ends[:-1]])
    total = 0.0
    for number, (start, end) in enumerate(zip(starts, sequences.ends, strict=True)):
        # Pad to powers of two, so that the function is compiled for few lengths.
        length = 1 << max(6, int(end - start - 1).bit_length())
        batch = Batch(sequences, np.array([number]), np.array([start]), length)
        total += float(_error(list(layers), batch.arrays))
    return total / len(sequences.outcomes)


def _losses(layers: Sequence[Layer], arrays: Any, drop: Callable[[Array], Array]) -> Any:
    features, outcomes, inside = arrays
    logits = forward(layers, features, BatchOperations(inside, drop))
    logs = jax.nn.log_softmax(logits)
    return -(jnp.take_along_axis(logs, outcomes[:, :, None], axis=2) * inside).sum()


@jax.jit
def _error(layers: Sequence[Layer], arrays: Any) -> Any:
    return _losses(layers, arrays, lambda x: x)


@partial(jax.jit, donate_argnums=1)
def _step(layers: Any, moments: Any, arrays: Any, key: Any, number: Any, rate: Any, regular: Any) -> Any:
    dropout, weight_decay = regular

    def loss(layers: Any) -> Any:
        keys = iter(jax.random.split(key, len(layers)))

        def drop(x: Array) -> Array:
            return x * jax.random.bernoulli(next(keys), 1 - dropout, x.shape) / (1 - dropout)

        decay = sum((layer.taps**2).sum() for layer in layers) / 2
        return _losses(layers, arrays, drop) / jnp.maximum(arrays[2].sum(), 1) + weight_decay * decay

    gradient = jax.grad(loss)(layers)
    first = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, moments[0], gradient)
    second = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new * new, moments[1], gradient)

    def updated(weight: Any, mean: Any, square: Any) -> Any:
        return weight - rate * mean / (1 - 0.9**number) / (jnp.sqrt(square / (1 - 0.999**number)) + 1e-8)

    return jax.tree.map(updated, layers, first, second), (first, second)
