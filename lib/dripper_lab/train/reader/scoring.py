"""Scores the reader's gain on held-out pages, and fits the weights with which the draft's log odds
and the reader's margins are combined."""

from collections.abc import Sequence

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import decide
from dripper_lab.train.reader.examples import Example
from dripper_labelers.reader.labeler import WEIGHTS, weigh
from dripper_labelers.reader.windows import UNSURE, find_unsure

_STEPS = 30
"""Number of steps of Newton's method."""
_RIDGE = 1e-3


def score(examples: Sequence[Example], margins: Sequence[FloatArray]) -> dict[str, float | int]:
    """Return the number of pages with main content, and their mean F1 over words, without the
    reader (`f1_before`) and with the reader (`f1`).

    Args:
        margins: The reader's margins for each page, (n_blocks,); NaN for blocks that were not read.
    """
    before, after = list[float](), list[float]()
    for example, each in zip(examples, margins, strict=True):
        if not example.truth.truth_words:
            continue
        read, probability = np.isfinite(each), example.probability.copy()
        probability[read] = weigh(probability[read], each[read])
        before.append(example.truth.f1(decide(example.probability, example.truth.words).main))
        after.append(example.truth.f1(decide(probability, example.truth.words).main))
    return {"held_out": len(before), "f1_before": float(np.mean(before)), "f1": float(np.mean(after))}


def fit_weights(examples: Sequence[Example], margins: Sequence[FloatArray]) -> list[float]:
    """Fit `dripper_labelers.reader.labeler.WEIGHTS`, the weights of the draft, of the margin and of
    a constant 1. In this logistic regression, the weight of a page is the square root of its number
    of blocks in doubt."""
    inputs, targets, counts = list[FloatArray](), list[FloatArray](), list[FloatArray]()
    for example, each in zip(examples, margins, strict=True):
        blocks = np.flatnonzero(np.isfinite(each) & find_unsure(example.probability))
        bounded = np.clip(example.probability[blocks], UNSURE, 1 - UNSURE)
        inputs.append(np.stack([np.log(bounded / (1 - bounded)), each[blocks], np.ones(len(blocks))], axis=1))
        targets.append(example.targets(blocks.tolist()))
        counts.append(np.full(len(blocks), max(len(blocks), 1) ** -0.5))
    design, target, count = np.concatenate(inputs), np.concatenate(targets), np.concatenate(counts)
    weights = np.array(WEIGHTS)
    for _ in range(_STEPS):
        probability = 1 / (1 + np.exp(-design @ weights))
        slopes = (count * probability * (1 - probability))[:, None]
        curvature = (design * slopes).T @ design + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, design.T @ (count * (target - probability)))
    return [round(float(weight), 3) for weight in weights]
