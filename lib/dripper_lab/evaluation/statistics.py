"""Computes means with intervals, and differences with a test against chance.

Pages of one site share a template, so a bootstrap sample draws sites with all their pages; pages
drawn one by one would give intervals that are too narrow. All extractors share the draws, so
differences are paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the bounds of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference this large is hardly due to chance alone."""
        return self.low > 0 or self.high < 0


class Bootstrap:
    """Draws of sites with replacement, the same for every extractor scored on these pages.

    sets, hosts: for each page, its data set and its site. draws: 2,000 move the bounds by about
    0.001. The seed is fixed: the same pages give the same intervals.
    """

    def __init__(self, sets: Sequence[str], hosts: Sequence[str], draws: int = 2000, seed: int = 0) -> None:
        names, self._set = np.unique(np.asarray(sets, dtype=object), return_inverse=True)
        sites, self._host = np.unique(np.asarray(hosts, dtype=object), return_inverse=True)
        self._shape = len(names), len(sites)
        generator = np.random.default_rng(seed)
        times: Floats = generator.multinomial(len(sites), np.full(len(sites), 1 / len(sites)), size=draws).astype(float)
        # Row 0 draws every site once, so that the value and its interval are computed in the same
        # way.
        self._times = np.vstack([np.ones((1, len(sites))), times])
        self._counts = self._times @ self._sums(np.ones(len(self._set)))

    def macro_mean(self, values: Floats) -> Floats:
        """Return the mean over sets of the means over their pages: for the pages themselves, then
        for each draw; shape (1 + draws,).

        Args:
            values: Shape (n_pages,). If a draw has no page of a set, its mean leaves the set out.
        """
        with np.errstate(invalid="ignore"):
            means = (self._times @ self._sums(values)) / self._counts
        result: Floats = np.nanmean(means, axis=1)
        return result

    def mean(self, values: Floats) -> Floats:
        """Return the mean over pages: for the pages themselves, then for each draw; shape (1 +
        draws,)."""
        result: Floats = (self._times @ self._sums(values)).sum(axis=1) / self._counts.sum(axis=1)
        return result

    def _sums(self, values: Floats) -> Floats:
        """Return sums by (site, set), shape (n_hosts, n_sets)."""
        sums = np.zeros(self._shape[::-1])
        np.add.at(sums, (self._host, self._set), values)
        return sums


def interval(drawn: Floats) -> Interval:
    """Return the value (the first number) with the 2.5th and 97.5th percentile of the draws (the
    others)."""
    low, high = np.quantile(drawn[1:], [0.025, 0.975])
    return Interval(float(drawn[0]), float(low), float(high))


def difference(one: Floats, other: Floats) -> Interval:
    """Return `one − other` of two results over the same draws."""
    return interval(one - other)
