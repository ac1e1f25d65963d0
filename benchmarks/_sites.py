"""Labelled pages, site by site: what the benchmarks of sites have in common."""

from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage, read_pages
from dripper.errors import PageError
from dripper.html import Page, preprocess
from dripper.labels import Labeler, Labels
from dripper.labels.align import matched_shares
from dripper.labels.words import words_of
from dripper.preparation import Decoded
from dripper.site_memory import PageBlocks, Skeleton, remember, skeleton
from dripper.site_memory.paths import Paths

MOST_OF_A_SITE = 30
Mask = npt.NDArray[np.bool_]


class Seen(NamedTuple):
    """One page: its words by block, those that the truth has, the truth's number of words; what it
    keeps, its labels and its skeleton."""

    words: npt.NDArray[np.float64]
    matched: npt.NDArray[np.float64]
    n_truth: int
    kept: PageBlocks
    labels: Labels
    skeleton: Skeleton

    def f1(self, main: Mask) -> float:
        """Return F1 over words, 0 to 1."""
        return float(2 * self.matched[main].sum() / max(1.0, self.words[main].sum() + self.n_truth))

    @property
    def truth(self) -> Mask:
        """The blocks of which the truth has at least half."""
        is_main: Mask = (self.matched * 2 >= self.words) & (self.words > 0)
        return is_main


def seen(labelled: LabelledPage, labeler: Labeler) -> Iterator[Seen]:
    """Yield the page, where it can be split and has a truth."""
    try:
        page: Page = preprocess(Decoded.of(labelled.html, labelled.content_type).text)
    except PageError:
        return
    truth = words_of(labelled.truth_text)
    if not page.blocks or not truth:
        return
    words = [words_of(block.text) for block in page.blocks]
    lengths = np.array([len(each) for each in words], np.float64)
    labels = labeler.label([page])[0]
    paths = Paths(page.elements)
    matched = matched_shares(words, truth) * lengths
    yield Seen(lengths, matched, len(truth), remember(page, labels, paths), labels, skeleton(page, paths))


def sites_of(data: Path, name: str, most: int, least: int, labeler: Labeler) -> list[list[Seen]]:
    """Return the pages of about `most` pages' worth of sites that have `least` labelled pages or
    more; the order of sites is always the same."""
    by_site: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in read_pages(data, name):
        by_site[page.host].append(page)
    sites: list[list[Seen]] = []
    for site in sorted(by_site, key=lambda site: sha256(site.encode()).digest()):
        if len(by_site[site]) >= least and sum(map(len, sites)) < most:
            sites.append([one for page in by_site[site][:MOST_OF_A_SITE] for one in seen(page, labeler)])
    return sites
