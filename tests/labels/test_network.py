"""The network: exact arithmetic, the same for every order of summing, and page by page."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.network import (
    ACTIVATION_STEPS,
    POOLED_LIMIT,
    POOLED_STEPS,
    WEIGHT_STEPS,
    ExactOperations,
    Shape,
    exact_weights,
    forward,
    snap,
    weight_shapes,
)

SHAPE = Shape(dilations=(1, 4, 2), pooled=(1,))
FEATURES, LEVELS, WIDTH, POOL = 7, 2, 6, 4


def random_weights(seed: int = 0, size: float = 0.5) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    shapes = weight_shapes(SHAPE, FEATURES, LEVELS, WIDTH, POOL)
    return {name: np.rint(draw.normal(0, size, of) * WEIGHT_STEPS) / WEIGHT_STEPS for name, of in shapes.items()}


def ranges(blocks: int) -> tuple[np.ndarray, np.ndarray]:
    starts = np.stack([np.arange(blocks) // 3 * 3, np.zeros(blocks, np.int64)], axis=1)
    ends = np.stack([np.minimum(starts[:, 0] + 3, blocks), np.full(blocks, blocks)], axis=1)
    return starts, ends


def random_page(blocks: int, seed: int = 1) -> tuple[np.ndarray, ExactOperations]:
    draw = np.random.default_rng(seed)
    do = ExactOperations(*ranges(blocks))
    return snap(draw.normal(0, 2, (blocks, FEATURES))), do


class ReversedSums:
    """The same operations with every sum taken backwards, as another processor might."""

    def __init__(self, starts: np.ndarray, ends: np.ndarray) -> None:
        # No subclass: a compiled class cannot have one.
        self._do = ExactOperations(starts, ends)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._do, name)

    def linear(self, x: np.ndarray, matrix: np.ndarray, bias: np.ndarray) -> np.ndarray:
        return self._do.linear(np.ascontiguousarray(x[:, ::-1]), np.ascontiguousarray(matrix[::-1]), bias)

    def normalise(self, x: np.ndarray) -> np.ndarray:
        return self._do.normalise(x[:, ::-1])[:, ::-1]

    def container_means(self, x: np.ndarray, bias: np.ndarray) -> np.ndarray:
        starts, ends = ranges(len(x))
        backwards = ExactOperations(len(x) - ends[::-1], len(x) - starts[::-1])
        return backwards.container_means(x[::-1], bias)[::-1]


@pytest.mark.parametrize("blocks", [1, 2, 5, 40])
def test_the_order_of_summing_changes_no_bit(blocks: int) -> None:
    weights = exact_weights(random_weights(), SHAPE)
    features, do = random_page(blocks)
    expected = forward(weights, SHAPE, features.copy(), do)
    actual = forward(weights, SHAPE, features.copy(), ReversedSums(*ranges(blocks)))
    assert np.array_equal(actual, expected)


def test_products_are_exact_in_float32() -> None:
    features, do = random_page(4)
    weights = exact_weights(random_weights(2), SHAPE)
    rows = do.normalise(do.rectify(do.linear(features, weights["input"], weights["input_bias"])))
    taps, matrix = weights["conv1_taps"], weights["conv1"]
    assert rows.dtype == taps.dtype == matrix.dtype == np.float32
    filtered = do.convolve(rows, taps, 1)
    product = filtered @ matrix
    for row in range(4):
        for column in range(WIDTH):
            total = sum(Fraction(float(filtered[row, k])) * Fraction(float(matrix[k, column])) for k in range(WIDTH))
            assert Fraction(float(product[row, column])) == total


def test_weights_too_large_for_exact_sums_are_refused() -> None:
    weights = random_weights()
    assert {name for name, value in exact_weights(weights, SHAPE).items() if value.dtype == np.float64} == {
        "input", "input_bias", "output", "output_bias",
    }  # fmt: skip
    for name in ("conv0", "conv1", "pool1_down", "pool1_up", "hidden"):
        with pytest.raises(ValueError, match=f"weight {name} is too large"):
            exact_weights(weights | {name: weights[name] * 60}, SHAPE)
    with pytest.raises(ValueError, match="weight conv2 is too large"):
        exact_weights(weights | {"conv2_taps": weights["conv2_taps"] * 60}, SHAPE)


def test_snap_rounds_to_the_grid_ties_to_even() -> None:
    values = np.array([0.0, 0.4, 0.5, 0.6, 1.5, 2.5, -0.5, -0.6, 1e6 + 0.25]) / ACTIVATION_STEPS
    for kind, last in ((np.float64, 1e6), (np.float32, 1e6)):
        snapped = snap(values.astype(kind))
        assert snapped.dtype == kind
        assert (snapped * ACTIVATION_STEPS).tolist() == [0, 0, 0, 1, 2, 2, 0, -1, last]


def test_convolve_against_its_definition() -> None:
    draw = np.random.default_rng(3)
    x, taps = draw.normal(size=(6, 2)), draw.normal(size=(3, 2))
    do = ExactOperations(np.zeros((6, 1), np.int64), np.full((6, 1), 6))
    for dilation in (1, 2, 5, 6, 100):
        padded = np.concatenate([np.zeros((dilation, 2)), x, np.zeros((dilation, 2))])
        expected = padded[:6] * taps[0] + x * taps[1] + padded[2 * dilation : 2 * dilation + 6] * taps[2]
        assert np.allclose(do.convolve(x, taps, dilation), expected, atol=0.51 / ACTIVATION_STEPS)


def test_container_means_against_their_definition() -> None:
    x = np.arange(12.0).reshape(3, 4) - 1
    do = ExactOperations(np.array([[0, 0], [1, 0], [1, 0]]), np.array([[1, 3], [3, 3], [3, 3]]))
    means = do.container_means(x, np.array([0.5, 0, 0, -4]))
    assert means[:, :2].tolist() == [[0, 0], [5.5, 6], [5.5, 6]], "rectified"
    assert means[:, 2:].tolist() == [[5, 2]] * 3
    assert do.container_means(x * 10, np.zeros(4)).max() == POOLED_LIMIT


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32))
def test_means_are_those_of_each_block_alone(n_blocks: int, n_levels: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    # Few different ends, so that neighbours and blocks further apart share containers.
    first, last = np.sort(draw.integers(0, n_blocks, (2, n_blocks, n_levels)) // 3 * 3, axis=0)
    x = draw.integers(-1000, 1000, (n_blocks, 2 * n_levels)) / ACTIVATION_STEPS
    bias = draw.integers(-64, 64, 2 * n_levels) / ACTIVATION_STEPS
    means = ExactOperations(first, last + 1).container_means(x, bias)
    for block in range(n_blocks):
        for level in range(n_levels):
            columns = slice(2 * level, 2 * level + 2)
            inside = x[first[block, level] : last[block, level] + 1, columns].mean(axis=0) + bias[columns]
            assert np.allclose(means[block, columns], np.clip(inside, 0, POOLED_LIMIT), atol=0.51 / POOLED_STEPS)


def test_rows_are_normalised_to_a_mean_square_of_one() -> None:
    features, do = random_page(20)
    rows = do.normalise(features)
    assert np.allclose((rows**2).mean(axis=1), 1, atol=0.05)
    assert (do.normalise(np.zeros((2, 3))) == 0).all()


def test_logits_stay_finite_with_large_weights_and_features() -> None:
    weights = {name: np.full(value.shape, 0.6) for name, value in random_weights().items()}
    features, do = random_page(30)
    assert np.isfinite(forward(exact_weights(weights, SHAPE), SHAPE, np.full_like(features, 6.0), do)).all()


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_and_containers_matter(seed: int) -> None:
    weights = exact_weights(random_weights(seed), SHAPE)
    features, do = random_page(12, seed)
    whole = forward(weights, SHAPE, features.copy(), do)
    half = ExactOperations(np.zeros((6, LEVELS), np.int64), np.full((6, LEVELS), 6))
    assert not np.array_equal(forward(weights, SHAPE, features[:6], half), whole[:6])


def test_weight_shapes_fit_together() -> None:
    shapes = weight_shapes(SHAPE, FEATURES, LEVELS, WIDTH, POOL)
    assert shapes["input"] == (FEATURES, WIDTH)
    assert shapes["conv2_taps"] == (3, WIDTH)
    assert shapes["pool1_down"] == (WIDTH, LEVELS * POOL)
    assert "pool0_down" not in shapes
    features, do = random_page(4)
    assert forward(exact_weights(random_weights(), SHAPE), SHAPE, features, do).shape == (4,)
