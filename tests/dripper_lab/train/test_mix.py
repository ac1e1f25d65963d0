"""The mix of kinds of pages."""

import numpy as np
import pytest

from dripper_lab.train.recipe import draw_turns, turns_an_epoch

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
