"""Scores checkpoints of `dripper_lab.train.lm` on labelled pages that none of them saw, with and
without the state machine:

    python -m dripper_lab.train.lm.score OUTPUT/pages-* --data DIR [--sample 80] [--fsm]

The table also has rows for the `cpu` labeler, for labeling every block main, and for the `cpu,lm`
chain. All pages have the same weight. Without the state machine, the model writes freely, and
`parse_answer` reads it; a block without an answer is other.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from dripper.errors import PageError
from dripper.html import PROFILES, Page, to_text
from dripper.keep.cut import prune_page
from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.chain import is_sure
from dripper.labels.lm.answer import parse_answer
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.probe import FreeDecoder
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.windows import merge_windows
from dripper_lab.annotation.fine_tuning import main_blocks
from dripper_lab.annotation.sources import split_page
from dripper_lab.datasets import read_pages
from dripper_lab.metrics.overlap import block_scores
from dripper_lab.metrics.scoring import score_page

Mask = npt.NDArray[np.bool_]
DATA_SET = "web-kinds-evaluation"
BELOW = 0.7
"""The threshold of the `cpu,lm` chain, the default for chains: pages with a lower `cpu` confidence
are passed on to `lm`."""
SPARE_TOKENS = 16
"""Number of tokens by which a free answer is allowed to be longer than the longest correct
answer."""


@dataclass(frozen=True, slots=True)
class Case:
    """A page with its true labels."""

    page: Page
    main: Mask
    truth: str


@dataclass(slots=True)
class Scored:
    """The scores of one way to label the pages."""

    name: str
    blocks: list[tuple[float, ...]] = field(default_factory=list)
    """Precision, recall and F1 of each page's labels."""
    rouge: list[float] = field(default_factory=list)
    right: int = 0
    """Number of blocks with the correct label, over all pages."""
    note: str = ""

    def add(self, case: Case, main: Mask) -> None:
        """Score the labels of a page."""
        self.blocks.append(astuple(block_scores(main, case.main)))
        text = to_text(prune_page(case.page, (np.flatnonzero(main) + 1).tolist())) if main.any() else ""
        values = score_page(case.truth, {self.name: text}, ("rouge5_words",))[self.name]
        self.rouge.append(values["rouge5_words_f1"] or 0.0)
        self.right += int((main == case.main).sum())

    def row(self, n_blocks: int) -> str:
        """Return a line of the table."""
        cells = [*np.mean(self.blocks, axis=0), self.right / n_blocks, float(np.mean(self.rouge))]
        return f"| {self.name} | {' | '.join(f'{cell:.3f}' for cell in cells)} | {self.note} |"


def read_cases(data: Path, data_set: str, sample: int, profile: str) -> Iterator[Case]:
    """Yield the pages that have blocks and main content."""
    for labelled in read_pages(data, data_set, sample=sample):
        try:
            page = split_page(labelled, profile)
        except PageError:
            continue
        main, _ = main_blocks(labelled, page)
        if main.any():
            yield Case(page, main, labelled.truth_text)


def label_freely(options: Mapping[str, Any], cases: Sequence[Case]) -> tuple[list[Mask], float]:
    """Return labels decoded without the state machine, and the fraction of windows with a complete
    answer. A complete answer names every block once and nothing else."""
    settings = LmSettings.model_validate({**options, "decoder": "fsm"})
    encoder = PageEncoder.load(settings)
    decoder = FreeDecoder.start(encoder, settings)
    try:
        windows_of_case = [encoder.read(SimplifiedPage.of(case.page)) for case in cases]
        windows = [[window for window, _ in page] for page in windows_of_case]
        jobs = [job for page in windows_of_case for _, job in page]
        room = max(len(encoder.templates.of(job.n_blocks).tokens) for job in jobs) + SPARE_TOKENS
        answers = iter([parse_answer(text) for text in decoder.write(jobs, room)])
    finally:
        decoder.close()
    n_complete, masks = 0, list[Mask]()
    for cut in windows:
        parts = []
        for window in cut:
            answer, n_blocks = next(answers), window.end - window.start
            n_complete += sorted(answer) == list(range(1, n_blocks + 1))
            parts.append(np.array([answer.get(block, False) for block in range(1, n_blocks + 1)], bool))
        masks.append(merge_windows(cut, parts))
    return masks, n_complete / len(jobs)


