"""Computes precision, recall and F1 of the `main` label over blocks, as in the Dripper paper's
Table 9:

    python -m dripper_lab.evaluation.blocks --data DATA --labelers cpu;web2text --sample 30
    python -m dripper_lab.evaluation.blocks --webmainbench FILE

All pages have the same weight, and so have all blocks within a page. The true label of a block is
found by matching its words, in order, with the page's true text; the paper uses labels of a large
language model.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from dripper import labels
from dripper.errors import MachineError, PageError, UsageError
from dripper.eval import Score
from dripper.html import preprocess
from dripper.labels.align import labels_from_text
from dripper_lab.datasets import LabelledPage, Role, names_with
from dripper_lab.evaluation.benchmarks.webmainbench import DATA_SET
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import decode_page
from dripper_lab.metrics.overlap import block_scores


def score_blocks(pages: Iterable[LabelledPage], labelers: Mapping[str, labels.Labeler]) -> Mapping[str, list[Score]]:
    """Return labeler → scores of the pages that have blocks and main content."""
    scores: dict[str, list[Score]] = {name: [] for name in labelers}
    for page in pages:
        try:
            split = preprocess(decode_page(page))
        except PageError:
            continue
        true = labels_from_text([block.text for block in split.blocks], page.truth_text)
        if not true.any():
            continue
        for name, labeler in labelers.items():
            (predicted,) = labeler.label([split])
            scores[name].append(block_scores(predicted.main, true))
    return scores


def table(scores: Mapping[str, Sequence[Score]]) -> str:
    """Return means over pages as Markdown. The F1 column is the mean of the pages' F1, not the F1
    of mean precision and recall."""
    lines = ["| labeler | pages | block precision | recall | F1 |", "|---|---|---|---|---|"]
    for name, pages in scores.items():
        precision, recall, f1 = (
            np.mean([getattr(page, part) for page in pages]) for part in ("precision", "recall", "f1")
        )
        lines.append(f"| {name} | {len(pages)} | {precision:.3f} | {recall:.3f} | {f1:.3f} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Print the table. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation.blocks", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(), help="folder with the archives of the data sets")
    parser.add_argument("--webmainbench", type=Path, metavar="FILE", help="the WebMainBench file, in place of DATA")
    parser.add_argument("--labelers", default="cpu;web2text;trafilatura", help="with semicolons (default %(default)s)")
    parser.add_argument("--sample", type=int, default=30, help="pages a set (default %(default)s)")
    options = parser.parse_args(arguments)
    try:
        source = PageSource(options.data, options.sample, None, options.webmainbench)
        sets = [DATA_SET] if options.webmainbench else names_with(Role.EVALUATION, folder=options.data)
        labelers = {name: labels.load(name) for name in options.labelers.split(";")}
        scores = score_blocks(_pages(source, sets), labelers)
        if not any(scores.values()):
            raise UsageError(f"no labelled pages in {options.webmainbench or options.data}")
    except (UsageError, MachineError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{', '.join(sets)}: at most {options.sample} pages a set\n\n{table(scores)}")
    return 0


def _pages(source: PageSource, sets: Sequence[str]) -> Iterator[LabelledPage]:
    for name in sets:
        yield from source.pages(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
