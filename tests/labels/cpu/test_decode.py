"""Expected-F1 decoding."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.labels.cpu.decide import EDGE_WORDS, LOGIT_LIMIT, PAGE_DOUBTS, PROBABILITY_STEPS, decide, probabilities

PAIRS = st.lists(
    st.tuples(st.integers(0, PROBABILITY_STEPS).map(lambda step: step / PROBABILITY_STEPS), st.integers(0, 50)),
    min_size=1,
    max_size=8,
)


def split(pairs: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in pairs], np.float64), np.array([w for _, w in pairs], np.int64)


def expected_f1(probability: np.ndarray, words: np.ndarray, chosen: list[int]) -> float:
    total = 0.0
    words = np.where(words > 0, words + EDGE_WORDS, 0)
    for odds, weight in PAGE_DOUBTS:
        shifted = probability * odds / (1 - probability + probability * odds)
        size = words[chosen].sum() + (shifted * words).sum()
        total += weight * 2 * (shifted * words)[chosen].sum() / max(size, 1)
    return float(total)


@settings(deadline=None)
@given(PAIRS)
def test_no_other_cut_has_a_higher_expected_f1(pairs: list[tuple[float, int]]) -> None:
    probability, words = split(pairs)
    decision = decide(probability, words)
    if words.any():
        cuts = [np.flatnonzero(probability >= cut).tolist() for cut in probability]
        best = max(expected_f1(probability, words, chosen) for chosen in cuts)
        assert decision.expected_f1 >= best - 1e-12
        assert expected_f1(probability, words, list(np.flatnonzero(decision.main))) == pytest.approx(
            decision.expected_f1
        )


@settings(deadline=None)
@given(PAIRS.filter(lambda pairs: len({p for p, _ in pairs}) == len(pairs)), st.integers(1, 20))
def test_for_a_given_number_of_words_the_most_probable_blocks_are_best(
    pairs: list[tuple[float, int]], each: int
) -> None:
    probability = split(pairs)[0]
    words = np.full(len(probability), each)
    every = chain.from_iterable(combinations(range(len(words)), size) for size in range(1, len(words) + 1))
    assert (
        decide(probability, words).expected_f1 >= max(expected_f1(probability, words, list(s)) for s in every) - 1e-12
    )


@settings(deadline=None)
@given(PAIRS)
def test_something_is_main_wherever_there_are_words(pairs: list[tuple[float, int]]) -> None:
    probability, words = split(pairs)
    if words.any():
        assert decide(probability, words).main.any()


@settings(deadline=None)
@given(PAIRS)
def test_a_more_probable_block_is_never_left_out_for_a_less_probable_one(pairs: list[tuple[float, int]]) -> None:
    probability, words = split(pairs)
    main = decide(probability, words).main
    if main.any() and not main.all():
        assert probability[main].min() >= probability[~main & (words > 0)].max(initial=0)


def test_doubtful_blocks_are_taken_where_all_are_doubtful() -> None:
    assert decide(np.full(10, 0.4), np.full(10, 5)).main.all()
    assert not decide(np.array([0.99, 0.4]), np.array([100, 5])).main[1:].all()


def test_a_page_without_words_uses_the_middle() -> None:
    decision = decide(np.array([0.7, 0.2]), np.array([0, 0]))
    assert decision.main.tolist() == [True, False]
    assert decision.expected_f1 == 0
    assert decide(np.zeros(0), np.zeros(0, np.int64)).main.shape == (0,)


def test_images_follow_the_cut_of_the_words() -> None:
    assert decide(np.array([0.9, 0.8, 0.1, 0.05]), np.array([50, 0, 0, 20])).main.tolist() == [True, True, False, False]


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0.1, 5), st.floats(-1, 1))
def test_probabilities_are_on_their_grid_and_grow_with_the_logit(
    logits: list[float], temperature: float, shift: float
) -> None:
    result = probabilities(np.sort(np.array(logits, np.float64)), temperature, shift)
    assert ((result >= 0) & (result <= 1)).all()
    assert (result * PROBABILITY_STEPS == np.rint(result * PROBABILITY_STEPS)).all()
    assert (np.diff(result) >= 0).all()


def test_the_shift_is_where_probability_is_half() -> None:
    assert probabilities(np.array([0.5, 1000.0, -1000.0]), 2.0, 0.5).tolist() == [0.5, 1.0, 0.0]
    assert 1 / (1 + np.exp(LOGIT_LIMIT)) < 0.5 / PROBABILITY_STEPS


def test_a_focus_takes_less_or_more() -> None:
    probability, words = np.array([0.95, 0.6, 0.4, 0.2]), np.array([20, 20, 20, 20])
    sizes = [int(decide(probability, words, beta).main.sum()) for beta in (0.5, 1.0, 2.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]
    balanced = decide(probability, words)
    assert all(decide(probability, words, beta).expected_f1 <= balanced.expected_f1 for beta in (0.5, 2.0))


def test_a_threshold_is_a_bound_and_leaves_no_page_without_content() -> None:
    probability, words = np.array([0.3, 0.9, 0.6, 0.95]), np.array([20, 20, 20, 0])
    assert decide(probability, words, threshold=0.6).main.tolist() == [False, True, True, True]
    assert decide(probability, words, threshold=0.99).main.tolist() == [False, True, False, True]
    assert decide(probability, words, threshold=0.0).main.all()
