"""What labels gain from the other pages of their site (docs/research/site_memory.md).

python benchmarks/site_memory.py --data ../shared/data [--sets daniel-waddle dragnet] [--most 250]

Each page of a site with two labelled pages or more is labelled by `cpu`, then again with what all
pages of the site know. The figure is F1 over words of a page's blocks, mean of pages, by how many
pages the site has. The order of sites is always the same; at most 30 pages of one count. A set on
which `cpu` was trained says little: there its own log odds are better than elsewhere.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import numpy as np

from _sites import Seen, sites_of
from dripper.labels import load
from dripper.sites import SiteStatistics, relabel

SIZES = ((2, 4), (5, 9), (10, sys.maxsize))
MARGIN = 0.02
"""Pages that change by less are counted neither as better nor as worse."""


def row(name: str, size: tuple[int, int], sites: Sequence[Sequence[Seen]]) -> str:
    """Return a line of the table; empty for fewer than ten pages."""
    scores, started = [], process_time()
    for site in sites:
        if size[0] <= len(site) <= size[1]:
            statistics = SiteStatistics.of(page.kept for page in site)
            again = [relabel(page.kept, page.labels, statistics).main for page in site]
            scores += [
                (page.truth.f1(page.labels.main), page.truth.f1(main)) for page, main in zip(site, again, strict=True)
            ]
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
    print(f"weights {labeler.version}\n")
    print("| set | pages of the site | n | cpu | with its site | better by .02 | worse by .02 | ms a page |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.sets:
        sites = sites_of(arguments.data, name, arguments.most, SIZES[0][0], labeler)
        print("\n".join(filter(None, (row(name, size, sites) for size in SIZES))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
