"""Collects predictions for held-out sites, the values fitted to these predictions, and the
reliability plot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import estimate_confidence
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.by_site import fold_of
from dripper_lab.train.examples import Example
from dripper_lab.train.folds import compute_held_out_logits, network_of
from dripper_lab.train.kinds import compute_held_out_kinds, fit_confidence
from dripper_lab.train.validate import Calibration, PageScores, calibrate, keep_calibration, page_scores, reliability
from dripper_lab.train.weights import take_confidence


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out pages with main content. All arrays have the same order of pages."""

    examples: Sequence[Example]
    logits: Sequence[FloatArray]
    """The logits of each page; see `validate.page_scores`."""
    kinds: FloatArray
    """(n_pages, n_kinds), probabilities of `decide.KINDS`."""
    calibration: Calibration
    scores: PageScores
    confidence: FloatArray
    """(n_pages,), computed with coefficients that were fitted on the other half of the sites."""
    coefficients: FloatArray
    """The coefficients of `decide.estimate_confidence`, fitted on all held-out pages, including
    pages without main content."""
    empty: Sequence[Example]
    """The held-out pages without main content."""
    empty_kinds: FloatArray
    """The `kinds` of these pages."""
    empty_confidence: FloatArray
    """The `confidence` of these pages."""

    @classmethod
    def of(
        cls, examples: Sequence[Example], networks: Sequence[Weights | None], start: Weights | None = None
    ) -> "HeldOut":
        """Collect the predictions of the networks, one per fold, for the examples of their fold.

        Args:
            start: Earlier weights. Their calibrations of blocks and pages are kept; without these
                weights, both are fitted here.
        """
        full = [example for example in examples if example.truth_words]
        empty = [example for example in examples if not example.truth_words]
        logits, nothing = compute_held_out_logits(full, networks), compute_held_out_logits(empty, networks)
        calibration = calibrate(full, logits) if start is None else keep_calibration(start, full, logits)
        scores, empty_scores = page_scores(full, logits, calibration), page_scores(empty, nothing, calibration)
        both = [*full, *empty]
        kinds = np.stack([compute_held_out_kinds(network_of(example, networks), example) for example in both])
        expected, reached = (np.concatenate([scores[at], empty_scores[at]]) for at in (2, 1))
        if start is None:
            confidence = _confidence_by_halves(both, expected, kinds, reached)
            coefficients = fit_confidence(expected, kinds, reached)
        else:
            coefficients = take_confidence(start)
            confidence = _confidence(coefficients, expected, kinds)
        n = len(full)
        return cls(
            full, logits, kinds[:n], calibration, scores, confidence[:n], coefficients, empty, kinds[n:], confidence[n:]
        )

    def calibrated(self, weights: Weights) -> Weights:
        """Return the weights with the calibration of blocks and pages."""
        return replace(
            weights,
            temperature=self.calibration.temperature,
            shift=self.calibration.shift,
            matrices={**weights.matrices, "confidence": self.coefficients},
        )


def _confidence(coefficients: FloatArray, expected: FloatArray, kinds: FloatArray) -> FloatArray:
    """Return the confidence of each page; see `kinds.fit_confidence` for `expected` and `kinds`."""
    pairs = zip(expected.tolist(), kinds, strict=True)
    return np.array([estimate_confidence(coefficients, one, page) for one, page in pairs])


def _confidence_by_halves(
    pages: Sequence[Example], expected: FloatArray, kinds: FloatArray, reached: FloatArray
) -> FloatArray:
    """Return the confidence of each page, computed with coefficients that were fitted on the other
    half of the sites."""
    halves = np.array([fold_of(f"half of {page.host}", 2) for page in pages])
    confidence = np.zeros(len(pages))
    for half in (0, 1):
        own, other_half = halves == half, halves != half
        if own.any() and other_half.any():
            coefficients = fit_confidence(expected[other_half], kinds[other_half], reached[other_half])
            confidence[own] = _confidence(coefficients, expected[own], kinds[own])
    return confidence


BINS = 10


def draw_reliability(held_out: HeldOut, path: Path) -> None:
    """Write a PNG for the held-out pages. Left: block probabilities against the ground truth.
    Middle: page confidence in ten equal groups against the score. Right: risk by coverage."""
    # PyTorch training uses `HeldOut` in an environment without matplotlib.
    from matplotlib.figure import Figure

    blocks = reliability(held_out.examples, held_out.logits, held_out.calibration)
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    probability, share, words = np.array(blocks).T
    left.bar(probability, share, width=0.07, color="tab:blue", alpha=0.7)
    for at, height, count in zip(probability, share, words, strict=True):
        left.annotate(f"{count / words.sum():.0%}", (at, height), ha="center", va="bottom", fontsize=8)
    left.set(
        title="Blocks, by words (figures: share of all words)",
        xlabel="probability of main",
        ylabel="share that is main",
    )
    confidence, reached = held_out.confidence, held_out.scores.rouge5
    groups = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    means = np.array([(confidence[group].mean(), reached[group].mean()) for group in groups if len(group)])
    middle.plot(means[:, 0], means[:, 1], "o-", color="tab:blue")
    middle.set(title="Pages, in ten groups of equal size", xlabel="confidence", ylabel="mean ROUGE-5 F1")
    for axes in (left, middle):
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
        axes.set(xlim=(0, 1), ylim=(0, 1.05))
    coverage = np.arange(1, len(reached) + 1) / len(reached)
    for order, label in ((confidence, "by confidence"), (reached, "by the score itself (bound)")):
        risk = 1 - np.cumsum(reached[np.argsort(-order, kind="stable")]) / np.arange(1, len(reached) + 1)
        right.plot(coverage, risk, label=label)
    right.set(title="Risk by coverage", xlabel="share of pages kept, surest first", ylabel="1 - mean ROUGE-5 F1")
    right.set(xlim=(0, 1), ylim=(0, None))
    right.legend()
    # Omit the name and version of matplotlib.
    figure.savefig(path, dpi=110, metadata={"Software": None})
