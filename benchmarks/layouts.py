"""Measures how much the F1 of pages increases if a few pages of the same layout are labelled
(docs/research/layouts.md).

python benchmarks/layouts.py --data ../shared/data [--sets dragnet daniel-waddle] [--most 250]
[--least 8]

The pages of a site are grouped by layout. In each layout of at least three pages, k representatives
are chosen. Their labels are either the ground truth (a perfect labeler) or those of `cpu`. A
template learned from the representatives labels the other pages if it fits them; otherwise, `cpu`
does. The figure is the F1 over words, as a mean over the pages that are not representatives.
`calls` is the number of representatives as a fraction of all pages of the sites. This is the
fraction that an expensive labeler would have to read, in addition to pages outside such layouts. At
most 30 pages of a site are used.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from _layouts import Mask, Seen, sites_of
from dripper.labels import load
from dripper.layouts.skeletons import group_by_layout
from dripper.layouts.templates import (
    LEAST_CONSISTENT,
    LEAST_PAGES,
    choose_representatives,
    fill,
    learn,
    measure_consistency,
)

COUNTS = (1, 2, 3)


def scores_of(layout: Sequence[Seen], k: int, labeler: str) -> tuple[int, list[tuple[float, float, bool]]]:
    """Return the number of representatives. Also return, for each other page, the F1 of `cpu`, the
    F1 with the template, and whether the template was used."""
    pages = {f"{i:04}": page for i, page in enumerate(layout)}
    chosen = choose_representatives({name: page.kept for name, page in pages.items()}, k)
    good = [(pages[name].kept, pages[name].labels, _labels(pages[name], labeler)) for name in chosen]
    template = learn((kept, main) for kept, _, main in good)
    is_used = measure_consistency(good) >= LEAST_CONSISTENT
    scores = []
    for name in sorted(set(pages) - set(chosen)):
        page = pages[name]
        filled, before = fill(template, page.kept, page.labels), page.truth.f1(page.labels.main)
        fits = is_used and filled.fits
        scores.append((before, page.truth.f1(filled.labels.main) if fits else before, fits))
    return len(chosen), scores


def _labels(page: Seen, labeler: str) -> Mask:
    return page.truth.main if labeler == "truth" else page.labels.main


def row(name: str, sites: Sequence[Sequence[Seen]], k: int, labeler: str) -> str:
    """Return a line of the table, or "" if fewer than ten pages are scored."""
    calls, scores = 0, []
    for site in sites:
        for layout in group_by_layout(site, lambda page: page.skeleton):
            if len(layout) >= LEAST_PAGES:
                called, made = scores_of(layout, k, labeler)
                calls, scores = calls + called, scores + made
    if len(scores) < 10:
        return ""
    before, after, taken = (np.array(column) for column in zip(*scores, strict=True))
    n_pages = sum(map(len, sites))
    there = f"{after[taken].mean():.4f} ({before[taken].mean():.4f})" if taken.any() else ""
    cells = (
        name,
        labeler,
        k,
        n_pages,
        len(scores),
        f"{before.mean():.4f}",
        f"{after.mean():.4f}",
        f"{taken.mean():.2f}",
        there,
    )
    return f"| {' | '.join(map(str, cells))} | {calls / n_pages:.2f} |"


def main(argv: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    sets = ["wcxb-dev", "web-kinds", "daniel-waddle", "xmu-zh-finance-news", "dragnet", "l3s-gn1"]
    parser.add_argument("--sets", nargs="+", default=sets)
    parser.add_argument("--most", type=int, default=250, help="pages of a set, about")
    parser.add_argument("--least", type=int, default=8, help="pages of a site")
    arguments = parser.parse_args(argv)
    labeler = load("cpu")
    print(f"weights {labeler.version}, sites of {arguments.least} pages and more\n")
    print(
        "| set | labels of representatives | k | pages | others | cpu | with templates | taken | F1 there (cpu) | calls |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in arguments.sets:
        sites = sites_of(arguments.data, name, arguments.most, arguments.least, labeler)
        for who in ("truth", "cpu"):
            for k in COUNTS:
                print(row(name, sites, k, who) or f"| {name} | {who} | {k} | too few pages | | | | | | |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