def label_with(
    options: Mapping[str, Any], cases: Sequence[Case], decoder: str
) -> tuple[list[Labels], dict[str, float]]:
    """Return the labels of the `lm` labeler, and its counters."""
    labeler = load("lm", **options, decoder=decoder)
    assert isinstance(labeler, LmLabeler)
    try:
        return labeler.label([case.page for case in cases]), labeler.stats()
    finally:
        labeler.close()


def calibration(labels: Sequence[Labels], cases: Sequence[Case], bins: int = 10) -> float:
    """Return the expected calibration error of the probabilities. In each of `bins` bins of equal
    width, the mean probability is compared with the fraction of main blocks."""
    probabilities = np.concatenate([one.probability for one in labels]).astype(np.float64)
    true = np.concatenate([case.main for case in cases])
    at = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = [
        abs(probabilities[at == one].mean() - true[at == one].mean()) * (at == one).mean() for one in set(at.tolist())
    ]
    return float(sum(gaps))


def score(cases: Sequence[Case], checkpoints: Sequence[Path], *, fsm: bool) -> Iterator[Scored]:
    """Yield the scores of each way to label the pages.

    Args:
        fsm: Also decode with the state machine token by token, and compare with `parallel`.
    """
    cpu = load("cpu").label([case.page for case in cases])
    yield _score("all blocks", cases, [np.ones_like(case.main) for case in cases])
    yield _score("`cpu`", cases, [labels.main for labels in cpu])
    for folder in checkpoints:
        options = yaml.safe_load((folder / "labeler.yml").read_text())["labels"]["lm"] | {"model": str(folder)}
        free, complete_share = label_freely(options, cases)
        yield _score(
            f"{folder.name}, without the state machine", cases, free, f"{complete_share:.1%} of the answers whole"
        )
        labels, stats = label_with(options, cases, "parallel")
        passes = stats["passes"] / stats["windows"]
        note = f"{passes:.2f} passes a window, calibration error {calibration(labels, cases):.3f}"
        if fsm:
            slow, _ = label_with(options, cases, "fsm")
            note += f", {_differing(labels, slow)} labels other than by `fsm`"
        yield _score(folder.name, cases, [one.main for one in labels], note)
        chained = [
            first.main if is_sure(first, BELOW) or not other.main.any() else other.main
            for first, other in zip(cpu, labels, strict=True)
        ]
        share = np.mean([not is_sure(first, BELOW) for first in cpu])
        yield _score(f"`cpu,lm` with {folder.name}", cases, chained, f"{share:.1%} of the pages go on")


def _differing(first: Sequence[Labels], second: Sequence[Labels]) -> int:
    return sum(int((one.main != other.main).sum()) for one, other in zip(first, second, strict=True))


def _score(name: str, cases: Sequence[Case], masks: Sequence[Mask], note: str = "") -> Scored:
    scored = Scored(name, note=note)
    for case, main in zip(cases, masks, strict=True):
        scored.add(case, main)
    return scored


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.train.lm.score", description=__doc__)
    parser.add_argument("checkpoints", nargs="+", type=Path, help="folders that the training wrote")
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--set", default=DATA_SET, help="of pages that were not learned from (default %(default)s)")
    parser.add_argument("--sample", type=int, default=80, help="so many pages (default %(default)s)")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="dripper", help="of the blocks (%(default)s)")
    parser.add_argument("--fsm", action="store_true", help="decode with the state machine token by token, too")
    options = parser.parse_args(arguments)
    cases = list(read_cases(options.data, options.set, options.sample, options.profile))
    n_blocks = sum(len(case.main) for case in cases)
    sys.stdout.write(f"{options.set}: {len(cases)} pages, {n_blocks} blocks\n\n")
    sys.stdout.write(
        "| labeler | block precision | recall | F1 | blocks right | ROUGE-5 F1 | |\n|---|---|---|---|---|---|---|\n"
    )
    for scored in score(cases, options.checkpoints, fsm=options.fsm):
        sys.stdout.write(scored.row(n_blocks) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
