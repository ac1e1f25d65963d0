"""Scores and calibration."""

import numpy as np
import pytest

from dripper.train.validate import Calibration, calibrate, calibration_error, mean_by, page_scores, reliability
from train.made import made_example

EXAMPLES = [made_example(number) for number in range(12)]
PERFECT = [np.where(example.main, 8.0, -8.0) for example in EXAMPLES]
PLAIN = Calibration(1.0, 0.0, 0.0)


def test_perfect_logits_score_one() -> None:
    scores, expected = page_scores(EXAMPLES, PERFECT, PLAIN)
    assert scores == pytest.approx(np.ones(12))
    assert expected == pytest.approx(np.ones(12), abs=0.01)


def test_inverted_logits_score_low() -> None:
    scores, _ = page_scores(EXAMPLES, [-logits for logits in PERFECT], PLAIN)
    assert scores.max() < 0.5


def test_calibration_finds_a_shift() -> None:
    shifted = [logits / 8 + 0.5 for logits in PERFECT]
    found = calibrate(EXAMPLES, shifted)
    assert found.f1 == pytest.approx(1.0)
    assert found.f1 >= page_scores(EXAMPLES, shifted, PLAIN)[0].mean()


def test_means_by_group() -> None:
    means = mean_by(EXAMPLES[:3], np.array([0.0, 1.0, 0.5]), lambda example: "b" if example.key[1] == "1" else "a")
    assert means == {"a": (2, 0.25), "b": (1, 1.0)}
    assert list(means) == ["a", "b"]


def test_reliability_of_perfect_logits() -> None:
    rows = reliability(EXAMPLES, PERFECT, PLAIN)
    assert [(round(p, 2), share) for p, share, _ in rows] == [(0.0, 0.0), (1.0, 1.0)]
    assert sum(words for _, _, words in rows) == sum(int(example.words.sum()) for example in EXAMPLES)


def test_the_calibration_error_weighs_bins_by_words() -> None:
    assert calibration_error([(0.1, 0.1, 50), (0.9, 0.5, 100)]) == pytest.approx(0.4 * 100 / 150)
    assert calibration_error([(0.25, 0.25, 7)]) == 0
    assert calibration_error([]) == 0
