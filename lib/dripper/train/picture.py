"""The reliability plot: does a probability of 0.8 mean that eight words of ten are main, a
confidence of 0.8 an F1 of 0.8? And what is left of the error where doubtful pages are sent
elsewhere."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dripper.train.cross_validated import HeldOut
from dripper.train.validate import reliability

BINS = 10


def draw_reliability(held_out: HeldOut, path: Path) -> None:
    """Write a PNG of held-out pages: left the blocks' probabilities, in the middle the pages'
    confidence in ten equal groups, both against what came true; right the risk by coverage."""
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
    # Without the library's name and version in it.
    figure.savefig(path, dpi=110, metadata={"Software": None})
