"""Score untrained labelers on the pages on which trained labelers are cross-validated:

    python -m dripper_lab.train.held_out --data DIR --labelers trafilatura

Prints each labeler's mean F1 over words, for each data set and for all pages.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dripper.errors import UsageError
from dripper.labels import Labeler, load
from dripper_lab.datasets import LabelledPage, Role, names_with, read_pages
from dripper_lab.truth import read_truths


def f1_of_pages(labelers: Sequence[Labeler], pages: Iterable[LabelledPage]) -> list[list[float]]:
    """Return for each labeler the F1 over words of each page. Pages without a main block are left
    out."""
    scores: list[list[float]] = [[] for _ in labelers]
    for page, truth in read_truths(pages):
        if truth.main.any():
            for labeler, of_labeler in zip(labelers, scores, strict=True):
                of_labeler.append(truth.f1(labeler.label([page])[0].main))
    return scores


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, print a line per labeler and data set, and return the exit code: 0,
    or 2 if the user has to change something."""
    parser = argparse.ArgumentParser(
        prog="python -m dripper_lab.train.held_out", description="Score untrained labelers."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--labelers", nargs="+", default=["trafilatura"], help="names (default: trafilatura)")
    parser.add_argument("--sample", type=int, default=None, help="only so many pages of each set (default: all)")
    options = parser.parse_args(arguments)
    try:
        labelers = [load(name) for name in options.labelers]
        by_set = {
            name: f1_of_pages(labelers, read_pages(options.data, name, sample=options.sample))
            for name in names_with(Role.TRAIN_SHIPS, folder=options.data) or names_with(Role.TRAIN_SHIPS)
        }
        by_set["all"] = [[f1 for of_set in by_set.values() for f1 in of_set[i]] for i in range(len(labelers))]
        for i, labeler in enumerate(labelers):
            for name, of_set in by_set.items():
                mean = float(np.mean(of_set[i])) if of_set[i] else 0.0
                sys.stdout.write(f"{labeler.name}, {name}: F1 over words {mean:.4f}, {len(of_set[i])} pages\n")
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
