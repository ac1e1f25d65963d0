"""The arguments of a run and of the networks for a second opinion, and the mix of kinds of
pages."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from dripper_lab.train.recipe import Recipe, Shares, draw_turns, turns_an_epoch


def test_the_others_have_shares_and_seeds_of_their_own() -> None:
    recipe = Recipe(seed=5, epochs=3, other_shares=(Shares(), Shares(crowded=0.4)), other_balances=(0.5, 0.0))
    first, second = recipe.other_recipes
    assert (first.shares, second.shares) == recipe.other_shares
    assert {recipe.seed, first.seed, second.seed} == {5, 9, 10}
    assert (first.balance, second.balance) == recipe.other_balances
    assert first.epochs == second.epochs == 3
    for other in (first, second):
        assert (other.width, other.shape) == (recipe.other_width, recipe.other_shape)
        assert other.learning_rate == recipe.learning_rate


def test_no_page_has_more_variants_than_chances() -> None:
    for recipe in (Recipe(), *Recipe().other_recipes):
        assert 0 <= sum(asdict(recipe.shares).values()) <= 1


def test_shares_without_a_balance_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        assert replace(Recipe(), other_shares=(Shares(), Shares())).other_recipes


KINDS = ["article"] * 90 + ["forum"] * 10


@pytest.mark.parametrize(("balance", "articles", "forums"), [(0, 90, 10), (1, 50, 50), (0.5, 75, 25)])
def test_kinds_come_in_proportion(balance: float, articles: float, forums: float) -> None:
    turns = turns_an_epoch(KINDS, balance)
    assert turns[:90].sum() == pytest.approx(articles)
    assert turns[90:].sum() == pytest.approx(forums)


def test_turns_are_rounded_by_chance_and_the_order_is_random() -> None:
    draw = np.random.default_rng(0)
    turns = np.array([0.25, 1.0, 2.5])
    epochs = [draw_turns(turns, draw).tolist() for _ in range(400)]
    assert {epoch.count(1) for epoch in epochs} == {1}
    assert {epoch.count(2) for epoch in epochs} == {2, 3}
    assert np.mean([epoch.count(0) for epoch in epochs]) == pytest.approx(0.25, abs=0.06)
    assert len({tuple(epoch) for epoch in epochs}) > 10


def test_without_turns_every_page_comes_once() -> None:
    assert sorted(draw_turns(np.ones(20), np.random.default_rng(1)).tolist()) == list(range(20))
