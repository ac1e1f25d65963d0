"""Sums up what a site needs of its pages, block by block.

All sums are of whole numbers, so that they are the same in whatever order pages are added.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.html.blocks.page import Page
from dripper.labels import Labels
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.words import words_of
from dripper.sites.fingerprints import Fingerprints, Hashes, Paths, fingerprints

_MOST_WORDS = 50
"""A block weighs as much as its words in its path's mean, but no more: one long article is not a
template."""
_ODDS_STEP = 64
_CONFIDENCE_STEP = 10_000
"""Both: parts of one, in which sums are kept."""
_LEAST_PROBABILITY = 1e-3
"""And 1 less it, the most: the network's last tenth of a percent is no evidence."""


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks of a page as its site needs them: 24 bytes a block. Arrays have shape (n_blocks,),
    in block order."""

    fingerprints: Fingerprints
    words: npt.NDArray[np.int32]
    log_odds: npt.NDArray[np.float32]
    """Log odds of main content, natural logarithm."""
    confidence: float
    """The labeler's, of the page as a whole, 0 to 1."""


class PathSum(NamedTuple):
    """The sums over the blocks on one path."""

    pages: int = 0
    """Pages that have a block there."""
    words: int = 0
    """Words of these blocks, at most 50 each."""
    log_odds: int = 0
    """Log odds of main content, in steps of 1/64, each block's times its words."""

    def __add__(self, other: "PathSum") -> "PathSum":  # type: ignore[override]
        return PathSum(self.pages + other.pages, self.words + other.words, self.log_odds + other.log_odds)

    def without(self, other: "PathSum") -> "PathSum":
        """Return what is left where `other` was part of it."""
        return PathSum(self.pages - other.pages, self.words - other.words, self.log_odds - other.log_odds)

    @property
    def mean(self) -> float:
        """The mean log odds of its words; 0 where there are none."""
        return self.log_odds / (self.words * _ODDS_STEP) if self.words else 0.0


@dataclass(slots=True)
class SiteStatistics:
    """Sums over pages of one site."""

    pages: int = 0
    confidence: int = 0
    """Confidence of the pages, in steps of 1/10,000."""
    paths: dict[int, PathSum] = field(default_factory=dict)
    """Sums by fingerprint of the path."""
    texts: dict[int, int] = field(default_factory=dict)
    """Pages that have a text, by its fingerprint."""

    @classmethod
    def of(cls, pages: Iterable[PageBlocks]) -> "SiteStatistics":
        """Return the sums of some pages."""
        site = cls()
        for page in pages:
            site.add(sum_page(page))
        return site

    def add(self, other: "SiteStatistics") -> None:
        """Add other pages of the site."""
        self.pages += other.pages
        self.confidence += other.confidence
        for path, added in other.paths.items():
            self.paths[path] = self.paths.get(path, PathSum()) + added
        for text, n_pages in other.texts.items():
            self.texts[text] = self.texts.get(text, 0) + n_pages

    @property
    def mean_confidence(self) -> float:
        """The pages' mean confidence, 0 to 1; 0 where there are none."""
        return self.confidence / (self.pages * _CONFIDENCE_STEP) if self.pages else 0.0


def remember(page: Page, labels: Labels, paths: Paths | None = None) -> PageBlocks:
    """Return what a site keeps of a page that a labeler with probabilities has labelled.

    Args:
        paths: Of its tree, where they are known.
    """
    words = np.array([len(words_of(block.text)) for block in page.blocks], np.int32)
    odds = log_odds(labels.probability.astype(np.float64))
    return PageBlocks(fingerprints(page, paths), words, odds.astype(np.float32), labels.confidence)


def log_odds(probability: FloatArray) -> FloatArray:
    """Return the log odds of probabilities, which are taken as at least 0.001 and at most 0.999."""
    clipped = np.clip(probability, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
    odds: FloatArray = np.log(clipped / (1 - clipped))
    return odds


def sum_page(page: PageBlocks) -> SiteStatistics:
    """Return what one page adds to its site."""
    prints = page.fingerprints
    of_page = np.zeros(len(page.words), np.int64)
    paths, texts = sum_pages(of_page, prints.paths, prints.texts, page.words, page.log_odds)
    columns = (paths.fingerprint.tolist(), paths.words.tolist(), paths.log_odds.tolist())
    return SiteStatistics(
        1,
        to_confidence_steps(page.confidence),
        {path: PathSum(1, words, odds) for path, words, odds in zip(*columns, strict=True)},
        dict.fromkeys(texts.fingerprint.tolist(), 1),
    )


def to_confidence_steps(confidence: float) -> int:
    """Return a confidence in the steps in which it is summed."""
    return round(confidence * _CONFIDENCE_STEP)


class PageSums(NamedTuple):
    """The sums that pages add to their site, a row for each of their paths, or texts; columns of
    one length."""

    page: IntArray
    """The page of each entry."""
    fingerprint: Hashes
    words: IntArray
    log_odds: IntArray
    """Both: as in `PathSum`; 0 of texts."""


def sum_pages(
    page: IntArray, paths: Hashes, texts: Hashes, words: npt.NDArray[np.int32], log_odds: npt.NDArray[np.float32]
) -> tuple[PageSums, PageSums]:
    """Return the sums of many pages at once, by path and by text. All have shape (blocks of all
    pages,)

    Args:
        page: Whose block it is.
    """
    weights = np.minimum(words, _MOST_WORDS).astype(np.int64)
    odds = np.rint(log_odds.astype(np.float64) * _ODDS_STEP).astype(np.int64) * weights
    nothing = np.zeros_like(weights)
    return _group(page, paths, weights, odds), _group(page, texts, nothing, nothing)


def _group(page: IntArray, fingerprint: Hashes, words: IntArray, log_odds: IntArray) -> PageSums:
    order = np.lexsort((fingerprint, page))
    pages, prints = page[order], fingerprint[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (pages[1:] != pages[:-1]) | (prints[1:] != prints[:-1])
    starts = np.flatnonzero(is_first)
    if not len(starts):
        return PageSums(pages, prints, words, log_odds)
    summed = (np.add.reduceat(values[order], starts) for values in (words, log_odds))
    return PageSums(pages[starts], prints[starts], *summed)


def subtract_page(page: PageBlocks, site: SiteStatistics, counted: SiteStatistics | None = None) -> SiteStatistics:
    """Return the sums of a site without one of its pages, for the paths and texts of that page.

    Args:
        page: The page to subtract.
        site: The sums over the pages of the site, this page included.
        counted: What of the page is in these sums; None: all that it adds.
    """
    own = sum_page(page)
    counted = own if counted is None else counted
    return SiteStatistics(
        site.pages - counted.pages,
        site.confidence - counted.confidence,
        {path: site.paths.get(path, _NONE).without(counted.paths.get(path, _NONE)) for path in own.paths},
        {text: site.texts.get(text, 0) - counted.texts.get(text, 0) for text in own.texts},
    )


_NONE = PathSum()
