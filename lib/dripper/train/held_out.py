"""Score labelers that nobody trained, on the pages that trained ones are cross-validated on:

    python -m dripper.train.held_out --data DIR --labelers trafilatura

Prints the F1 over words of each: what `dripper.labels.vote.held_out` has beside those of the model
cards.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dripper.datasets import LabelledPage, Role, names_with, read_pages
from dripper.errors import PageError, UsageError
from dripper.html import preprocess
from dripper.labels import Labeler, load
from dripper.labels.align import matched_shares
from dripper.labels.words import words_of
from dripper.warc import decode


def mean_f1(labeler: Labeler, pages: Iterable[LabelledPage]) -> tuple[float, int]:
    """Return the mean F1 over words, and the number of pages: those of which a block holds some of
    the truth."""
    scores = []
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError:
            continue
        own, truth = [words_of(block.text) for block in page.blocks], words_of(labelled.truth_text)
        words = np.array([len(each) for each in own], np.int64)
        matched = matched_shares(own, truth) * words
        if ((matched >= 0.5 * words) & (words > 0)).any():
            main = labeler.label([page])[0].main
            scores.append(2 * matched[main].sum() / max(1, int(words[main].sum()) + len(truth)))
    return float(np.mean(scores)) if scores else 0.0, len(scores)


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, print a line a labeler, and return the exit code: 0, or 2 where the
    user has to change something."""
    parser = argparse.ArgumentParser(prog="python -m dripper.train.held_out", description="Score untrained labelers.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--labelers", nargs="+", default=["trafilatura"], help="names (default: trafilatura)")
    parser.add_argument("--sample", type=int, default=None, help="only so many pages of each set (default: all)")
    options = parser.parse_args(arguments)
    sets = names_with(Role.TRAIN_SHIPS)
    try:
        for name in options.labelers:
            pages = (page for each in sets for page in read_pages(options.data, each, sample=options.sample))
            f1, n = mean_f1(load(name), pages)
            sys.stdout.write(f"{name}: F1 over words {f1:.4f}, {n} pages of {', '.join(sets)}\n")
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
