"""Scores of the switch on held-out pages."""

import math
from dataclasses import replace

import numpy as np
import pytest

from support.made_examples import made_example

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper.labels.cpu.entry import Conventions
from dripper.labels.cpu.network import Shape
from dripper_lab.train.folds import fit
from dripper_lab.train.recipe import Recipe
from dripper_lab.train.switch_scores import SETTINGS, switch_scores
from dripper_lab.train.validate import Calibration

RECIPE = Recipe(width=6, pool_width=2, shape=Shape((1,), (0,)), epochs=1, batch_blocks=300)
PLAIN = Calibration(1.0, 0.0, 0.0)


def test_every_setting_is_scored_on_the_pages_that_can_tell() -> None:
    blocks = np.arange(30)
    examples = [replace(made_example(number), page_type="forum" if number else "") for number in range(3)]
    examples[0] = replace(
        examples[0], title=blocks == 0, variants={"commented": (replace(made_example(9), comments=blocks > 20),)}
    )
    network = fit(examples, RECIPE)
    everything = replace(network, matrices={**network.matrices, "output_bias": network.matrices["output_bias"] + 30})
    nothing_to_find = np.array([-30.0, -30.0])
    blind = replace(everything, matrices={**everything.matrices, "switch_bias": nothing_to_find})
    scores = switch_scores(examples, [blind], PLAIN)
    assert [score.conventions for score in scores] == list(SETTINGS)
    assert scores[0].conventions == Conventions()
    for score in scores:
        assert score.made_up_kept == score.titles_kept == 1
        assert math.isnan(score.plain_kept)
        assert 0 < score.f1 < 1
        assert score.forum_f1 != score.f1


def test_what_is_excluded_is_gone() -> None:
    blocks = np.arange(30)
    example = replace(made_example(0), comments=blocks > 20)
    network = fit([example], RECIPE)
    all_comments = replace(network, matrices={**network.matrices, "switch_bias": np.array([30.0, -30.0])})
    scores = {score.conventions.comments: score for score in switch_scores([example], [all_comments], PLAIN)[:3]}
    assert scores["include"].plain_kept == 1
    assert scores["exclude"].plain_kept < 1
    assert math.isnan(scores["auto"].forum_f1)
