"""Scores and calibration."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.labels.cpu.decide import decide, probabilities
from dripper_lab.train.examples import Example
from dripper_lab.train.validate import (
    Calibration,
    calibrate,
    calibration_error,
    macro_over_kinds,
    mean_by,
    page_scores,
    reliability,
)
from support.made_examples import made_example

EXAMPLES = [made_example(number) for number in range(12)]
PERFECT = [np.where(example.main, 8.0, -8.0)[None] for example in EXAMPLES]
PLAIN = Calibration(1.0, 0.0, 0.0)


def test_perfect_logits_score_one() -> None:
    scores, rouge5, expected = page_scores(EXAMPLES, PERFECT, PLAIN)
    assert rouge5 == pytest.approx(np.ones(12))
    assert scores == pytest.approx(np.ones(12))
    assert expected == pytest.approx(np.ones(12), abs=0.01)


def test_inverted_logits_score_low() -> None:
    scores, *_ = page_scores(EXAMPLES, [-logits for logits in PERFECT], PLAIN)
    assert scores.max() < 0.5


def test_calibration_finds_a_shift() -> None:
    shifted = [logits / 4 + 0.5 for logits in PERFECT]
    found = calibrate(EXAMPLES, shifted)
    assert found.f1 == pytest.approx(1.0)
    assert found.f1 >= page_scores(EXAMPLES, shifted, PLAIN).rouge5.mean()


def test_means_by_group() -> None:
    means = mean_by(EXAMPLES[:3], np.array([0.0, 1.0, 0.5]), lambda example: "b" if example.key[1] == "1" else "a")
    assert means == {"a": (2, 0.25), "b": (1, 1.0)}
    assert list(means) == ["a", "b"]


def test_kinds_count_alike_in_the_macro_mean() -> None:
    pages = [*EXAMPLES[:3], replace(EXAMPLES[3], page_type="forum"), replace(EXAMPLES[4], page_type="article")]
    assert macro_over_kinds(pages, np.array([1.0, 1.0, 1.0, 0.0, 1.0])) == 0.5


def test_reliability_of_perfect_logits() -> None:
    rows = reliability(EXAMPLES, PERFECT, PLAIN)
    assert [(round(p, 2), share) for p, share, _ in rows] == [(0.0, 0.0), (1.0, 1.0)]
    assert sum(words for _, _, words in rows) == sum(int(example.words.sum()) for example in EXAMPLES)


def test_the_calibration_error_weighs_bins_by_words() -> None:
    assert calibration_error([(0.1, 0.1, 50), (0.9, 0.5, 100)]) == pytest.approx(0.4 * 100 / 150)
    assert calibration_error([(0.25, 0.25, 7)]) == 0
    assert calibration_error([]) == 0


def beside(example: Example) -> Example:
    """Return the example with its first half, longer now, in one container, the rest in another;
    only the first is main."""
    half, n_blocks = len(example.words) // 2, len(example.words)
    first = np.arange(n_blocks) < half
    starts, ends = np.where(first, 0, half), np.where(first, half, n_blocks)
    page = np.zeros(n_blocks, np.int64)
    blocks = example.blocks._replace(
        starts=np.stack([starts, page], axis=1), ends=np.stack([ends, page + n_blocks], axis=1)
    )
    words = np.where(first, 5, 1) * example.words
    matched = np.where(first, words, 0).astype(float)
    return replace(example, blocks=blocks, words=words, matched=matched, truth_words=int(matched.sum()))


def test_scores_are_those_of_the_labeler_with_its_focus() -> None:
    examples = [beside(example) for example in EXAMPLES]
    logits = [np.where(np.arange(len(page.words)) < len(page.words) // 2, 3.0, 1.0)[None] for page in examples]
    chosen = [decide(probabilities(own[0]), example.words).main for example, own in zip(examples, logits, strict=True)]
    without = np.mean([example.f1(main) for example, main in zip(examples, chosen, strict=True)])
    scores, *_ = page_scores(examples, logits, PLAIN)
    assert scores.mean() > without
    assert sum(words for probability, _, words in reliability(examples, logits, PLAIN) if 0.7 < probability < 0.8) == 0


def test_the_fit_looks_at_the_labeler_as_a_whole() -> None:
    examples = [beside(example) for example in EXAMPLES]
    logits = [np.where(example.matched > 0, 1.0, 0.2)[None] for example in examples]
    found = calibrate(examples, logits)
    assert found.f1 == page_scores(examples, logits, found).rouge5.mean()
    helped = [np.concatenate([own, good]) for own, good in zip(logits, PERFECT, strict=True)]
    assert calibrate(examples, helped).f1 >= found.f1


def test_where_the_network_is_in_doubt_the_others_are_heard() -> None:
    unsure = [np.zeros_like(own) for own in PERFECT]
    assert page_scores(EXAMPLES, unsure, PLAIN)[0].mean() < 0.9
    helped = [np.concatenate([doubtful, own]) for doubtful, own in zip(unsure, PERFECT, strict=True)]
    assert page_scores(EXAMPLES, helped, PLAIN)[0] == pytest.approx(np.ones(12))
    misled = [np.concatenate([own, -own]) for own in PERFECT]
    assert page_scores(EXAMPLES, misled, PLAIN)[0] == pytest.approx(np.ones(12))
