"""What labels gain from the other pages of their site (docs/research/site_memory.md).

python benchmarks/site_memory.py --data ../shared/data [--sets daniel-waddle dragnet] [--most 250]

Each page of a site with two labelled pages or more is labelled by `cpu`, then again with what all
pages of the site know. The figure is F1 over words of a page's blocks, mean of pages, by how many
pages the site has. The order of sites is always the same; at most 30 pages of one count. A set on
which `cpu` was trained says little: there its own log odds are better than elsewhere.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage, read_pages
from dripper.errors import PageError
from dripper.html import Page, preprocess
from dripper.labels import Labeler, Labels, load
from dripper.labels.align import matched_shares
from dripper.labels.words import words_of
from dripper.preparation import Decoded
from dripper.site_memory import PageBlocks, SiteStatistics, relabel, remember

SIZES = ((2, 4), (5, 9), (10, sys.maxsize))
MOST_OF_A_SITE = 30
MARGIN = 0.02
"""Pages that change by less are counted neither as better nor as worse."""


class Seen(NamedTuple):
    """One page: its words by block, those that the truth has, the truth's number of words; what it
    keeps, its labels."""

    words: npt.NDArray[np.float64]
    matched: npt.NDArray[np.float64]
    n_truth: int
    kept: PageBlocks
    labels: Labels

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """Return F1 over words, 0 to 1."""
        return float(2 * self.matched[main].sum() / max(1.0, self.words[main].sum() + self.n_truth))


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
    yield Seen(lengths, matched_shares(words, truth) * lengths, len(truth), remember(page, labels), labels)


def sites_of(data: Path, name: str, most: int, labeler: Labeler) -> list[list[Seen]]:
    """Return the pages of about `most` pages' worth of sites."""
    by_site: dict[str, list[LabelledPage]] = defaultdict(list)
    for page in read_pages(data, name):
        by_site[page.host].append(page)
    sites: list[list[Seen]] = []
    for site in sorted(by_site, key=lambda site: sha256(site.encode()).digest()):
        if len(by_site[site]) >= SIZES[0][0] and sum(map(len, sites)) < most:
            sites.append([one for page in by_site[site][:MOST_OF_A_SITE] for one in seen(page, labeler)])
    return sites


def row(name: str, size: tuple[int, int], sites: Sequence[Sequence[Seen]]) -> str:
    """Return a line of the table; empty for fewer than ten pages."""
    scores, started = [], process_time()
    for site in sites:
        if size[0] <= len(site) <= size[1]:
            statistics = SiteStatistics.of(page.kept for page in site)
            again = [relabel(page.kept, page.labels, statistics).main for page in site]
            scores += [(page.f1(page.labels.main), page.f1(main)) for page, main in zip(site, again, strict=True)]
    if len(scores) < 10:
        return ""
    before, after = np.array(scores).T
    better, worse = int((after > before + MARGIN).sum()), int((after < before - MARGIN).sum())
    milliseconds = 1000 * (process_time() - started) / len(scores)
    sizes = f"{size[0]} to {size[1]}" if size[1] < sys.maxsize else f"{size[0]} and more"
    cells = (
        name,
        sizes,
        len(scores),
        f"{before.mean():.4f}",
        f"{after.mean():.4f}",
        better,
        worse,
        f"{milliseconds:.2f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main(argv: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["daniel-waddle", "xmu-zh-finance-news", "dragnet", "l3s-gn1"])
    parser.add_argument("--most", type=int, default=250, help="pages of a set, about")
    arguments = parser.parse_args(argv)
    labeler = load("cpu")
    print("| set | pages of the site | n | cpu | with its site | better by .02 | worse by .02 | ms a page |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.sets:
        sites = sites_of(arguments.data, name, arguments.most, labeler)
        print("\n".join(filter(None, (row(name, size, sites) for size in SIZES))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
