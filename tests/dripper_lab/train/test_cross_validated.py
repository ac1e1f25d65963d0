"""The reliability plot."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra [train]")

from dripper.labels.cpu.decide import KINDS
from dripper_lab.train.cross_validated import HeldOut, draw_reliability
from dripper_lab.train.validate import Calibration, page_scores
from support.made_examples import made_example


def held_out(pages: int, sure: float = 6.0) -> HeldOut:
    examples = [made_example(number) for number in range(pages)]
    logits = [np.where(example.main, sure, -sure)[None] for example in examples]
    plain = Calibration(1.0, 0.0, 0.0)
    return HeldOut(
        examples=examples, logits=logits, kinds=np.eye(len(KINDS))[[0] * pages], calibration=plain,
        scores=page_scores(examples, logits, plain), confidence=np.linspace(0.3, 1.0, pages),
        coefficients=np.zeros(2 * len(KINDS)), empty=[], empty_kinds=np.zeros((0, len(KINDS))), empty_confidence=np.zeros(0),
    )  # fmt: skip


def test_the_same_figures_give_the_same_picture_and_others_another(tmp_path: Path) -> None:
    drawn = []
    for number, sure in enumerate((6.0, 6.0, 0.4)):
        path = tmp_path / f"{number}.png"
        draw_reliability(held_out(12, sure), path)
        drawn.append(path.read_bytes())
    assert drawn[0].startswith(b"\x89PNG")
    assert drawn[0] == drawn[1] != drawn[2]


def test_few_pages_are_enough(tmp_path: Path) -> None:
    draw_reliability(held_out(1), tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000
