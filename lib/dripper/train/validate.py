"""Scores of predictions on held-out pages, and the calibration fitted on them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decode import decide, probabilities
from dripper.labels.cpu.second_opinion import probability_with_second_opinion
from dripper.train.examples import Example

TEMPERATURES = (0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
SHIFTS = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5)
RELIABILITY_BINS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a logit becomes a probability (see `decode.probabilities`), and the mean F1 that it
    reached."""

    temperature: float
    shift: float
    f1: float


def page_scores(
    examples: Sequence[Example], logits: Sequence[FloatArray], calibration: Calibration
) -> tuple[FloatArray, FloatArray]:
    """Return the F1 over words of every page, and the one that the decoder expected; both of shape
    (n_pages,).

    logits: of each page, shape (1 + others, n_blocks): of the network, and below it those of the
    others.
    """
    scores, expected = [], []
    for example, own in zip(examples, logits, strict=True):
        decision = decide(_probability(example, own, calibration), example.words)
        scores.append(example.f1(decision.main))
        expected.append(decision.expected_f1)
    return np.array(scores), np.array(expected)


def calibrate(examples: Sequence[Example], logits: Sequence[FloatArray]) -> Calibration:
    """Return the temperature and shift of the highest mean F1 of the network without the focus and
    without the others' opinions; ties go to the first of the grid. logits: as for
    :func:`page_scores`.

    (With the focus the highest F1 is at temperature 2.5: 0.001 more, but a calibration error of
    0.083 instead of 0.025.) Its `f1` is the one with both.
    """

    def f1(candidate: tuple[float, float]) -> float:
        chosen = (
            decide(probabilities(own[0], *candidate), page.words) for page, own in zip(examples, logits, strict=True)
        )
        return float(np.mean([page.f1(decision.main) for page, decision in zip(examples, chosen, strict=True)]))

    temperature, shift = max(product(TEMPERATURES, SHIFTS), key=f1)
    found = Calibration(temperature, shift, 0.0)
    return replace(found, f1=float(page_scores(examples, logits, found)[0].mean()))


def _probability(example: Example, logits: FloatArray, calibration: Calibration) -> FloatArray:
    fitted = calibration.temperature, calibration.shift
    return probability_with_second_opinion(logits[0], lambda: list(logits[1:]), fitted, example.blocks, example.words)


def mean_by(
    examples: Sequence[Example], scores: FloatArray, key: Callable[[Example], str]
) -> Mapping[str, tuple[int, float]]:
    """Return, for each value of `key` in order, the number of pages and their mean score."""
    groups: dict[str, list[float]] = {}
    for example, score in zip(examples, scores, strict=True):
        groups.setdefault(key(example), []).append(float(score))
    return {name: (len(group), float(np.mean(group))) for name, group in sorted(groups.items())}


def calibration_error(rows: Sequence[tuple[float, float, int]]) -> float:
    """Return the expected calibration error (Naeini et al. 2015) of the bins that
    :func:`reliability` returns."""
    error = sum(words * abs(probability - share) for probability, share, words in rows)
    return error / max(1, sum(words for _, _, words in rows))


def reliability(
    examples: Sequence[Example], logits: Sequence[FloatArray], calibration: Calibration
) -> list[tuple[float, float, int]]:
    """Return (mean probability, share of main, words) of ten bins of probability; every block
    counts by its words."""
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
