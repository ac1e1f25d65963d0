"""The reliability plot: does a probability of 0.8 mean that eight words of ten are main, a
confidence of 0.8 an F1 of 0.8?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dripper.labels.arrays import FloatArray

BINS = 10


def draw_reliability(
    blocks: Sequence[tuple[float, float, int]],
    confidence: FloatArray,
    f1: FloatArray,
    path: Path,
) -> None:
    """Write a PNG: left the blocks' probabilities, right the pages' confidence in ten equal groups,
    both against what came true.

    blocks: what `validate.reliability` returns. confidence, f1: (n_pages,), see
    `validate.page_scores`.
    """
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    probability, share, words = np.array(blocks).T
    left.bar(probability, share, width=0.07, color="tab:blue", alpha=0.7)
    for at, height, count in zip(probability, share, words, strict=True):
        left.annotate(f"{count / words.sum():.0%}", (at, height), ha="center", va="bottom", fontsize=8)
    left.set(
        title="Blocks, by words (figures: share of all words)",
        xlabel="probability of main",
        ylabel="share that is main",
    )
    groups = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    means = np.array([(confidence[group].mean(), f1[group].mean()) for group in groups if len(group)])
    right.plot(means[:, 0], means[:, 1], "o-", color="tab:blue")
    right.set(title="Pages, in ten groups of equal size", xlabel="confidence", ylabel="mean F1 over words")
    for axes in (left, right):
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
        axes.set(xlim=(0, 1), ylim=(0, 1.05))
    # Without the library's name and version in it.
    figure.savefig(path, dpi=110, metadata={"Software": None})
