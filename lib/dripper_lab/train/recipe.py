"""Holds all arguments of a training run in one value, which the model card prints, and the mix of
kinds of pages.

Two thirds of the training pages are articles. If a network is trained on them as they are, it reads
a shop's page as if it were an article; with as many pages of each kind, it forgets articles.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.network import Shape


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares in which variants of a page replace it, by kind: crowded
    (`dripper_lab.train.crowded`), antique (`dripper_lab.train.antique`), with comments that are not
    main (`dripper_lab.train.commented`), and two of them antique as well."""

    crowded: float = 0.0
    antique: float = 0.0
    antique_crowded: float = 0.0
    commented: float = 0.0
    antique_commented: float = 0.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """All arguments of a training run; chosen on validation pages (see the model card)."""

    width: int = 64
    """Channels of the network."""
    pool_width: int = 12
    """Channels of each level of container means."""
    shape: Shape = field(default_factory=lambda: Shape(dilations=(1, 2, 4, 8, 16, 32, 1), pooled=(1, 3, 5)))
    epochs: int = 8
    """Epochs of all pages, after the first stage."""
    first_epochs: int = 10
    """Epochs of the pages of the first stage (`dripper_lab.train.optimise`)."""
    first_share: float = 0.4
    """Share of the first stage's weights in the weights that ship."""
    switch_ridge: float = 10.0
    """Penalty on the squared coefficients of the switch of conventions."""
    batch_blocks: int = 4096
    """Blocks of a batch."""
    learning_rate: float = 3e-3
    """Learning rate of the first stage."""
    later_learning_rate: float = 1.5e-3
    weight_decay: float = 0.02
    dropout: float = 0.2
    """Share of the residual branches that is dropped."""
    noise: float = 0.3
    """Standard deviation of the noise that is added to standardised features."""
    feature_drop: float = 0.1
    """Share of the features blanked on each page: no feature may be trusted alone."""
    name_drop: float = 0.15
    """Share of the pages with hidden class and id names, as on pages from before style sheets.
    """
    metadata_drop: float = 0.3
    """Share of the pages with hidden metadata: older pages have none."""
    balance: float = 0.4
    """0: every page comes once an epoch; 1: every kind of page as often as any other; between: see
    `dripper_lab.train.recipe`."""
    crowded_variants: int = 1
    antique_variants: int = 0
    """Both: the number of variants of each kind that are made of a page."""
    shares: Shares = field(default_factory=Shares)
    """Shares in which pages come."""
    other_width: int = 48
    other_shape: Shape = field(default_factory=lambda: Shape(dilations=(1, 2, 4, 8, 16, 32), pooled=(1, 3)))
    """Both: of the networks that give a second opinion."""
    other_shares: tuple[Shares, ...] = (Shares(),)
    """Shares of each of them."""
    other_balances: tuple[float, ...] = (0.5,)
    """The `balance` of each of them."""
    average_from: float = 0.6
    """Share of the steps after which weights are averaged, exponentially: `average_decay` a step.
    """
    average_decay: float = 0.995
    seed: int = 0

    @property
    def other_recipes(self) -> "tuple[Recipe, ...]":
        """The recipes of the networks that give a second opinion; each has a seed of its own."""
        return tuple(
            replace(
                self, width=self.other_width, shape=self.other_shape, shares=shares, balance=balance,
                seed=self.seed + 4 + number,
            )
            for number, (shares, balance) in enumerate(zip(self.other_shares, self.other_balances, strict=True))
        )  # fmt: skip


GOING_ON = Recipe(epochs=3, later_learning_rate=2.5e-3, first_share=0.1)
"""The recipe by which earlier weights are trained further: their first network, and the first one
that gives a second opinion; the two others are kept. Chosen on 939 pages held out by host
(docs/research/labeler_cpu.md)."""


def turns_an_epoch(kinds: Sequence[str], balance: float) -> FloatArray:
    """Return the average number of times that each page comes in an epoch; shape (n_pages,), mean
    1.

    Args:
        kinds: The kind of each page.
        balance: 0 to 1; a kind of n pages has n^(1 - balance) turns, in proportion.

    >>> turns_an_epoch(["article", "article", "article", "article", "forum"], 0.5).round(2).tolist()
    [0.83, 0.83, 0.83, 0.83, 1.67]
    """
    counts = Counter(kinds)
    turns = np.array([float(counts[kind]) ** -balance for kind in kinds], np.float64)
    return np.asarray(turns * len(turns) / turns.sum())


def draw_turns(turns: FloatArray, draw: np.random.Generator) -> IntArray:
    """Return the indexes of the pages of one epoch, in random order, each as often as its turns,
    rounded up or down by chance."""
    times = np.floor(turns + draw.random(len(turns))).astype(np.int64)
    return draw.permutation(np.repeat(np.arange(len(turns)), times))
