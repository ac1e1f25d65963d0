"""Trains the network in JAX: AdamW on a loss over blocks (cross-entropy) and pages (soft F1), in
two stages with averaged weights.

The first stage trains on older collections of pages, which are nearly all articles. The second
stage trains on pages of every kind. The shipped weights are a weighted mean of the weights after
each stage. They keep the first stage's knowledge of old articles, and nearly everything that the
second stage learned (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.network import EPSILON, POOLED_LIMIT, Array, forward
from dripper_lab.train.batches import PAGES_PER_BATCH, TrainingBatch, training_batches
from dripper_lab.train.disturb import Blanks, disturb
from dripper_lab.train.examples import Example
from dripper_lab.train.recipe import Recipe, turns_an_epoch
from dripper_lab.train.weights import list_weight_shapes


class PackedOperations:
    """The operations of :class:`dripper.labels.cpu.network.Operations` in float32, without
    rounding.

    page: (n_blocks,), the page that each block belongs to. starts, ends: (n_blocks, n_levels),
    ranges in the packed order. drop: a dropout function that is applied to residual branches.
    """

    def __init__(self, page: Array, starts: Array, ends: Array, drop: Callable[[Array], Array] = lambda x: x) -> None:
        self._page, self._starts, self._ends = page, starts, ends
        self.drop = drop

    def linear(self, x: Array, matrix: Array, bias: Array) -> Array:
        """Return x @ matrix + bias. Nothing is rounded, because rounding has no gradient. It would
        change an activation by 0.2 %, far less than dropout does."""
        return x @ matrix + bias

    def rectify(self, x: Array) -> Array:
        """Return max(x, 0)."""
        return jax.nn.relu(x)

    def normalise(self, x: Array) -> Array:
        """Divide every row by its root mean square."""
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + EPSILON)

    def convolve(self, x: Array, taps: Array, dilation: int) -> Array:
        """Return the dilated convolution; blocks of other pages count as zero."""
        return self._move(x, dilation) * taps[0] + x * taps[1] + self._move(x, -dilation) * taps[2]

    def container_means(self, x: Array, bias: Array) -> Array:
        """Return the mean over each of a block's containers, plus bias, clipped to
        0..POOLED_LIMIT."""
        sums = jnp.concatenate([jnp.zeros_like(x[:1]), jnp.cumsum(x, axis=0)])
        levels = jnp.split(sums, self._starts.shape[1], axis=1)
        means = [
            (part[self._ends[:, level]] - part[self._starts[:, level]])
            / (self._ends[:, level] - self._starts[:, level])[:, None]
            for level, part in enumerate(levels)
        ]
        return jnp.clip(jnp.concatenate(means, axis=1) + bias, 0, POOLED_LIMIT)

    def _move(self, x: Array, by: int) -> Any:
        source = jnp.arange(len(self._page)) - by
        same = (source >= 0) & (source < len(self._page)) & (jnp.roll(self._page, by) == self._page)
        return jnp.roll(x, by, axis=0) * same[:, None]


log = logging.getLogger(__name__)

Parameters = dict[str, Any]


def train(
    examples: Sequence[Example], blanks: Blanks, recipe: Recipe, start: Mapping[str, FloatArray] | None = None
) -> dict[str, FloatArray]:
    """Return the trained weights, keyed by name.

    The same arguments give the same weights on the same machine. Another processor can round sums
    of floats differently, and then gives other weights. Labelling does not have this problem.

    Args:
        examples: Examples with standardised features.
        blanks: See :func:`dripper_lab.train.disturb.disturb`.
        start: Weights to train further. If None, start with random weights.
    """
    draw = np.random.default_rng(recipe.seed)
    weights = initial_weights(recipe, examples[0]) if start is None else jax.tree.map(jnp.float32, dict(start))
    moments = (jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights))
    # Compilation is slow. All stages and folds share one compiled step, because they have the same
    # values of these arguments.
    step = _compiled_step(Recipe(shape=recipe.shape, dropout=recipe.dropout, weight_decay=recipe.weight_decay))
    turns = turns_an_epoch([example.kind for example in examples], recipe.balance)
    batches = partial(training_batches, examples, recipe.batch_blocks, shares=recipe.shares, turns=turns)
    # This is an estimate, because the number of batches varies a little between epochs.
    steps = recipe.epochs * sum(1 for _ in batches(np.random.default_rng(recipe.seed)))
    average: Parameters | None = None
    n_done = 0
    for epoch in range(recipe.epochs):
        losses = []
        for batch in batches(draw):
            n_done += 1
            rate = _learning_rate(recipe, n_done / steps, n_done)
            key = jax.random.PRNGKey(recipe.seed * 1_000_003 + n_done)
            batch = disturb(batch, blanks, recipe, draw)
            weights, moments, loss = step(weights, moments, batch, key, n_done, rate)
            losses.append(loss)
            if n_done > recipe.average_from * steps:
                average = _average(average, weights, recipe.average_decay)
        log.info("epoch %d of %d: loss %.4f", epoch + 1, recipe.epochs, float(np.mean(losses)))
    return {name: np.asarray(value, np.float64) for name, value in (average or weights).items()}


def initial_weights(recipe: Recipe, example: Example) -> Parameters:
    """Return initial weights: random matrices (He et al. 2015, halved on residual branches), zero
    biases, and convolution taps that blur."""
    n_features, n_levels = example.blocks.features.shape[1], example.blocks.starts.shape[1]
    shapes = list_weight_shapes(recipe.shape, n_features, n_levels, recipe.width, recipe.pool_width)
    keys = jax.random.split(jax.random.PRNGKey(recipe.seed), len(shapes))
    weights: Parameters = {}
    for key, (name, size) in zip(keys, shapes.items(), strict=True):
        if name.endswith("_taps"):
            weights[name] = jnp.array([[0.3], [0.5], [0.3]]) + 0.2 * jax.random.normal(key, size)
        elif len(size) == 1:
            weights[name] = jnp.zeros(size)
        else:
            branch = 0.5 if name.startswith(("conv", "pool")) and not name.endswith("_down") else 1.0
            weights[name] = jax.random.normal(key, size) * branch * np.sqrt(1.6 / size[0])
    return weights


def loss_of(weights: Parameters, batch: TrainingBatch, key: Any, recipe: Recipe) -> Any:
    """Return the loss: the cross-entropy plus 1 minus the soft F1 over words, as a mean over pages.
    In the cross-entropy, the weight of a block with n words is proportional to n^0.6."""
    page = batch.page
    ops = PackedOperations(page, batch.blocks.starts, batch.blocks.ends, _dropout(key, recipe))
    logits = forward(weights, recipe.shape, batch.blocks.features, ops)
    per_page = partial(jax.ops.segment_sum, segment_ids=page, num_segments=PAGES_PER_BATCH + 1)
    share = batch.matched / jnp.maximum(batch.words, 1)
    # If the ground truth has just half of a block, its probability should be only a little above
    # 0.5. Labels are never quite certain, so targets are at least 0.015 away from 0 and 1.
    target = jnp.where(share >= 0.5, share, share * 0.5) * 0.97 + 0.015
    # If the weight were the number of words, headings would hardly count beside long paragraphs.
    # The exponent 0.6 comes from the prototype.
    weight = jnp.maximum(batch.words, 1) ** 0.6
    weight = weight / per_page(weight)[page]
    entropy = jnp.maximum(logits, 0) - logits * target + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    probability = jax.nn.sigmoid(logits)
    hits = per_page(probability * batch.matched)[:-1]
    chosen = per_page(probability * batch.words)[:-1]
    soft_f1 = (2 * hits + 1) / (chosen + batch.truth_words + 1)
    return ((per_page(weight * entropy)[:-1] + 1 - soft_f1) * batch.present).sum() / batch.present.sum()


@lru_cache(maxsize=4)
def _compiled_step(recipe: Recipe) -> Callable[..., tuple[Parameters, tuple[Parameters, Parameters], Any]]:
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(
        weights: Parameters,
        moments: tuple[Parameters, Parameters],
        batch: TrainingBatch,
        key: Any,
        number: Any,
        rate: Any,
    ) -> Any:
        loss, gradient = jax.value_and_grad(loss_of)(weights, batch, key, recipe)
        norm = jnp.sqrt(sum(jnp.sum(part * part) for part in jax.tree.leaves(gradient)))
        gradient = jax.tree.map(lambda part: part * jnp.minimum(1, 1 / norm), gradient)
        first = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, moments[0], gradient)
        second = jax.tree.map(lambda old, new: 0.99 * old + 0.01 * new * new, moments[1], gradient)

        def updated(weight: Any, mean: Any, square: Any) -> Any:
            direction = mean / (1 - 0.9**number) / (jnp.sqrt(square / (1 - 0.99**number)) + 1e-8)
            decay = recipe.weight_decay if weight.ndim > 1 else 0.0
            return weight - rate * (direction + decay * weight)

        return jax.tree.map(updated, weights, first, second), (first, second), loss

    return step


def _dropout(key: Any, recipe: Recipe) -> Callable[[Any], Any]:
    """Return a function that drops random values, with a different mask for each residual
    branch."""
    branches = count()

    def drop(x: Any) -> Any:
        mask = jax.random.bernoulli(jax.random.fold_in(key, next(branches)), 1 - recipe.dropout, x.shape)
        return x * mask / (1 - recipe.dropout)

    return drop


def _learning_rate(recipe: Recipe, progress: float, step: int) -> float:
    """Return the learning rate: 60 steps of warm-up, then a cosine that falls to 1 %."""
    return float(recipe.learning_rate * min(1.0, step / 60) * (0.5 * (1 + np.cos(np.pi * progress)) + 0.01))


def _average(average: Parameters | None, weights: Parameters, decay: float) -> Parameters:
    if average is None:
        return {name: jnp.copy(value) for name, value in weights.items()}
    return {name: old * decay + weights[name] * (1 - decay) for name, old in average.items()}


FIRST_SETS = frozenset(["wcxb-dev", "fundus", "article-extraction-dataset", "magic-html-article", "zh-immortal-autumn"])
"""The data sets of the first stage."""


def train_in_stages(
    examples: Sequence[Example], blanks: Blanks, recipe: Recipe, start: Mapping[str, FloatArray] | None = None
) -> dict[str, FloatArray]:
    """Train in two stages, and return the weights, keyed by name. The arguments are the same as for
    `train`. There is only one stage if no page is from FIRST_SETS, or if `first_epochs` is 0.
    `start` replaces the weights after the first stage. Matrices in `start` that the network does
    not have are ignored."""
    if start is not None:
        start = {name: start[name] for name in initial_weights(recipe, examples[0])}
        return _second_stage(examples, blanks, recipe, start)
    first = [example for example in examples if example.key[0] in FIRST_SETS]
    if not first or not recipe.first_epochs:
        return train(examples, blanks, recipe)
    start = train(first, blanks, replace(recipe, epochs=recipe.first_epochs, balance=0.0))
    return _second_stage(examples, blanks, recipe, start)


def _second_stage(
    examples: Sequence[Example], blanks: Blanks, recipe: Recipe, start: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    """Train the first stage's weights further. Return the weighted mean of the weights before and
    after."""
    end = train(examples, blanks, replace(recipe, learning_rate=recipe.later_learning_rate), start)
    share = recipe.first_share
    return {name: share * start[name] + (1 - share) * end[name] for name in end}
