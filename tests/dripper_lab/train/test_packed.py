"""Training and labelling compute the same network."""

import numpy as np
import pytest

from dripper.labels.cpu.arithmetic import choose_operations, snap
from dripper.labels.cpu.network import forward, prepare_exact_weights
from support.made_examples import made_example

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper_lab.train.batches import pack
from dripper_lab.train.optimise import PackedOperations, initial_weights
from dripper_lab.train.recipe import Recipe

RECIPE = Recipe(width=8, pool_width=4)


def test_packed_pages_give_the_logits_of_single_pages() -> None:
    examples = [made_example(number, blocks) for number, blocks in enumerate((30, 1, 65))]
    weights = {name: np.asarray(value, np.float64) for name, value in initial_weights(RECIPE, examples[0]).items()}
    batch = pack(examples, 200)
    ops = PackedOperations(batch.page, batch.blocks.starts, batch.blocks.ends)
    exact_matrices = prepare_exact_weights(weights, RECIPE.shape)
    packed = np.asarray(forward(weights, RECIPE.shape, batch.blocks.features, ops))
    offset = 0
    for example in examples:
        exact = choose_operations(example.blocks.starts, example.blocks.ends)
        alone = forward(exact_matrices, RECIPE.shape, snap(example.blocks.features.copy()), exact)
        # Training does not round, so the tolerance is the rounding of labelling: 1/256 per
        # activation, through ten layers.
        assert np.allclose(packed[offset : offset + len(alone)], alone, atol=0.05)
        offset += len(alone)


def test_convolution_and_means_stop_at_the_page() -> None:
    first, second = made_example(1, 10), made_example(2, 10)
    other = made_example(3, 10)
    results = []
    for neighbour in (second, other):
        batch = pack([first, neighbour], 50)
        ops = PackedOperations(batch.page, batch.blocks.starts, batch.blocks.ends)
        x = batch.blocks.features[:, :6]
        taps = np.ones((3, 6), np.float32)
        results.append((ops.convolve(x, taps, 4)[:10], ops.container_means(x, np.full(6, 1.0, np.float32))[:10]))
    assert np.array_equal(results[0][0], results[1][0])
    # A mean is a difference of running sums, so other blocks may change its last bits in float32.
    assert np.allclose(results[0][1], results[1][1], atol=1e-4)
