"""The network: exact arithmetic, the same for every order of summing, and page by page."""

from fractions import Fraction

import numpy as np
import pytest

from dripper.labels.network import (
    ACTIVATION_STEPS,
    WEIGHT_STEPS,
    ExactOperations,
    Shape,
    forward,
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
    return do.snap(draw.normal(0, 2, (blocks, FEATURES))), do


class ReversedSums(ExactOperations):
    """The same operations with every sum taken backwards, as another processor might."""

    def normalise(self, x: np.ndarray) -> np.ndarray:
        return super().normalise(x[:, ::-1])[:, ::-1]

    def container_means(self, x: np.ndarray) -> np.ndarray:
        starts, ends = ranges(len(x))
        backwards = ExactOperations(len(x) - ends[::-1], len(x) - starts[::-1])
        return backwards.container_means(x[::-1])[::-1]


class Permuted(np.ndarray):
    """A matrix whose products are summed backwards."""

    def __matmul__(self, other: np.ndarray) -> np.ndarray:
        return np.asarray(self)[:, ::-1] @ np.asarray(other)[::-1]


@pytest.mark.parametrize("blocks", [1, 2, 5, 40])
def test_the_order_of_summing_changes_no_bit(blocks: int) -> None:
    weights = random_weights()
    features, do = random_page(blocks)
    expected = forward(weights, SHAPE, features, do)
    backwards = ReversedSums(*ranges(blocks))
    actual = forward(weights, SHAPE, features.view(Permuted), backwards)
    assert np.array_equal(np.asarray(actual), expected)


def test_products_are_exact() -> None:
    features, do = random_page(3)
    taps = random_weights()["conv0_taps"][:, :FEATURES]
    taps = np.concatenate([taps, taps[:, :1]], axis=1)
    matrix = random_weights(2)["input"]
    product = do.convolve(features, taps, 1) @ matrix
    for row in range(3):
        for column in range(WIDTH):
            total = Fraction(0)
            for k in range(FEATURES):
                for tap, other in enumerate((row - 1, row, row + 1)):
                    if 0 <= other < 3:
                        total += Fraction(features[other, k]) * Fraction(taps[tap, k]) * Fraction(matrix[k, column])
            assert Fraction(product[row, column]) == total


def test_snap_rounds_to_the_grid_ties_to_even() -> None:
    _, do = random_page(1)
    values = np.array([0.0, 0.4, 0.5, 0.6, 1.5, 2.5, -0.5, -0.6, 1e6 + 0.25]) / ACTIVATION_STEPS
    assert (do.snap(values) * ACTIVATION_STEPS).tolist() == [0, 0, 0, 1, 2, 2, 0, -1, 1e6]


def test_convolve_against_its_definition() -> None:
    draw = np.random.default_rng(3)
    x, taps = draw.normal(size=(6, 2)), draw.normal(size=(3, 2))
    do = ExactOperations(np.zeros((6, 1), np.int64), np.full((6, 1), 6))
    for dilation in (1, 2, 5, 6, 100):
        padded = np.concatenate([np.zeros((dilation, 2)), x, np.zeros((dilation, 2))])
        expected = padded[:6] * taps[0] + x * taps[1] + padded[2 * dilation : 2 * dilation + 6] * taps[2]
        assert np.allclose(do.convolve(x, taps, dilation), expected)


def test_container_means_against_their_definition() -> None:
    x = np.arange(12.0).reshape(3, 4)
    do = ExactOperations(np.array([[0, 0], [1, 0], [1, 0]]), np.array([[1, 3], [3, 3], [3, 3]]))
    means = do.container_means(x)
    assert means[:, :2].tolist() == [[0, 1], [6, 7], [6, 7]]
    assert means[:, 2:].tolist() == [[6, 7]] * 3


def test_rows_are_normalised_to_a_mean_square_of_one() -> None:
    features, do = random_page(20)
    rows = do.normalise(features)
    assert np.allclose((rows**2).mean(axis=1), 1, atol=0.05)
    assert (do.normalise(np.zeros((2, 3))) == 0).all()


def test_logits_stay_finite_with_the_largest_weights_and_features() -> None:
    largest = np.iinfo(np.int16).max / WEIGHT_STEPS
    weights = {name: np.full(value.shape, largest) for name, value in random_weights().items()}
    features, do = random_page(30)
    assert np.isfinite(forward(weights, SHAPE, np.full_like(features, 6.0), do)).all()


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_and_containers_matter(seed: int) -> None:
    weights = random_weights(seed)
    features, do = random_page(12, seed)
    whole = forward(weights, SHAPE, features, do)
    half = ExactOperations(np.zeros((6, LEVELS), np.int64), np.full((6, LEVELS), 6))
    assert not np.array_equal(forward(weights, SHAPE, features[:6], half), whole[:6])


def test_weight_shapes_fit_together() -> None:
    shapes = weight_shapes(SHAPE, FEATURES, LEVELS, WIDTH, POOL)
    assert shapes["input"] == (FEATURES, WIDTH)
    assert shapes["conv2_taps"] == (3, WIDTH)
    assert shapes["pool1_down"] == (WIDTH, LEVELS * POOL)
    assert "pool0_down" not in shapes
    features, do = random_page(4)
    assert forward(random_weights(), SHAPE, features, do).shape == (4,)


@pytest.mark.parametrize("width", [6, 64, 256])
def test_the_longest_exact_chain_fits_into_float64(width: int) -> None:
    """The bound in the docstring: a normalised row, the largest tap and weight, summed over taps and channels."""
    largest = 8.0
    row = np.sqrt(width) + 1 / ACTIVATION_STEPS
    # The root mean square is 1, so a row sums to at most `width` in absolute value, with taps at three rows.
    total = min(row * np.sqrt(width), width) * 3 * largest * largest
    assert np.log2(total * ACTIVATION_STEPS * WEIGHT_STEPS * WEIGHT_STEPS) < 53
