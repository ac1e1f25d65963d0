"""Main content is in one container."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.labels.cpu.features.page_features import compute_features
from dripper.labels.cpu.second_opinion import DOUBT, apply_focus

PAGE = preprocess(
    "<body><div class=story><h1>A title of some words</h1><p>" + "The story goes on. " * 20 + "</p></div>"
    "<div class=more>" + "<p>A teaser of another story, with a few words.</p>" * 5 + "</div></body>"
)
FEATURES = compute_features(PAGE)


def of_page(probability: list[float], words: list[int] | None = None) -> list[float]:
    counts = FEATURES.words if words is None else np.array(words)
    return apply_focus(np.array(probability), counts, FEATURES.blocks.starts, FEATURES.blocks.ends).tolist()


def doubted(probability: float) -> float:
    odds = probability / (1 - probability) / DOUBT
    return odds / (1 + odds)


def test_what_stands_beside_the_story_is_doubted() -> None:
    assert of_page([0.75, 0.9, *[0.75] * 5]) == pytest.approx([0.75, 0.9, *[doubted(0.75)] * 5])


def test_a_list_keeps_its_items_and_what_is_above_it_is_doubted() -> None:
    assert of_page([0.1, 0.1, *[0.8] * 5]) == pytest.approx([doubted(0.1), doubted(0.1), *[0.8] * 5])


def test_where_main_content_is_everywhere_nothing_is_doubted() -> None:
    even = [0.8] * 7
    assert of_page(even, [100, 120, 40, 40, 40, 40, 40]) == even


def test_certain_blocks_say_where() -> None:
    assert of_page([0.9, 0.9, *[0.4] * 5], [10, 90, 40, 40, 40, 40, 40])[:2] == [0.9, 0.9]
    assert of_page([0.9, 0.9, *[0.4] * 5], [10, 90, 40, 40, 40, 40, 40])[2] < 0.4


def test_a_page_without_words_stays() -> None:
    nothing = np.zeros((2, 1), np.int64)
    assert apply_focus(np.array([0.25, 0.5]), np.zeros(2, np.int64), nothing, nothing + 2).tolist() == [0.25, 0.5]


def test_a_page_where_nothing_or_everything_is_certain() -> None:
    assert of_page([0.0] * 7) == [0.0] * 7
    assert of_page([1.0] * 7) == [1.0] * 7


@given(
    st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 300)), min_size=1, max_size=30),
    st.integers(0, 29),
    st.integers(1, 30),
)
def test_probabilities_stay_or_fall_and_keep_their_order_inside(
    blocks: list[tuple[int, int]], start: int, length: int
) -> None:
    probability, words = np.array([steps / 4096 for steps, _ in blocks]), np.array([count for _, count in blocks])
    n_blocks = len(blocks)
    start = min(start, n_blocks - 1)
    end = min(start + length, n_blocks)
    index = np.arange(n_blocks)
    inside = (start <= index) & (index < end)
    starts = np.stack([np.where(inside, start, index), np.zeros(n_blocks, np.int64)], axis=1)
    ends = np.stack([np.where(inside, end, index + 1), np.full(n_blocks, n_blocks)], axis=1)
    before = probability.copy()
    after = apply_focus(probability, words, starts, ends)
    assert np.array_equal(probability, before), "what is given stays"
    assert (after <= probability).all()
    assert (after >= probability / DOUBT).all()
    assert (after == probability).any()
