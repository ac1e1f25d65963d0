"""The reliability plot."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra [train]")

from dripper.train.picture import draw_reliability

ROWS = [(0.05, 0.04, 900), (0.5, 0.45, 40), (0.95, 0.97, 700)]


def test_the_same_figures_give_the_same_picture_and_others_another(tmp_path: Path) -> None:
    confidence = np.linspace(0.3, 1.0, 45)
    drawn = []
    for number, rows in enumerate((ROWS, ROWS, [(0.05, 0.9, 900), *ROWS[1:]])):
        path = tmp_path / f"{number}.png"
        draw_reliability(rows, confidence, confidence**2, path)
        drawn.append(path.read_bytes())
    assert drawn[0].startswith(b"\x89PNG")
    assert drawn[0] == drawn[1] != drawn[2]


def test_few_pages_are_enough(tmp_path: Path) -> None:
    draw_reliability(ROWS[:1], np.array([0.5]), np.array([1.0]), tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000
