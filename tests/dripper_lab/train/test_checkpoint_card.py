"""The files that a training writes next to its checkpoint."""

import json
from pathlib import Path

import numpy as np
import pytest

from dripper_lab.train.checkpoint_card import Training, model_card, save_scores
from dripper_lab.train.validate import choose_threshold
from dripper_lab.truth import read_truths
from support.labelled import labelled_pages

TRUTHS = [truth for _, truth in read_truths(labelled_pages())]


@pytest.fixture
def training() -> Training:
    learned, held = TRUTHS[:7], TRUTHS[7:]
    probabilities = [np.where(truth.main, 0.4, 0.1) for truth in held]
    choice = choose_threshold(held, probabilities, (0.3, 0.5))
    return Training("encoder", "some/model", {"layers": 6}, learned, held, probabilities, choice, 90.0)


def test_the_card_says_what_was_learned_and_how_good_it_is(training: Training) -> None:
    card = model_card(training)
    assert "python -m dripper_lab.train.encoder --base some/model --data DIR --output DIR` in 2 CPU" in card
    assert "| wcxb-dev | CC-BY-4.0 | 7 | 4 |" in card
    ceiling = np.mean([truth.f1(truth.main) for truth in training.held_out])
    assert f"**{ceiling:.4f}** (ceiling {ceiling:.4f}; with a threshold of one half 0.0000)" in card
    assert "main above 0.3, the threshold" in card


def test_kinds_have_their_own_rows(training: Training) -> None:
    card = model_card(training)
    for kind in {truth.kind for truth in training.held_out}:
        scores = [truth.f1(truth.main) for truth in training.held_out if truth.kind == kind]
        assert f"| {kind} | {len(scores)} | {np.mean(scores):.4f} |" in card


def test_both_files_are_beside_the_checkpoint(training: Training, tmp_path: Path) -> None:
    save_scores(training, tmp_path)
    told = json.loads((tmp_path / "scores.json").read_text())
    assert (told["pages"], told["held_out_pages"], told["threshold"]) == (7, 4, 0.3)
    assert told["held_out_f1"] > told["held_out_f1_at_half"] == 0
    assert (tmp_path / "README.md").read_text() == model_card(training)
