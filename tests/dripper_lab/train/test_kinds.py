"""The layer of page kinds and the confidence, learned from made-up pages."""

from dataclasses import replace

import numpy as np
import pytest

from support.made_examples import made_example

pytest.importorskip("scipy", reason="needs the extra [train]")

from dripper.labels.cpu.decide import KINDS, estimate_confidence
from dripper.labels.cpu.features.page_features import NAMES, STRUCTURE_NAMES
from dripper.labels.cpu.network import Shape
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.examples import Example
from dripper_lab.train.kinds import compute_held_out_kinds, fit_confidence, kind_of, with_page_kinds
from dripper_lab.train.weights import list_weight_shapes

SHAPE = Shape((1,), ())
PLAIN = Weights(
    {name: np.zeros(of) for name, of in list_weight_shapes(SHAPE, len(NAMES), 6, 4, 2).items()},
    np.zeros(len(NAMES)), np.ones(len(NAMES)), SHAPE, NAMES, 1.0, 0.0,
)  # fmt: skip


def page(number: int, page_type: str) -> Example:
    """Pages of a kind share the mean of one feature; recipes declare their kind."""
    example = made_example(number)
    features = example.blocks.features.copy()
    features[:, 5] += 2.0 * (page_type == "forum") - 2.0 * (page_type == "product")
    structure = np.array([name == page_type == "recipe" for name in STRUCTURE_NAMES], np.float64)
    blocks = example.blocks._replace(features=features)
    return replace(example, page_type=page_type, blocks=blocks, structure=structure)


def test_types_of_the_data_sets_are_kinds() -> None:
    kinds = {name: kind_of(replace(made_example(1), page_type=name)) for name in ("", "collection", "error", "poem")}
    assert kinds == {"": "article", "collection": "collection", "error": "nothing", "poem": "other"}
    assert kind_of(replace(made_example(1), page_type="form", truth_words=0)) == "nothing"


def test_a_kind_is_told_from_the_mean_of_a_feature_and_from_what_a_page_says() -> None:
    types = ("forum", "product", "", "recipe")
    weights = with_page_kinds(PLAIN, [page(number, types[number % 4]) for number in range(40)])
    for number in range(40, 48):
        other = page(number, types[number % 4])
        found = KINDS[int(np.argmax(compute_held_out_kinds(weights, other)))]
        assert found == (types[number % 4] or "article")


def test_the_confidence_is_what_was_reached_by_kind() -> None:
    draw = np.random.default_rng(0)
    at = draw.integers(0, 2, 2000)
    expected, kinds = draw.uniform(0.3, 0.99, 2000), np.eye(len(KINDS))[at]
    reached = np.clip(expected - 0.3 * at, 0, 1)
    coefficients = fit_confidence(expected, kinds, reached)
    for kind in (0, 1):
        got = [estimate_confidence(coefficients, value, np.eye(len(KINDS))[kind]) for value in (0.5, 0.9)]
        assert got == pytest.approx([0.5 - 0.3 * kind, 0.9 - 0.3 * kind], abs=0.06)
