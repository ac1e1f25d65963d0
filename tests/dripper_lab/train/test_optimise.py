"""The training loop learns, and repeats itself."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from support.made_examples import made_example

pytest.importorskip("jax", reason="needs the extra [train]")

import jax

from dripper.labels.cpu.arithmetic import choose_operations, snap
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.cpu.network import Shape, forward, prepare_exact_weights
from dripper_lab.train.batches import pack
from dripper_lab.train.disturb import Blanks
from dripper_lab.train.optimise import initial_weights, loss_of, train
from dripper_lab.train.recipe import Recipe

RECIPE = Recipe(
    width=8,
    pool_width=2,
    shape=Shape((1, 2), (0,)),
    epochs=30,
    batch_blocks=300,
    dropout=0.0,
    noise=0.0,
    feature_drop=0.0,
    name_drop=0.0,
    metadata_drop=0.0,
)
EXAMPLES = [made_example(number) for number in range(40)]
NOTHING = Blanks(np.full(len(NAMES), np.nan), np.full(len(NAMES), np.nan))


def accuracy(weights: dict[str, np.ndarray]) -> float:
    right = []
    for example in (made_example(number) for number in range(100, 110)):
        ops = choose_operations(example.blocks.starts, example.blocks.ends)
        logits = forward(
            prepare_exact_weights(weights, RECIPE.shape), RECIPE.shape, snap(example.blocks.features.copy()), ops
        )
        right.append((logits > 0) == example.main)
    return float(np.concatenate(right).mean())


def test_a_simple_rule_is_learned_and_carries_over() -> None:
    untrained = {name: np.asarray(value, np.float64) for name, value in initial_weights(RECIPE, EXAMPLES[0]).items()}
    trained = train(EXAMPLES, NOTHING, replace(RECIPE, learning_rate=0.01, epochs=25))
    assert accuracy(untrained) < 0.75
    assert accuracy(trained) > 0.85


@pytest.mark.parametrize("recipe", [Recipe(), *Recipe().other_recipes], ids=lambda recipe: str(recipe.width))
def test_the_networks_of_the_recipe_have_a_gradient_of_each_weight(recipe: Recipe) -> None:
    """Only shapes are computed: nothing is compiled."""
    weights = jax.eval_shape(lambda: initial_weights(recipe, EXAMPLES[0]))
    gradient = jax.eval_shape(
        jax.grad(partial(loss_of, recipe=recipe)), weights, pack(EXAMPLES[:3], 100), jax.random.PRNGKey(0)
    )
    assert {name: part.shape for name, part in gradient.items()} == {name: part.shape for name, part in weights.items()}


def test_the_same_recipe_gives_the_same_weights_and_another_seed_others() -> None:
    recipe = replace(RECIPE, epochs=2, dropout=0.1, noise=0.1, feature_drop=0.1)
    first, second, other = (train(EXAMPLES[:5], NOTHING, one) for one in (recipe, recipe, replace(recipe, seed=1)))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["input"], other["input"])


def test_the_loss_ignores_padding_and_prefers_the_truth() -> None:
    weights = initial_weights(RECIPE, EXAMPLES[0])
    batch = pack(EXAMPLES[:3], 100)
    key = jax.random.PRNGKey(0)
    compiled_loss = jax.jit(partial(loss_of, recipe=RECIPE))
    loss = float(compiled_loss(weights, batch, key))
    assert np.isfinite(loss)
    noisy = batch._replace(matched=batch.words - batch.matched)
    certain = dict(weights, output_bias=weights["output_bias"] + 4)
    everything = batch._replace(matched=batch.words, truth_words=batch.truth_words * 0 + 1000)
    assert float(compiled_loss(certain, everything, key)) < float(compiled_loss(weights, everything, key))
    assert float(compiled_loss(weights, noisy, key)) != loss
