"""Defines the hyperparameters, which the model card lists, and balances kinds of pages.

Two thirds of the training pages are articles. A network that is trained on them without balancing
reads a shop's page as if it were an article. With equally many pages of each kind, it forgets
articles.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.network import Shape


@dataclass(frozen=True, slots=True)
class Shares:
    """The fraction of pages that is replaced by each kind of variant: crowded
    (`dripper_lab.train.crowded`), antique (`dripper_lab.train.antique`), with comments that are not
    main (`dripper_lab.train.commented`), and two combinations."""

    crowded: float = 0.0
    antique: float = 0.0
    antique_crowded: float = 0.0
    commented: float = 0.0
    antique_commented: float = 0.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """The hyperparameters. The defaults were chosen on validation pages (see the model card)."""

    width: int = 64
    """Number of channels of the network."""
    pool_width: int = 12
    """Number of channels for each level of container means."""
    shape: Shape = field(default_factory=lambda: Shape(dilations=(1, 2, 4, 8, 16, 32, 1), pooled=(1, 3, 5)))
    epochs: int = 8
    """Number of epochs over all pages, after the first stage."""
    first_epochs: int = 10
    """Number of epochs over the pages of the first stage (`dripper_lab.train.optimise`)."""
    first_share: float = 0.4
    """Weight of the first stage's weights in the mean that is shipped."""
    switch_ridge: float = 10.0
    """Penalty on the squared coefficients of the switch (`dripper_lab.train.switch`)."""
    batch_blocks: int = 4096
    """Number of blocks in a batch."""
    learning_rate: float = 3e-3
    """Learning rate of the first stage."""
    later_learning_rate: float = 1.5e-3
    weight_decay: float = 0.02
    dropout: float = 0.2
    """Fraction of values in residual branches that is dropped."""
    noise: float = 0.3
    """Standard deviation of the noise that is added to standardised features."""
    feature_drop: float = 0.1
    """Fraction of features to blank on each page, so that the network does not rely on a single
    feature."""
    name_drop: float = 0.15
    """Fraction of pages on which class and id names are hidden. Pages from before style sheets have
    none.
    """
    metadata_drop: float = 0.3
    """Fraction of pages on which metadata is hidden. Older pages have none."""
    balance: float = 0.4
    """Balance between kinds of pages. 0: each page comes once per epoch. 1: each kind of page comes
    equally often. For values between, see `turns_an_epoch`."""
    crowded_variants: int = 1
    antique_variants: int = 0
    """The number of crowded variants and of antique variants to make of each page."""
    shares: Shares = field(default_factory=Shares)
    """The fractions of pages that are replaced by variants."""
    other_width: int = 48
    other_shape: Shape = field(default_factory=lambda: Shape(dilations=(1, 2, 4, 8, 16, 32), pooled=(1, 3)))
    """The width and shape of the networks that give a second opinion."""
    other_shares: tuple[Shares, ...] = (Shares(),)
    """The `shares` of each of these networks."""
    other_balances: tuple[float, ...] = (0.5,)
    """The `balance` of each of these networks."""
    average_from: float = 0.6
    """Fraction of the steps after which exponential averaging of weights begins, with
    `average_decay` per step.
    """
    average_decay: float = 0.995
    seed: int = 0

    @property
    def other_recipes(self) -> "tuple[Recipe, ...]":
        """The recipes of the networks that give a second opinion. Each has a different seed."""
        return tuple(
            replace(
                self, width=self.other_width, shape=self.other_shape, shares=shares, balance=balance,
                seed=self.seed + 4 + number,
            )
            for number, (shares, balance) in enumerate(zip(self.other_shares, self.other_balances, strict=True))
        )  # fmt: skip


GOING_ON = Recipe(epochs=3, later_learning_rate=2.5e-3, first_share=0.1)
"""The recipe for training earlier weights further. It trains their first network and the first
network that gives a second opinion, and keeps the two others. It was chosen on 939 pages held out
by host (docs/research/labeler_cpu.md)."""


def turns_an_epoch(kinds: Sequence[str], balance: float) -> FloatArray:
    """Return the average number of times that each page comes in an epoch, (n_pages,). The mean
    over pages is 1.

    Args:
        kinds: The kind of each page.
        balance: 0 to 1. A kind with n pages comes in proportion to n^(1 - balance).

    >>> turns_an_epoch(["article", "article", "article", "article", "forum"], 0.5).round(2).tolist()
    [0.83, 0.83, 0.83, 0.83, 1.67]
    """
    counts = Counter(kinds)
    turns = np.array([float(counts[kind]) ** -balance for kind in kinds], np.float64)
    return np.asarray(turns * len(turns) / turns.sum())


def draw_turns(turns: FloatArray, draw: np.random.Generator) -> IntArray:
    """Return the indexes of the pages of one epoch, in random order. Each page comes as often as
    `turns` says, rounded up or down at random."""
    times = np.floor(turns + draw.random(len(turns))).astype(np.int64)
    return draw.permutation(np.repeat(np.arange(len(turns)), times))
