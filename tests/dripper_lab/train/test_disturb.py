"""Disturbances of features in training."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.labels.cpu.features.page_features import KIND_NAMES, NAMES
from dripper.labels.cpu.labeler import FEATURE_LIMIT
from dripper.labels.cpu.weights import load_weights
from dripper_lab.train.batches import TrainingBatch, pack
from dripper_lab.train.disturb import Blanks, blanks_of, disturb
from dripper_lab.train.recipe import Recipe
from support.made_examples import made_example

STILL = Recipe(noise=0.0, feature_drop=0.0, name_drop=0.0, metadata_drop=0.0)
OF_NAMES = np.array([name.startswith(("named_", "near_")) for name in NAMES])
OF_METADATA = np.array([name in ("in_description", "in_json_ld", *KIND_NAMES) for name in NAMES])
BLANKS = Blanks(np.where(OF_NAMES, -0.5, np.nan), np.where(OF_METADATA, -0.25, np.nan))


def batch() -> TrainingBatch:
    return pack([made_example(number, 40) for number in range(30)], 1300)


def changed(recipe: Recipe) -> tuple[np.ndarray, np.ndarray]:
    before = batch()
    after = disturb(before, BLANKS, recipe, np.random.default_rng(0))
    assert after.words is before.words
    assert after.blocks.features.dtype == np.float32
    own = before.page < 30
    return before.blocks.features[own], after.blocks.features[own]


def test_nothing_to_do_changes_nothing() -> None:
    before, after = changed(STILL)
    assert np.array_equal(before, after)


def test_noise_has_the_size_of_the_recipe() -> None:
    before, after = changed(replace(STILL, noise=0.3))
    assert abs((after - before).std() - 0.3) < 0.01


def test_features_are_dropped_for_whole_pages() -> None:
    before, after = changed(replace(STILL, feature_drop=0.2))
    gone = (after == 0).reshape(30, 40, -1)
    assert (gone.all(axis=1) == gone.any(axis=1)).all()
    assert 0.15 < gone.mean() < 0.25
    assert np.array_equal(before[after != 0], after[after != 0])


@pytest.mark.parametrize(
    ("recipe", "chosen", "blank"),
    [(replace(STILL, name_drop=0.5), OF_NAMES, -0.5), (replace(STILL, metadata_drop=0.5), OF_METADATA, -0.25)],
    ids=["names", "metadata"],
)
def test_names_and_metadata_are_hidden_for_whole_pages_and_nothing_else_is(
    recipe: Recipe, chosen: np.ndarray, blank: float
) -> None:
    before, after = changed(recipe)
    hidden = (after[:, chosen] == blank).reshape(30, 40, -1).all(axis=(1, 2))
    assert 5 < hidden.sum() < 25
    assert np.array_equal(before[:, ~chosen], after[:, ~chosen])
    assert np.array_equal(before.reshape(30, 40, -1)[~hidden], after.reshape(30, 40, -1)[~hidden])


def test_blanks_are_the_values_of_a_page_without_names_and_metadata() -> None:
    weights = load_weights()
    nothing = np.clip((0 - weights.mean) / weights.scale, -FEATURE_LIMIT, FEATURE_LIMIT)
    for blank, chosen in zip(blanks_of(weights), (OF_NAMES, OF_METADATA), strict=True):
        assert np.isnan(blank[~chosen]).all()
        assert np.allclose(blank[chosen], nothing[chosen])
