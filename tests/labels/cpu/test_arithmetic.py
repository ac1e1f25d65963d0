"""The operations of labelling: exact, the same for every order of summing, and the same in numpy
and in C."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.cpu import arithmetic
from dripper.labels.cpu import labeler as module
from dripper.labels.cpu.arithmetic import NumpyOperations, OperationsInC, choose_operations, snap
from dripper.labels.cpu.labeler import CpuLabeler
from dripper.labels.cpu.network import (
    ACTIVATION_STEPS,
    POOLED_LIMIT,
    POOLED_STEPS,
    BlockSequence,
    Operations,
    forward,
    prepare_exact_weights,
)
from dripper.labels.cpu.weights import load_weights
from support.in_c import needs_c
from support.labelled import pages
from support.small_network import SHAPE, WIDTH, random_features, random_weights, ranges

Kind = Callable[[np.ndarray, np.ndarray], Operations]
NEEDS_C = needs_c(arithmetic)
KINDS = [NumpyOperations, pytest.param(OperationsInC, marks=NEEDS_C)]
of_each_kind = pytest.mark.parametrize("kind", KINDS)


class ReversedSums:
    """The same operations with every sum in reverse order, as another processor might do it."""

    def __init__(self, kind: Kind, starts: np.ndarray, ends: np.ndarray) -> None:
        self._kind, self._ops = kind, kind(starts, ends)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ops, name)

    def linear(self, x: np.ndarray, matrix: np.ndarray, bias: np.ndarray) -> np.ndarray:
        return self._ops.linear(np.ascontiguousarray(x[:, ::-1]), np.ascontiguousarray(matrix[::-1]), bias)

    def normalise(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._ops.normalise(np.ascontiguousarray(x[:, ::-1]))[:, ::-1])

    def container_means(self, x: np.ndarray, bias: np.ndarray) -> np.ndarray:
        starts, ends = ranges(len(x))
        backwards = self._kind(len(x) - ends[::-1], len(x) - starts[::-1])
        return np.ascontiguousarray(backwards.container_means(np.ascontiguousarray(x[::-1]), bias)[::-1])


@of_each_kind
@pytest.mark.parametrize("blocks", [1, 2, 5, 40])
def test_the_order_of_summing_changes_no_bit(kind: Kind, blocks: int) -> None:
    weights, features = prepare_exact_weights(random_weights(), SHAPE), random_features(blocks)
    expected = forward(weights, SHAPE, features.copy(), kind(*ranges(blocks)))
    actual = forward(weights, SHAPE, features.copy(), ReversedSums(kind, *ranges(blocks)))
    assert np.array_equal(actual, expected)


@of_each_kind
def test_products_are_exact_in_float32(kind: Kind) -> None:
    features, ops = random_features(4), kind(*ranges(4))
    weights = prepare_exact_weights(random_weights(2), SHAPE)
    rows = ops.normalise(ops.rectify(ops.linear(features, weights["input"], weights["input_bias"])))
    taps, matrix = weights["conv1_taps"], weights["conv1"]
    assert rows.dtype == taps.dtype == matrix.dtype == np.float32
    filtered = ops.convolve(rows, taps, 1)
    product = filtered @ matrix
    for row in range(4):
        for column in range(WIDTH):
            total = sum(Fraction(float(filtered[row, k])) * Fraction(float(matrix[k, column])) for k in range(WIDTH))
            assert Fraction(float(product[row, column])) == total


@NEEDS_C
def test_pages_are_standardised_the_same_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    weights, features = load_weights(), random_features(40).astype(np.float32).repeat(40, axis=1)
    blocks = BlockSequence(np.ascontiguousarray(9 * features[:, : len(weights.mean)]), *ranges(40))
    in_c = module.normalize_page(weights, blocks).features
    monkeypatch.setattr(arithmetic, "IN_C", False)
    assert in_c.tobytes() == module.normalize_page(weights, blocks).features.tobytes()
    assert np.abs(in_c).max() == module.FEATURE_LIMIT


def test_snap_rounds_to_the_grid_ties_to_even() -> None:
    values = np.array([0.0, 0.4, 0.5, 0.6, 1.5, 2.5, -0.5, -0.6, 1e6 + 0.25]) / ACTIVATION_STEPS
    for kind, last in ((np.float64, 1e6), (np.float32, 1e6)):
        snapped = snap(values.astype(kind))
        assert snapped.dtype == kind
        assert (snapped * ACTIVATION_STEPS).tolist() == [0, 0, 0, 1, 2, 2, 0, -1, last]


@of_each_kind
def test_linear_adds_the_bias_and_rounds(kind: Kind) -> None:
    ops = kind(*ranges(2))
    for kind_of_number in (np.float32, np.float64):
        x, matrix = (
            np.array([[1, 2], [-3, 0.25]], kind_of_number),
            np.array([[1, 0.5, 0], [0, 1, 1 / 1024]], kind_of_number),
        )
        bias = np.array([0.5, 0, -1], kind_of_number)
        y = ops.linear(x, matrix, bias)
        assert y.dtype == np.float32
        assert y.tolist() == [[1.5, 2.5, -1], [-2.5, -1.25, -1]]
    without = ops.linear(x.astype(np.float32), matrix.astype(np.float32), 0)
    assert without.tolist() == [[1, 2.5, 0], [-3, -1.25, 0]]
    assert ops.rectify(without).tolist() == [[1, 2.5, 0], [0, 0, 0]]


@of_each_kind
def test_convolve_against_its_definition(kind: Kind) -> None:
    draw = np.random.default_rng(3)
    x, taps = (draw.normal(size=shape).astype(np.float32) for shape in ((6, 2), (3, 2)))
    ops = kind(np.zeros((6, 1), np.int64), np.full((6, 1), 6))
    for dilation in (1, 2, 5, 6, 100):
        padded = np.concatenate([np.zeros((dilation, 2)), x, np.zeros((dilation, 2))])
        expected = padded[:6] * taps[0] + x * taps[1] + padded[2 * dilation : 2 * dilation + 6] * taps[2]
        assert np.allclose(ops.convolve(x, taps, dilation), expected, atol=0.51 / ACTIVATION_STEPS)


@of_each_kind
def test_container_means_against_their_definition(kind: Kind) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4) - 1
    ops = kind(np.array([[0, 0], [1, 0], [1, 0]]), np.array([[1, 3], [3, 3], [3, 3]]))
    means = ops.container_means(x, np.array([0.5, 0, 0, -4], np.float32))
    assert means[:, :2].tolist() == [[0, 0], [5.5, 6], [5.5, 6]], "rectified"
    assert means[:, 2:].tolist() == [[5, 2]] * 3
    assert ops.container_means(x * 10, np.zeros(4, np.float32)).max() == POOLED_LIMIT


def random_ranges(draw: np.random.Generator, n_blocks: int, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    # Few different ends, so that neighbours and blocks further apart share containers.
    first, last = np.sort(draw.integers(0, n_blocks, (2, n_blocks, n_levels)) // 3 * 3, axis=0)
    return first, last + 1


@of_each_kind
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32))
def test_means_are_those_of_each_block_alone(kind: Kind, n_blocks: int, n_levels: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    starts, ends = random_ranges(draw, n_blocks, n_levels)
    x = (draw.integers(-1000, 1000, (n_blocks, 2 * n_levels)) / ACTIVATION_STEPS).astype(np.float32)
    bias = (draw.integers(-64, 64, 2 * n_levels) / ACTIVATION_STEPS).astype(np.float32)
    means = kind(starts, ends).container_means(x, bias)
    for block in range(n_blocks):
        for level in range(n_levels):
            columns = slice(2 * level, 2 * level + 2)
            inside = (
                x[starts[block, level] : ends[block, level], columns].mean(axis=0, dtype=np.float64) + bias[columns]
            )
            assert np.allclose(means[block, columns], np.clip(inside, 0, POOLED_LIMIT), atol=0.51 / POOLED_STEPS)


@of_each_kind
def test_rows_are_normalised_to_a_mean_square_of_one(kind: Kind) -> None:
    ops = kind(*ranges(20))
    rows = ops.normalise(random_features(20).astype(np.float32))
    assert np.allclose((rows**2).mean(axis=1), 1, atol=0.05)
    assert (ops.normalise(np.zeros((2, 3), np.float32)) == 0).all()


@NEEDS_C
@given(st.integers(1, 40), st.integers(1, 4), st.integers(1, 50), st.integers(0, 2**32))
def test_c_gives_the_bits_of_numpy(n_blocks: int, n_levels: int, dilation: int, seed: int) -> None:
    draw = np.random.default_rng(seed)

    def random(*shape: int) -> np.ndarray:
        return snap(draw.normal(0, 2, shape)).astype(np.float32)

    width = 2 * int(draw.integers(1, 10)) * n_levels
    x, taps, matrix, bias = random(n_blocks, width), random(3, width), random(width, width), random(width)
    kinds = [
        kind(*random_ranges(np.random.default_rng(seed), n_blocks, n_levels))
        for kind in (NumpyOperations, OperationsInC)
    ]
    for name, arguments in {
        "linear": (x, matrix, bias), "normalise": (x,), "convolve": (x / 8, taps, dilation), "container_means": (x, bias),
    }.items():  # fmt: skip
        in_numpy, in_c = (getattr(ops, name)(*arguments) for ops in kinds)
        assert in_c.dtype == in_numpy.dtype == np.float32, name
        assert in_c.tobytes() == in_numpy.tobytes(), name
    wide = (x.astype(np.float64), matrix.astype(np.float64), bias.astype(np.float64))
    assert kinds[1].linear(*wide).tobytes() == kinds[0].linear(*wide).tobytes()


@NEEDS_C
def test_real_pages_have_the_same_labels_in_numpy_and_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    labeler = CpuLabeler.load()
    assert isinstance(choose_operations(*ranges(2)), OperationsInC)
    in_c = labeler.label(pages())
    monkeypatch.setattr(module, "choose_operations", NumpyOperations)
    for ours, expected in zip(in_c, labeler.label(pages()), strict=True):
        assert ours.probability.tobytes() == expected.probability.tobytes()
        assert ours.main.tobytes() == expected.main.tobytes()
        assert ours.confidence == expected.confidence


@NEEDS_C
def test_c_refuses_what_does_not_fit() -> None:
    from dripper.labels.cpu import arithmetic_c

    x, starts, ends = np.zeros((2, 4), np.float32), *ranges(2)
    wide = x.astype(np.float64)
    for call in (
        lambda: arithmetic_c.snap(x, x[0, :3]),
        lambda: arithmetic_c.snap(wide, x[0]),
        lambda: arithmetic_c.snap_64(x, wide[0], x),
        lambda: arithmetic_c.snap_64(wide, wide[0], x[:1]),
        lambda: arithmetic_c.standardise(x, wide[0], wide[0], 6.0, x),
        lambda: arithmetic_c.standardise(x, wide[0], wide[0, :2], 6.0, wide),
        lambda: arithmetic_c.rectify(wide),
        lambda: arithmetic_c.normalise(x, 3, x),
        lambda: arithmetic_c.normalise(x, 0, x),
        lambda: arithmetic_c.normalise(x, 4, x[:1]),
        lambda: arithmetic_c.convolve(x, x[0], 1, x.copy()),
        lambda: arithmetic_c.convolve(x, np.zeros((3, 4), np.float32), 0, x.copy()),
        lambda: arithmetic_c.container_means(x, starts, ends + 1, 2, x[0], x.copy()),
        lambda: arithmetic_c.container_means(x, ends, starts, 2, x[0], x.copy()),
        lambda: arithmetic_c.container_means(x, starts.astype(np.int32), ends, 2, x[0], x.copy()),
        lambda: arithmetic_c.container_means(x, starts, ends, 3, x[0], x.copy()),
    ):
        with pytest.raises(ValueError, match="sizes or types of arrays do not fit"):
            call()
    with pytest.raises(TypeError):
        arithmetic_c.rectify(x[:, ::2])
