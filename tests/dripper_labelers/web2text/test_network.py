"""The networks: sizes as in the paper, sums that do not depend on the order of summation."""

import numpy as np

from dripper_labelers.web2text.network import (
    ACTIVATION_STEPS,
    ExactOperations,
    Layer,
    compute_log_potentials,
    forward,
    list_layer_shapes,
    name_matrices,
    split_layers,
    standardise,
)


def random_layers(n_features: int, outcomes: int, size: float = 1.0) -> list[Layer]:
    draw = np.random.default_rng(0)
    made = [
        Layer(draw.normal(size=shape) * size, draw.normal(size=shape[2]))
        for shape in list_layer_shapes(n_features, outcomes)
    ]
    return split_layers(name_matrices(made, "x"), "x")


def test_the_number_of_parameters_is_the_papers() -> None:
    """17,960 and 12,870 (4.3), which does not count biases."""
    counts = [sum(int(np.prod(shape)) for shape in list_layer_shapes(*sizes)) for sizes in ((128, 2), (25, 4))]
    assert counts == [17_960, 12_870]


def test_a_convolution_sees_one_neighbour_on_each_side_and_nothing_beyond_the_ends() -> None:
    layer = Layer(np.array([[[1.0]], [[10.0]], [[100.0]]]), np.array([0.5]))
    x = np.array([[1.0], [2.0], [3.0]])
    assert ExactOperations().convolve(x, layer)[:, 0].tolist() == [210.5, 321.5, 32.5]


def test_seven_leaves_decide_on_one() -> None:
    layers, x = random_layers(4, 2, 0.3), np.random.default_rng(1).normal(size=(15, 4))
    changed = x.copy()
    changed[7] += 1
    differs = (forward(layers, x, ExactOperations()) != forward(layers, changed, ExactOperations())).any(axis=1)
    assert set(np.flatnonzero(differs)) <= set(range(4, 11))
    assert differs[7]


def test_the_order_of_columns_changes_no_bit() -> None:
    """Sums are exact, so another BLAS, which adds in another order, gives the same bits."""
    layers = random_layers(128, 2, 3.0)
    x = standardise(np.random.default_rng(2).normal(size=(40, 128)), np.zeros(128), np.ones(128))
    order = np.random.default_rng(3).permutation(128)
    turned = [Layer(layers[0].taps[:, order], layers[0].bias), *layers[1:]]
    assert np.array_equal(forward(layers, x, ExactOperations()), forward(turned, x[:, order], ExactOperations()))


def test_potentials_are_logarithms_of_probabilities() -> None:
    logs = compute_log_potentials(random_layers(25, 4, 0.3), np.zeros((3, 25)))
    assert logs.shape == (3, 4)
    assert np.allclose(np.exp(logs).sum(axis=1), 1, atol=1e-3)


def test_what_is_not_there_is_average_and_outliers_are_clipped() -> None:
    features = np.array([[np.nan, 1000.0, 3.0]], np.float32)
    assert standardise(features, np.array([5.0, 0, 1]), np.array([1.0, 1, 4])).tolist() == [[0, 6, 0.5]]
    assert (
        standardise(np.array([[0.1]]), np.zeros(1), np.ones(1))[0, 0]
        == round(0.1 * ACTIVATION_STEPS) / ACTIVATION_STEPS
    )
