"""The training loop: it learns, it is the same each time, and its outputs equal those of
labelling."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper_lab.train.web2text.examples import Recipe
from dripper_lab.train.web2text.optimise import Batch, BatchOperations, Sequences, cross_entropy, initial_layers, train
from dripper_labelers.web2text.network import ExactOperations, Layer, forward

RECIPE = Recipe(steps=250, excerpts=16, excerpt_leaves=6, dropout=0.0)


def sequences(seed: int) -> Sequences:
    """A leaf is 1 if the previous leaf has a positive first feature."""
    draw = np.random.default_rng(seed)
    features = [draw.normal(size=(length, 3)) for length in (1, 5, 12, 9, 20)]
    outcomes = [np.concatenate([[0], each[:-1, 0] > 0]).astype(np.int64) for each in features]
    return Sequences.of(features, outcomes)


@pytest.mark.slow
def test_it_learns_from_neighbours_and_the_same_each_time() -> None:
    layers = train(sequences(0), 2, RECIPE)
    assert cross_entropy(layers, sequences(0)) < 0.5 * cross_entropy(initial_layers(3, 2, 0), sequences(0))
    for layer, again in zip(layers, train(sequences(0), 2, RECIPE), strict=True):
        assert np.array_equal(layer.taps, again.taps)


@pytest.mark.slow
def test_validation_pages_choose_the_weights() -> None:
    """Learnt by heart: the last weights are worse on other pages than the ones that are taken."""
    recipe = replace(RECIPE, steps=1000, learning_rate=0.01)
    chosen, last = train(sequences(0), 2, recipe, sequences(9)), train(sequences(0), 2, recipe)
    assert cross_entropy(chosen, sequences(9)) < cross_entropy(last, sequences(9))


def test_excerpts_see_nothing_beyond_the_end_of_their_page() -> None:
    all_of_them = sequences(0)
    batch = Batch(all_of_them, np.array([1, 4]), np.array([1, 27]), 8)
    features, _, inside = batch.arrays
    assert inside.sum(axis=(1, 2)).tolist() == [5, 8]
    layers = initial_layers(3, 2, 0)
    logits = np.asarray(forward(layers, features, BatchOperations(inside)))
    exact = [Layer(*(np.asarray(part, np.float64) for part in layer)) for layer in layers]
    alone = forward(exact, np.asarray(all_of_them.features[1:6], np.float64), ExactOperations())
    assert np.allclose(logits[0, :5], alone, atol=0.05)


def test_pages_of_one_leaf_have_no_pairs() -> None:
    made = Sequences.of([np.zeros((0, 3)), np.zeros((2, 3))], [np.zeros(0, np.int64), np.ones(2, np.int64)])
    assert made.ends.tolist() == [2]
