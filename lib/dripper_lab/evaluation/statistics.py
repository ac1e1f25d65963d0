"""Computes means with confidence intervals, and tests differences for significance.

Pages of the same site share a template. Bootstrap samples therefore draw sites with all their
pages; drawing single pages would make intervals too narrow. All extractors share the same draws, so
differences are paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference is too large to be due to chance alone."""
        return self.low > 0 or self.high < 0


class Bootstrap:
    """Draws of sites with replacement. They are the same for every extractor scored on these pages.

    sets, hosts: The data set and the site of each page.

    draws: With 2,000 draws, the bounds of an interval vary by about 0.001. The seed is fixed, so
    the same pages give the same intervals.
    """

    def __init__(self, sets: Sequence[str], hosts: Sequence[str], draws: int = 2000, seed: int = 0) -> None:
        names, self._set = np.unique(np.asarray(sets, dtype=object), return_inverse=True)
        sites, self._host = np.unique(np.asarray(hosts, dtype=object), return_inverse=True)
        self._shape = len(names), len(sites)
        generator = np.random.default_rng(seed)
        times: Floats = generator.multinomial(len(sites), np.full(len(sites), 1 / len(sites)), size=draws).astype(float)
        # Row 0 contains every site once, so that a value and its interval are computed in the same
        # way.
        self._times = np.vstack([np.ones((1, len(sites))), times])
        self._counts = self._times @ self._sums(np.ones(len(self._set)))

    def macro_mean(self, values: Floats) -> Floats:
        """Return the mean of the sets' means over pages, (1 + draws,): first for all pages, then
        for each draw.

        Args:
            values: A value per page, (n_pages,). A set without pages in a draw is ignored in that
                draw.
        """
        with np.errstate(invalid="ignore"):
            means = (self._times @ self._sums(values)) / self._counts
        result: Floats = np.nanmean(means, axis=1)
        return result

    def mean(self, values: Floats) -> Floats:
        """Return the mean over pages, (1 + draws,): first for all pages, then for each draw."""
        result: Floats = (self._times @ self._sums(values)).sum(axis=1) / self._counts.sum(axis=1)
        return result

    def _sums(self, values: Floats) -> Floats:
        """Return the sum for each site and set, (n_hosts, n_sets)."""
        sums = np.zeros(self._shape[::-1])
        np.add.at(sums, (self._host, self._set), values)
        return sums


def interval(drawn: Floats) -> Interval:
    """Return the first number as the value, with the 2.5th and 97.5th percentiles of the other
    numbers."""
    low, high = np.quantile(drawn[1:], [0.025, 0.975])
    return Interval(float(drawn[0]), float(low), float(high))


def difference(one: Floats, other: Floats) -> Interval:
    """Return `one − other` for two results over the same draws."""
    return interval(one - other)
