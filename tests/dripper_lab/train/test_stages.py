"""First articles, then every kind of page, then the mean of both."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.made_examples import made_example

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.cpu.network import Shape
from dripper_lab.train import optimise as stages
from dripper_lab.train.disturb import Blanks
from dripper_lab.train.examples import Example
from dripper_lab.train.optimise import train, train_in_stages
from dripper_lab.train.recipe import Recipe

NOTHING = Blanks(np.full(len(NAMES), np.nan), np.full(len(NAMES), np.nan))
RECIPE = Recipe(
    width=6, pool_width=2, shape=Shape((1,), (0,)), epochs=2, first_epochs=3, batch_blocks=300, balance=0.7,
    learning_rate=0.01, later_learning_rate=0.001, first_share=0.25,
)  # fmt: skip
ARTICLES = [replace(made_example(number), key=("fundus", str(number))) for number in range(3)]
OTHERS = [replace(made_example(number), key=("web-kinds", str(number))) for number in range(3, 7)]

Weights = dict[str, FloatArray]


def test_articles_come_first_then_all_pages_and_both_have_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[list[Example], Recipe, Mapping[str, FloatArray] | None]] = []
    made: list[Weights] = []

    def watched(examples: list[Example], blanks: Blanks, recipe: Recipe, start: Any = None) -> Weights:
        given.append((list(examples), recipe, start))
        made.append(train(examples, blanks, recipe, start))
        return made[-1]

    monkeypatch.setattr(stages, "train", watched)
    weights = train_in_stages([*OTHERS, *ARTICLES], NOTHING, RECIPE)
    (first, early, nothing), (every, late, start) = given
    assert (first, every) == (ARTICLES, [*OTHERS, *ARTICLES])
    assert nothing is None
    assert start is made[0]
    assert (early.epochs, early.balance, early.learning_rate) == (3, 0.0, 0.01)
    assert (late.epochs, late.balance, late.learning_rate) == (2, 0.7, 0.001)
    for name, value in weights.items():
        assert np.allclose(value, 0.25 * made[0][name] + 0.75 * made[1][name])
    assert not np.array_equal(made[0]["input"], made[1]["input"])


@pytest.mark.parametrize(
    ("examples", "recipe"), [(OTHERS, RECIPE), ([*OTHERS, *ARTICLES], replace(RECIPE, first_epochs=0))]
)
def test_without_a_first_stage_it_is_one_training(examples: list[Example], recipe: Recipe) -> None:
    expected = train(examples, NOTHING, recipe)
    weights = train_in_stages(examples, NOTHING, recipe)
    assert all(np.array_equal(weights[name], expected[name]) for name in expected)


def test_earlier_weights_stand_for_the_first_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = train(ARTICLES, NOTHING, RECIPE)
    given: list[tuple[list[Example], Recipe, Mapping[str, FloatArray] | None]] = []

    def watched(examples: list[Example], _blanks: Blanks, recipe: Recipe, start: Any = None) -> Weights:
        given.append((list(examples), recipe, start))
        return {name: value + 1 for name, value in start.items()}

    monkeypatch.setattr(stages, "train", watched)
    more = {**earlier, "kind": np.zeros((2, 2))}
    weights = train_in_stages([*OTHERS, *ARTICLES], NOTHING, RECIPE, more)
    ((every, late, start),) = given
    assert every == [*OTHERS, *ARTICLES]
    assert (late.epochs, late.learning_rate) == (2, 0.001)
    assert start is not None
    assert start.keys() == weights.keys() == earlier.keys()
    assert all(np.allclose(value, earlier[name] + 0.75) for name, value in weights.items())


def test_a_training_goes_on_from_the_weights_that_it_is_given() -> None:
    start = train(ARTICLES, NOTHING, RECIPE)
    kept = train(OTHERS, NOTHING, replace(RECIPE, learning_rate=1e-9), start)
    assert all(np.allclose(kept[name], start[name], atol=1e-5) for name in start)
