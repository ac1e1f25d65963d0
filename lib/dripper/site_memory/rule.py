"""Labels of a page that go by what the other pages of its site say.

Two kinds of evidence, each where it was seen to help (docs/research/site_memory.md):

1. Consensus. Of a page of which the labeler is not sure, a block's log odds move to the mean of
   those on the same path of other pages, the further the more pages have it.
2. Repetition. A text that stands on many pages of a site is its frame. Not so in shops and lists,
   where items and what is said of them repeat: there the labeler is not sure of the pages either,
   so that the mean confidence of the site's pages tells.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dripper.labels import Labels
from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decode import PROBABILITY_STEPS, decide
from dripper.site_memory.statistics import PageBlocks, SiteStatistics, others_on_path

UNSURE = 0.7
"""Pages of lower confidence go by consensus: the default of labeler.escalate_below. 0.8 was as good
on pages of daniel-waddle, and lost .004 on those of wcxb-dev."""
CONSENSUS_SHARE = 0.8
"""The most that other pages count. 1 gained half as much again on sites of two pages, but lost .05
on one of eleven."""
PRIOR_PAGES = 1
"""A block's own log odds count as much as so many other pages."""
SURE_SITE = 0.75
"""Mean confidence of a site's pages from which on repeated texts are its frame; 0.8 gave half the
gain on daniel-waddle."""
LEAST_REPEATS = 2
"""Other pages that have the text: two pages may be one page at two addresses."""
REPEATED_SHARE = 0.3
"""Of the other pages that have the block's path, those that have its text; up to 0.9 makes no
difference of .005."""
MOST_REPEATED_MAIN = 0.3
"""Where repeated texts are a larger share of what the labeler marked, content repeats: a page in
several copies."""
REPETITION_ODDS = 4.0
"""By which the log odds of a repeated block fall; 2 gave two thirds of the gain, 8 the same."""


def relabel(page: PageBlocks, labels: Labels, site: SiteStatistics) -> Labels:
    """Return the labels of a page that is among those of `site`; the same object where the site has
    nothing to say.

    labels: those that `page` was remembered with, of a labeler with probabilities. The confidence
    is that of the new choice.
    """
    odds = page.log_odds.astype(np.float64)
    moved = odds
    if labels.confidence < UNSURE:
        moved = _to_consensus(page, site)
    if site.mean_confidence >= SURE_SITE:
        moved = moved - REPETITION_ODDS * _repeated(page, labels, site)
    if np.array_equal(moved, odds):
        return labels
    probability = np.rint(PROBABILITY_STEPS / (1 + np.exp(-moved))) / PROBABILITY_STEPS
    decision = decide(probability, page.words.astype(np.int64))
    return replace(
        labels, main=decision.main, probability=probability.astype(np.float32), confidence=decision.expected_f1
    )


def _to_consensus(page: PageBlocks, site: SiteStatistics) -> FloatArray:
    others = others_on_path(page, site)
    said = [others[path] for path in page.fingerprints.paths.tolist()]
    pages = np.array([path.pages if path.words else 0 for path in said], np.float64)
    share = CONSENSUS_SHARE * pages / (pages + PRIOR_PAGES)
    moved: FloatArray = page.log_odds * (1 - share) + share * np.array([path.mean for path in said])
    return moved


def _repeated(page: PageBlocks, labels: Labels, site: SiteStatistics) -> npt.NDArray[np.bool_]:
    """Return which blocks are the site's frame by their text."""
    others = others_on_path(page, site)
    text_pages = np.array([site.texts.get(text, 1) - 1 for text in page.fingerprints.texts.tolist()])
    path_pages = np.array([others[path].pages for path in page.fingerprints.paths.tolist()])
    found: npt.NDArray[np.bool_] = (text_pages >= LEAST_REPEATS) & (text_pages >= REPEATED_SHARE * path_pages)
    marked = page.words[labels.main].sum()
    if page.words[labels.main & found].sum() > MOST_REPEATED_MAIN * marked:
        return np.zeros(len(found), bool)
    return found
