"""Scores the effect of the switch of conventions on pages of held-out sites."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.cpu.decide import decide
from dripper.labels.cpu.entry import Conventions
from dripper.labels.cpu.labeler import score_main
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.examples import Example
from dripper_lab.train.folds import network_of
from dripper_lab.train.validate import Calibration

SETTINGS = (
    Conventions(), Conventions(comments="exclude"), Conventions(comments="include"), Conventions(title="exclude"),
    Conventions(title="include"),
)  # fmt: skip

Flags = npt.NDArray[np.bool_]


class SwitchScore(NamedTuple):
    """The scores of one setting, as means over pages."""

    conventions: Conventions
    f1: float
    forum_f1: float
    """The F1 over words on all pages (`f1`) and on forums (`forum_f1`), compared with the unchanged
    ground truth."""
    made_up_kept: float
    plain_kept: float
    titles_kept: float
    """The fraction of words labelled main in made-up comments (`made_up_kept`), in real comments
    that the ground truth leaves out (`plain_kept`), and in titles. NaN if no page has such
    words."""


def switch_scores(
    examples: Sequence[Example], networks: Sequence[Weights | None], calibration: Calibration
) -> list[SwitchScore]:
    """Return the scores of all SETTINGS on held-out pages.

    Args:
        networks: The weights for each fold.
    """
    calibrated = [
        None if network is None else replace(network, temperature=calibration.temperature, shift=calibration.shift)
        for network in networks
    ]
    return [_score(conventions, examples, calibrated) for conventions in SETTINGS]


def _score(conventions: Conventions, examples: Sequence[Example], networks: Sequence[Weights | None]) -> SwitchScore:
    commented = [example.commented for example in examples if example.commented is not None]

    def mean(pages: Sequence[Example], score: Callable[[Example, Flags], float]) -> float:
        values = [score(page, _main(page, network_of(page, networks), conventions)) for page in pages]
        return float(np.mean(values)) if values else float("nan")

    return SwitchScore(
        conventions,
        f1=mean(examples, Example.f1),
        forum_f1=mean([example for example in examples if example.page_type == "forum"], Example.f1),
        made_up_kept=mean(commented, lambda page, main: _measure_kept_share(page, main, page.comments)),
        plain_kept=mean(
            [example for example in examples if example.comments.any()],
            lambda page, main: _measure_kept_share(page, main, page.comments),
        ),
        titles_kept=mean(
            [example for example in examples if example.title.any()],
            lambda page, main: _measure_kept_share(page, main, page.title),
        ),
    )


def _main(example: Example, network: Weights, conventions: Conventions) -> Flags:
    return decide(score_main(network, example.blocks, example.words, conventions), example.words).main


def _measure_kept_share(example: Example, main: Flags, part: Flags) -> float:
    return float(example.words[main & part].sum() / max(1, example.words[part].sum()))
