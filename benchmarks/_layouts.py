"""Reads labelled pages site by site, for the layout benchmarks."""

from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels import Labeler, Labels
from dripper.layouts import PageBlocks, PageLayout, Skeleton
from dripper_lab.datasets import LabelledPage, read_pages
from dripper_lab.truth import Truth, split_pages

MOST_OF_A_SITE = 30
Mask = npt.NDArray[np.bool_]


class Seen(NamedTuple):
    """A labelled page, split into blocks, with its ground truth, labels and layout skeleton."""

    truth: Truth
    kept: PageBlocks
    labels: Labels
    skeleton: Skeleton
    labelled: LabelledPage
    simplified_html: str


def seen(labelled: LabelledPage, labeler: Labeler) -> Iterator[Seen]:
    """Yield the page if it can be split and has a ground truth; otherwise, yield nothing."""
    for _, page in split_pages([labelled]):
        truth = Truth.of([block.text for block in page.blocks], labelled)
        if page.blocks and truth.truth_words:
            labels = labeler.label([page])[0]
            layout = PageLayout.of(page, labels)
            yield Seen(truth, layout.blocks, labels, layout.skeleton, labelled, page.simplified_html)


def sites_of(data: Path, name: str, most: int, least: int, labeler: Labeler) -> list[list[Seen]]:
    """Return the pages of whole sites, about `most` pages in all. Only sites with at least `least`
    labelled pages are used. The order of sites is always the same."""
    by_site: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in read_pages(data, name):
        by_site[page.host].append(page)
    sites: list[list[Seen]] = []
    for site in sorted(by_site, key=lambda site: sha256(site.encode()).digest()):
        if len(by_site[site]) >= least and sum(map(len, sites)) < most:
            sites.append([one for page in by_site[site][:MOST_OF_A_SITE] for one in seen(page, labeler)])
    return sites
