"""Computes accuracy, precision, recall and F1 over text nodes, as in the NeuScraper paper (Table 1
and A.2) for extractors that return text:

    python -m dripper_lab.evaluation.nodes --data DATA --sample 20

A node counts as chosen if the extractor's text contains the node's text, ignoring white space;
short nodes may occur by chance. All nodes of all pages have the same weight. A node is truly main
if two thirds of its words are found, in order, in the page's true text. The paper uses the labels
of ClueWeb22.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dripper.errors import MachineError, UsageError
from dripper_lab.datasets import LabelledPage, Role, names_with
from dripper_lab.evaluation.extractors.base import Contender, Task, choose, converter, extract_or_nothing
from dripper_lab.evaluation.extractors.ours import list_own_extractors
from dripper_lab.evaluation.extractors.peers import peers
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import decode_page
from dripper_lab.truth import Truth, split_pages
from dripper_labelers.web2text.leaves import Leaves

SHARE = 2 / 3
"""A node is main if at least this fraction of its words is in the ground truth."""
EXTRACTORS = (
    *("beautifulsoup", "html2text", "inscriptis", "boilerpy3", "justext", "readability-lxml", "trafilatura"),
    *("dripper-web2text", "dripper-cpu"),
)


@dataclass(slots=True)
class Counts:
    """Node counts, summed over pages."""

    both: int = 0
    """The number of nodes that are main and chosen."""
    chosen: int = 0
    main: int = 0
    nodes: int = 0

    def add(self, main: Sequence[bool], chosen: Sequence[bool]) -> None:
        """Add the nodes of a page."""
        self.both += sum(one and other for one, other in zip(main, chosen, strict=True))
        self.chosen += sum(chosen)
        self.main += sum(main)
        self.nodes += len(main)

    @property
    def accuracy(self) -> float:
        """The fraction of nodes that are both chosen and main, or neither."""
        return (self.nodes - self.chosen - self.main + 2 * self.both) / max(1, self.nodes)

    @property
    def precision(self) -> float:
        """The fraction of chosen nodes that are main."""
        return self.both / max(1, self.chosen)

    @property
    def recall(self) -> float:
        """The fraction of main nodes that are chosen."""
        return self.both / max(1, self.main)

    @property
    def f1(self) -> float:
        """The F1 of precision and recall."""
        return 2 * self.both / max(1, self.chosen + self.main)


def score_nodes(pages: Iterable[LabelledPage], extractors: Sequence[Contender]) -> Mapping[str, Counts]:
    """Return the counts of each extractor. An extractor that fails on a page chooses no node of the
    page."""
    ready = {one.name: (one.load(), one.form) for one in extractors}
    counts = {name: Counts() for name in ready}
    for labelled, page in split_pages(pages):
        nodes = Leaves.of_text_nodes(page.elements).texts
        truth = Truth.of(nodes, labelled, SHARE)
        indexes = np.flatnonzero(truth.words).tolist()
        main = [bool(truth.main[index]) for index in indexes]
        task = Task(labelled, decode_page(labelled))
        for name, (extract, form) in ready.items():
            text = " ".join(converter(form, labelled.data_set)(extract_or_nothing(extract, task)).split())
            counts[name].add(main, [nodes[index] in text for index in indexes])
    return counts


def table(counts: Mapping[str, Counts]) -> str:
    """Return the counts as Markdown."""
    lines = ["| | accuracy | precision | recall | F1 |", "|---|---|---|---|---|"]
    for name, count in counts.items():
        values = (count.accuracy, count.precision, count.recall, count.f1)
        lines.append(f"| {name} | {' | '.join(f'{100 * value:.2f}' for value in values)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Print the table. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation.nodes", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of the data sets")
    parser.add_argument("--extractors", default=",".join(EXTRACTORS), help="with commas (default %(default)s)")
    parser.add_argument("--sample", type=int, default=20, help="pages a set (default %(default)s)")
    options = parser.parse_args(arguments)
    by_name = {one.name: one for one in [*list_own_extractors(), *peers()]}
    try:
        chosen = choose(options.extractors.split(","), by_name)
        sets = names_with(Role.EVALUATION, folder=options.data)
        source = PageSource(options.data, options.sample)
        counts = score_nodes((page for name in sets for page in source.pages(name)), chosen)
        n_nodes = max((count.nodes for count in counts.values()), default=0)
        if not n_nodes:
            raise UsageError(f"no labelled pages in {options.data}")
    except (UsageError, MachineError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{', '.join(sets)}: at most {options.sample} pages a set, {n_nodes:,} nodes\n\n{table(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
