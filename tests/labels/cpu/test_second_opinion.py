"""A second opinion on pages with a low expected F1."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.cpu.decide import decide, probabilities
from dripper.labels.cpu.network import BlockSequence
from dripper.labels.cpu.second_opinion import DOUBTFUL, apply_focus, probability_with_second_opinion

FloatArray = npt.NDArray[np.float64]
PLAIN = (1.0, 0.0)


def one_container(n_blocks: int) -> BlockSequence:
    starts = np.zeros((n_blocks, 1), np.int64)
    return BlockSequence(np.zeros((n_blocks, 1), np.float32), starts, starts + n_blocks)


def ask(logits: Sequence[float], *others: Sequence[float], words: Sequence[int] = (30, 30, 30)) -> FloatArray:
    opinions = [np.array(other, float) for other in others]
    return probability_with_second_opinion(
        np.array(logits, float), lambda: opinions, PLAIN, one_container(len(logits)), np.array(words)
    )


def nobody() -> list[FloatArray]:
    raise AssertionError("asked")


def test_a_network_that_is_sure_is_not_contradicted() -> None:
    sure = np.array([8.0, 8.0, -8.0])
    probability = probability_with_second_opinion(sure, nobody, PLAIN, one_container(3), np.array([30, 30, 30]))
    assert probability == pytest.approx([1, 1, 0], abs=0.001)


def test_in_doubt_all_have_the_same_voice() -> None:
    assert ask([0.5, 0.25, -0.5], [4, -4, -4], [3, -3.25, -3]) == pytest.approx(
        probabilities(np.array([2.5, -7 / 3, -2.5]))
    )


def test_without_others_the_first_opinion_stands() -> None:
    assert ask([0.5, 0.25, -0.5]) == pytest.approx(probabilities(np.array([0.5, 0.25, -0.5])))


def test_what_all_agree_on_is_focused() -> None:
    starts, ends = np.array([[0, 0], [0, 0], [2, 0]]), np.array([[2, 3], [2, 3], [3, 3]])
    blocks, words = BlockSequence(np.zeros((3, 1), np.float32), starts, ends), np.array([50, 60, 5])
    unsure, other = np.zeros(3), np.array([2.0, 2.0, 0.0])
    expected = apply_focus(probabilities(np.array([1.0, 1.0, 0.0])), words, starts, ends)
    assert np.array_equal(probability_with_second_opinion(unsure, lambda: [other], PLAIN, blocks, words), expected)
    assert expected[2] < 0.5


def test_temperature_and_shift_are_those_of_the_first() -> None:
    words, blocks = np.array([30, 30]), one_container(2)
    got = probability_with_second_opinion(
        np.array([1.0, 0.0]), lambda: [np.array([2.0, -1.0])], (1.5, 0.5), blocks, words
    )
    assert np.array_equal(got, probabilities(np.array([1.5, -0.5]), 1.5, 0.5))


def test_a_page_without_words_asks_nobody() -> None:
    logits = np.array([0.25, -0.25])
    assert np.array_equal(
        probability_with_second_opinion(logits, nobody, PLAIN, one_container(2), np.zeros(2, np.int64)),
        probabilities(logits),
    )
    none = np.zeros((0, 1), np.int64)
    empty = BlockSequence(np.zeros((0, 1), np.float32), none, none)
    assert probability_with_second_opinion(np.zeros(0), nobody, PLAIN, empty, none[:, 0]).shape == (0,)


@given(
    st.lists(st.tuples(st.integers(-2000, 2000), st.integers(0, 200)), min_size=1, max_size=30), st.integers(0, 2**32)
)
def test_others_are_asked_exactly_where_little_is_expected(blocks: list[tuple[int, int]], seed: int) -> None:
    logits, words = np.array([logit for logit, _ in blocks]) / 256, np.array([count for _, count in blocks])
    opinions = list(np.random.default_rng(seed).integers(-2000, 2000, (2, len(logits))) / 256)
    asked: list[bool] = []

    def others() -> list[FloatArray]:
        asked.append(True)
        return opinions

    page = one_container(len(logits))
    got = probability_with_second_opinion(logits, others, PLAIN, page, words)
    first = apply_focus(probabilities(logits), words, page.starts, page.ends)
    doubtful = bool(words.any()) and decide(first, words).expected_f1 < DOUBTFUL
    assert asked == [True] * doubtful
    assert np.array_equal(got, probability_with_second_opinion(logits, lambda: opinions[::-1], PLAIN, page, words)), (
        "opinions have no order"
    )
    assert doubtful or np.array_equal(got, first)
