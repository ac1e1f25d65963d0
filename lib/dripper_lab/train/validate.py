"""Scores predictions on held-out pages, fits the calibration, and chooses the threshold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import decide
from dripper.labels.cpu.second_opinion import probability_with_second_opinion
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.examples import Example
from dripper_lab.truth import Truth


class Choice(NamedTuple):
    """The threshold with the highest mean F1 over words, this F1, and the F1 with a threshold of
    0.5."""

    threshold: float
    f1: float
    f1_at_half: float


def choose_threshold(
    truths: Sequence[Truth], probabilities: Sequence[FloatArray], thresholds: Sequence[float]
) -> Choice:
    """Return the threshold with the highest mean F1 over words.

    Args:
        probabilities: The probabilities of each page's blocks.
    """

    def f1(threshold: float) -> float:
        return float(np.mean([truth.f1(page > threshold) for truth, page in zip(truths, probabilities, strict=True)]))

    best = max(thresholds, key=f1)
    return Choice(best, f1(best), f1(0.5))


T = TypeVar("T")

TEMPERATURES = (1.0, 1.25, 1.5, 2.0)
SHIFTS = (-0.25, 0.0, 0.25, 0.5)
RELIABILITY_BINS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """The values that convert a logit to a probability (see `decide.probabilities`), and the mean
    ROUGE-5 F1 that they reach."""

    temperature: float
    shift: float
    f1: float


class PageScores(NamedTuple):
    """The scores of every page. All arrays have the shape (n_pages,)."""

    f1: FloatArray
    """The F1 over words."""
    rouge5: FloatArray
    """The ROUGE-5 F1 as in the report. The calibration is chosen by this score."""
    expected: FloatArray
    """The F1 over words that the decoder expected."""


def page_scores(examples: Sequence[Example], logits: Sequence[FloatArray], calibration: Calibration) -> PageScores:
    """Return the scores of every page.

    Args:
        logits: The logits of each page, shape (1 + others, n_blocks). The first row is from the
            network, and the other rows are from the networks for a second opinion.
    """
    rows = []
    for example, own in zip(examples, logits, strict=True):
        decision = decide(_probability(example, own, calibration), example.words)
        rows.append((example.f1(decision.main), example.texts.rouge5(decision.main), decision.expected_f1))
    return PageScores(*np.array(rows, np.float64).reshape(-1, 3).T)


def macro_over_kinds(examples: Sequence[Example], scores: FloatArray) -> float:
    """Return the mean score of each kind of page, averaged over kinds."""
    return float(np.mean([mean for _, mean in mean_by(examples, scores, lambda example: example.kind).values()]))


def calibrate(examples: Sequence[Example], logits: Sequence[FloatArray]) -> Calibration:
    """Return the temperature and shift with the highest ROUGE-5 F1 of the whole labeler. The
    maximized value is the sum of the mean over pages and the mean over kinds. In a tie, the first
    values of the grid are chosen.

    Args:
        logits: As for :func:`page_scores`.
    """

    def score(candidate: tuple[float, float]) -> tuple[float, float]:
        scores = page_scores(examples, logits, Calibration(*candidate, 0.0)).rouge5
        return float(scores.mean()) + macro_over_kinds(examples, scores), float(scores.mean())

    scores_by_candidate = {candidate: score(candidate) for candidate in product(TEMPERATURES, SHIFTS)}
    temperature, shift = max(scores_by_candidate, key=lambda candidate: scores_by_candidate[candidate][0])
    return Calibration(temperature, shift, scores_by_candidate[temperature, shift][1])


def keep_calibration(weights: Weights, examples: Sequence[Example], logits: Sequence[FloatArray]) -> Calibration:
    """Return the temperature and shift of these weights, with their ROUGE-5 F1 on these pages."""
    fixed = Calibration(weights.temperature, weights.shift, 0.0)
    return replace(fixed, f1=float(page_scores(examples, logits, fixed).rouge5.mean()))


def _probability(example: Example, logits: FloatArray, calibration: Calibration) -> FloatArray:
    fitted = calibration.temperature, calibration.shift
    return probability_with_second_opinion(logits[0], lambda: list(logits[1:]), fitted, example.blocks, example.words)


def mean_by(pages: Sequence[T], scores: FloatArray, key: Callable[[T], str]) -> Mapping[str, tuple[int, float]]:
    """Return, for each value of `key` in order, the number of pages and their mean score."""
    groups: dict[str, list[float]] = {}
    for page, score in zip(pages, scores, strict=True):
        groups.setdefault(key(page), []).append(float(score))
    return {name: (len(group), float(np.mean(group))) for name, group in sorted(groups.items())}


def calibration_error(rows: Sequence[tuple[float, float, int]]) -> float:
    """Return the expected calibration error (Naeini et al. 2015) of the bins that
    :func:`reliability` returns."""
    error = sum(words * abs(probability - share) for probability, share, words in rows)
    return error / max(1, sum(words for _, _, words in rows))


def reliability(
    examples: Sequence[Example], logits: Sequence[FloatArray], calibration: Calibration
) -> list[tuple[float, float, int]]:
    """Return (mean probability, fraction of main, number of words) for each of ten bins of
    probability. Blocks are weighted by their number of words. Empty bins are left out."""
    probability = np.concatenate(
        [_probability(example, own, calibration) for example, own in zip(examples, logits, strict=True)]
    )
    words = np.concatenate([example.words for example in examples])
    main = np.concatenate([example.main for example in examples])
    bins = np.minimum((probability * RELIABILITY_BINS).astype(int), RELIABILITY_BINS - 1)
    rows = []
    for number in range(RELIABILITY_BINS):
        weight = words * (bins == number)
        if weight.sum():
            rows.append((float((weight * probability).sum() / weight.sum()), float((weight * main).sum() / weight.sum()),
                         int(weight.sum())))  # fmt: skip
    return rows
