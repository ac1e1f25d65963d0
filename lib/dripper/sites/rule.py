"""Relabels a page by what the other pages of its site say.

Two kinds of evidence, each where it was seen to help (docs/research/site_memory.md):

1. Consensus. Of a page of which the labeler is not sure, a block's log odds move to the mean of
   those on the same path of other pages, the further the more pages have it. Where few have it,
   only if they are surer than the page itself. Not in lists and forms, where one path holds both.
2. Repetition. A text that stands on many pages of a site is its frame. Not so in shops, lists and
   threads, where items and what is said of them repeat: the kind of the page tells, and so does the
   mean confidence of the site's pages, as the labeler is not sure of those either.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dripper.labels import Labels
from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import PROBABILITY_STEPS, decide
from dripper.sites.statistics import PageBlocks, SiteStatistics, subtract_page


def decide_again(page: PageBlocks, labels: Labels, log_odds: FloatArray) -> Labels:
    """Return labels by other log odds of the page's blocks, shape (n_blocks,), with the confidence
    of that choice; all else as in `labels`."""
    probability = np.rint(PROBABILITY_STEPS / (1 + np.exp(-log_odds))) / PROBABILITY_STEPS
    decision = decide(probability, page.words.astype(np.int64))
    return replace(
        labels, main=decision.main, probability=probability.astype(np.float32), confidence=decision.expected_f1
    )


NO_CONSENSUS = frozenset(("listing", "collection", "form"))
NO_REPETITION = frozenset(("listing", "collection", "product", "documentation", "forum"))
"""Both: kinds of pages. On labelled pages of wcxb-dev and web-kinds each of them lost."""
UNSURE = 0.7
"""Pages of lower confidence go by consensus. 0.8 was as good on pages of daniel-waddle, and lost
.004 on those of wcxb-dev."""
CONSENSUS_SHARE = 0.8
"""The most that other pages count. 1 gained half as much again on sites of two pages, but lost .05
on one of eleven."""
PRIOR_PAGES = 1
"""A block's own log odds count as much as so many other pages."""
SURE_SITE = 0.75
"""Mean confidence of a site's pages from which on repeated texts are its frame; 0.8 gave half the
gain on daniel-waddle."""
ENOUGH_PAGES = 4
"""Other pages that are evidence by themselves. Of fewer, a path counts only where its mean log odds
are further from 0 than the block's own, and a text that they share is no frame: two pages may be
one page at two addresses, three one story in three parts."""
REPEATED_SHARE = 0.3
"""Share of the other pages with the block's path that have its text, too; up to 0.9 makes no
difference of .005."""
MOST_REPEATED_MAIN = 0.3
"""Share of repeated texts in what the labeler marked, above which content itself repeats: a page in
several copies."""
REPETITION_ODDS = 4.0
"""Fall of the log odds of a repeated block; 2 gave two thirds of the gain, 8 the same."""


def relabel(page: PageBlocks, labels: Labels, site: SiteStatistics, counted: SiteStatistics | None = None) -> Labels:
    """Return the labels of a page by what its site knows; the same object where that changes
    nothing, or would leave no block.

    The confidence is that of the new choice.

    Args:
        page: What the site keeps of the page.
        labels: Those that `page` was remembered with, of a labeler with probabilities.
        site: The sums over the pages of the site, this page included.
        counted: What of the page is in the sums of `site`; None: all that it adds.
    """
    rest = subtract_page(page, site, counted)
    if rest.pages < 1:
        return labels
    odds = page.log_odds.astype(np.float64)
    new_odds = odds
    if labels.confidence < UNSURE and labels.page_kind not in NO_CONSENSUS:
        new_odds = _move_to_consensus(page, rest)
    if _compute_mean_confidence(page, rest) >= SURE_SITE and labels.page_kind not in NO_REPETITION:
        new_odds = new_odds - REPETITION_ODDS * _find_repeated(page, labels, rest)
    if np.array_equal(new_odds, odds):
        return labels
    changed = decide_again(page, labels, new_odds)
    return changed if changed.main.any() else labels


def _compute_mean_confidence(page: PageBlocks, rest: SiteStatistics) -> float:
    return (rest.mean_confidence * rest.pages + page.confidence) / (rest.pages + 1)


def _move_to_consensus(page: PageBlocks, rest: SiteStatistics) -> FloatArray:
    sums = [rest.paths[path] for path in page.fingerprints.paths.tolist()]
    pages = np.array([path.pages if path.words else 0 for path in sums], np.float64)
    share = CONSENSUS_SHARE * pages / (pages + PRIOR_PAGES)
    means = np.array([path.mean for path in sums])
    share[(pages < ENOUGH_PAGES) & (np.abs(means) <= np.abs(page.log_odds))] = 0
    new_odds: FloatArray = page.log_odds * (1 - share) + share * means
    return new_odds


def _find_repeated(page: PageBlocks, labels: Labels, rest: SiteStatistics) -> npt.NDArray[np.bool_]:
    """Return which blocks are the site's frame by their text."""
    text_pages = np.array([rest.texts[text] for text in page.fingerprints.texts.tolist()])
    path_pages = np.array([rest.paths[path].pages for path in page.fingerprints.paths.tolist()])
    is_repeated: npt.NDArray[np.bool_] = (text_pages >= ENOUGH_PAGES) & (text_pages >= REPEATED_SHARE * path_pages)
    marked = page.words[labels.main].sum()
    if page.words[labels.main & is_repeated].sum() > MOST_REPEATED_MAIN * marked:
        return np.zeros(len(is_repeated), bool)
    return is_repeated
