"""Collects the data that layouts need about a page: the fingerprints, word counts and log odds of
its blocks, and its skeleton.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels import Labels
from dripper.labels.arrays import FloatArray
from dripper.labels.words import words_of
from dripper.layouts.fingerprints import Fingerprints, Paths, fingerprints
from dripper.layouts.skeletons import Skeleton, skeleton

_LEAST_PROBABILITY = 1e-3
"""Probabilities are clipped to this value and to 1 minus this value. The network's probabilities
are not accurate to less than a tenth of a percent."""


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The data that templates need about a page's blocks. Arrays have shape (n_blocks,), in block
    order."""

    fingerprints: Fingerprints
    words: npt.NDArray[np.int32]
    log_odds: npt.NDArray[np.float32]
    """Log odds of main content, natural logarithm."""

    @classmethod
    def of(cls, page: Page, labels: Labels, paths: Paths | None = None) -> "PageBlocks":
        """Collect the data from a page and its labels, which must have probabilities.

        Args:
            paths: The paths of the page's tree, if already computed.
        """
        words = np.array([len(words_of(block.text)) for block in page.blocks], np.int32)
        return cls(fingerprints(page, paths), words, to_log_odds(labels.probability))


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The data that are needed to find a page's layout and to transfer labels to it."""

    blocks: PageBlocks
    skeleton: Skeleton

    @classmethod
    def of(cls, page: Page, labels: Labels) -> "PageLayout":
        """Collect the data from a page and its labels, which must have probabilities."""
        paths = Paths(page.elements)
        return cls(PageBlocks.of(page, labels, paths), skeleton(page, paths))


def to_log_odds(probability: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Clip probabilities to [0.001, 0.999], and return their log odds."""
    clipped = np.clip(probability.astype(np.float64), _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
    odds: FloatArray = np.log(clipped / (1 - clipped))
    return odds.astype(np.float32)
