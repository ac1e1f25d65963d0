"""The kind of a page, and the confidence that goes with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.cpu.decide import KINDS, PageSummary, classify, estimate_confidence, make_evidence

FEATURES = np.arange(24, dtype=np.float64).reshape(8, 3) / 256
WORDS = np.array([3, 0, 5, 9, 1, 1, 2, 4])
MAIN = np.arange(8) / 8


def test_means_are_the_same_however_the_page_is_cut() -> None:
    whole = PageSummary()
    whole.add(WORDS, MAIN, FEATURES[:, :2], FEATURES[:, 2:])
    for cut in range(1, 8):
        parts = PageSummary()
        parts.add(WORDS[:cut], MAIN[:cut], FEATURES[:cut])
        parts.add(WORDS[cut:], MAIN[cut:], FEATURES[cut:])
        assert np.array_equal(parts.means(), whole.means())
    weights = np.stack([np.ones(8), WORDS, WORDS * MAIN])
    expected = (weights @ FEATURES / weights.sum(axis=1, keepdims=True)).ravel()
    assert whole.means() == pytest.approx(expected, abs=1 / 256)
    assert np.array_equal(whole.means() * 256, np.rint(whole.means() * 256))


def test_a_page_without_words_has_means_and_one_without_anything_none() -> None:
    summary = PageSummary()
    with pytest.raises(ValueError, match="no means"):
        summary.means()
    summary.add(WORDS * 0, MAIN, FEATURES)
    assert summary.means()[3:].tolist() == [0] * 6
    summary = PageSummary()
    summary.add(WORDS[:0], MAIN[:0], FEATURES[:0])
    assert summary.means().tolist() == [0] * 9


def test_the_likeliest_kind_has_the_largest_logit() -> None:
    matrix = np.zeros((6, len(KINDS)))
    matrix[0, KINDS.index("forum")] = 2.0
    probability = classify(matrix, np.zeros(len(KINDS)), np.array([3.0, 0, 0, 0, 0, 0]))
    assert KINDS[int(np.argmax(probability))] == "forum"
    assert probability.sum() == pytest.approx(1, abs=0.002)
    assert np.array_equal(probability * 4096, np.rint(probability * 4096))


@given(st.floats(0, 1), st.floats(0, 1))
def test_confidence_grows_with_what_is_expected_and_stays_within_bounds(one: float, other: float) -> None:
    kinds = np.eye(len(KINDS))[2]
    coefficients = np.concatenate([np.full(len(KINDS), -0.5), np.ones(len(KINDS))])
    low, high = (estimate_confidence(coefficients, value, kinds) for value in sorted((one, other)))
    assert 0 <= low <= high <= 1


def test_kinds_have_coefficients_of_their_own() -> None:
    coefficients = np.zeros(2 * len(KINDS))
    coefficients[KINDS.index("form")] = -2.0
    sure, doubted = (
        estimate_confidence(coefficients, 0.9, np.eye(len(KINDS))[KINDS.index(kind)]) for kind in ("forum", "form")
    )
    assert sure == 0.5
    assert doubted == pytest.approx(0.119, abs=0.001)
    assert make_evidence(0.5, np.eye(len(KINDS))[0])[len(KINDS) :].tolist() == [0.0] * len(KINDS)
