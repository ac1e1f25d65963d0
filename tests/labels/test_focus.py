"""Main content stands in one place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.labels.features import page_features
from dripper.labels.focus import DOUBT, focused

PAGE = preprocess(
    "<body><div class=story><h1>A title of some words</h1><p>" + "The story goes on. " * 20 + "</p></div>"
    "<div class=more>" + "<p>A teaser of another story, with a few words.</p>" * 5 + "</div></body>"
)
FEATURES = page_features(PAGE)


def of_page(logits: list[float]) -> list[float]:
    blocks = FEATURES.blocks
    return focused(np.array(logits), FEATURES.words, blocks.starts, blocks.ends).tolist()


def test_what_stands_beside_the_story_is_doubted() -> None:
    assert of_page([1.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0]) == [1.0, 4.0, *[1.0 - DOUBT] * 5]


def test_a_list_keeps_its_items() -> None:
    assert of_page([-3.0, -3.0, 2.0, 2.0, 2.0, 2.0, 2.0]) == [-3.0 - DOUBT, -3.0 - DOUBT, *[2.0] * 5]


def test_where_everything_is_main_nothing_is_doubted() -> None:
    logits = [2.0, -1.0, *[4.0] * 5]
    words = np.array([5, 50, 50, 50, 50, 50, 50])
    blocks = FEATURES.blocks
    alike = [2.0, 2.0, *[2.0] * 5]
    even = np.array([100, 120, 30, 30, 30, 30, 30])
    assert focused(np.array(alike), even, blocks.starts, blocks.ends).tolist() == alike
    assert focused(np.array(logits), words, blocks.starts, blocks.ends)[2:].tolist() == logits[2:]


def test_a_page_without_words_stays() -> None:
    nothing = np.zeros((2, 1), np.int64)
    assert focused(np.array([1.0, 2.0]), np.zeros(2, np.int64), nothing, nothing + 2).tolist() == [1.0, 2.0]


def test_a_page_where_nothing_is_likely_is_handled() -> None:
    assert len(of_page([-1000.0] * 7)) == 7


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.integers(0, 300)), min_size=1, max_size=30),
    st.integers(0, 29),
    st.integers(1, 30),
)
def test_logits_stay_or_are_doubted_and_those_inside_keep_their_order(
    blocks: list[tuple[float, int]], start: int, length: int
) -> None:
    logits, words = np.array([logit for logit, _ in blocks]), np.array([count for _, count in blocks])
    n_blocks = len(blocks)
    start = min(start, n_blocks - 1)
    end = min(start + length, n_blocks)
    index = np.arange(n_blocks)
    inside = (start <= index) & (index < end)
    starts = np.stack([np.where(inside, start, index), np.zeros(n_blocks, np.int64)], axis=1)
    ends = np.stack([np.where(inside, end, index + 1), np.full(n_blocks, n_blocks)], axis=1)
    before = logits.copy()
    after = focused(logits, words, starts, ends)
    assert np.array_equal(logits, before), "what is given stays"
    assert set((logits - after).round(6).tolist()) <= {0.0, DOUBT}
    assert (after == logits).any()
