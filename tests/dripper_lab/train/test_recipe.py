"""The arguments of a run, and those of the networks that give a second opinion."""

from dataclasses import asdict, replace

import pytest

from dripper_lab.train.recipe import Recipe, Shares


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
