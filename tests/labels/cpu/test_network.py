"""The network: its layers and weights fit together, and see neighbours and containers. The
operations: `test_exact`."""

import numpy as np
import pytest

from dripper.labels.cpu.arithmetic import choose_operations
from dripper.labels.cpu.network import forward, prepare_exact_weights
from dripper_lab.train.weights import list_weight_shapes
from support.small_network import FEATURES, LEVELS, POOL, SHAPE, WIDTH, random_features, random_weights, ranges


def test_weights_too_large_for_exact_sums_are_refused() -> None:
    weights = random_weights()
    assert {name for name, value in prepare_exact_weights(weights, SHAPE).items() if value.dtype == np.float64} == {
        "input", "input_bias", "output", "output_bias",
    }  # fmt: skip
    for name in ("conv0", "conv1", "pool1_down", "pool1_up", "hidden"):
        with pytest.raises(ValueError, match=f"weight {name} is too large"):
            prepare_exact_weights(weights | {name: weights[name] * 60}, SHAPE)
    with pytest.raises(ValueError, match="weight conv2 is too large"):
        prepare_exact_weights(weights | {"conv2_taps": weights["conv2_taps"] * 60}, SHAPE)


def test_logits_stay_finite_with_large_weights_and_features() -> None:
    weights = {name: np.full(value.shape, 0.6) for name, value in random_weights().items()}
    features, ops = random_features(30), choose_operations(*ranges(30))
    assert np.isfinite(forward(prepare_exact_weights(weights, SHAPE), SHAPE, np.full_like(features, 6.0), ops)).all()


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_and_containers_matter(seed: int) -> None:
    weights = prepare_exact_weights(random_weights(seed), SHAPE)
    features, ops = random_features(12, seed), choose_operations(*ranges(12))
    whole = forward(weights, SHAPE, features.copy(), ops)
    half = choose_operations(np.zeros((6, LEVELS), np.int64), np.full((6, LEVELS), 6))
    assert not np.array_equal(forward(weights, SHAPE, features[:6], half), whole[:6])


def test_weight_shapes_fit_together() -> None:
    shapes = list_weight_shapes(SHAPE, FEATURES, LEVELS, WIDTH, POOL)
    assert shapes["input"] == (FEATURES, WIDTH)
    assert shapes["conv2_taps"] == (3, WIDTH)
    assert shapes["pool1_down"] == (WIDTH, LEVELS * POOL)
    assert "pool0_down" not in shapes
    features, ops = random_features(4), choose_operations(*ranges(4))
    assert forward(prepare_exact_weights(random_weights(), SHAPE), SHAPE, features, ops).shape == (4,)
