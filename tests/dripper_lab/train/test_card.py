"""The model card."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import KINDS
from dripper.labels.cpu.entry import Conventions
from dripper_lab.train.card import model_card
from dripper_lab.train.cross_validated import HeldOut
from dripper_lab.train.examples import Example
from dripper_lab.train.recipe import GOING_ON, Recipe, Shares
from dripper_lab.train.switch_scores import SwitchScore
from dripper_lab.train.validate import Calibration, page_scores
from support.made_examples import made_example


def named(number: int, data_set: str, page_type: str) -> Example:
    return replace(made_example(number), key=(data_set, str(number)), page_type=page_type)


EXAMPLES = [
    *(named(number, "wcxb-dev", "forum") for number in range(3)),
    *(named(number, "wcxb-dev", "article") for number in range(3, 8)),
    named(8, "fundus", ""),
]
LOGITS = [np.where(example.main, 6.0, -6.0)[None] for example in EXAMPLES]
EMPTY = replace(made_example(9), key=("web-kinds", "9"), truth_words=0, matched=np.zeros(30))


def held_out(logits: Sequence[FloatArray]) -> HeldOut:
    calibration = Calibration(1.5, -0.25, 1.0)
    kinds = np.eye(len(KINDS))[[KINDS.index(example.kind) for example in EXAMPLES]]
    return HeldOut(
        examples=EXAMPLES, logits=logits, kinds=kinds, calibration=calibration,
        scores=page_scores(EXAMPLES, logits, calibration), confidence=np.linspace(0.5, 0.9, 9),
        coefficients=np.zeros(2 * len(KINDS)), empty=[EMPTY], empty_kinds=np.eye(len(KINDS))[:1], empty_confidence=np.array([0.25]),
    )  # fmt: skip


def card(**changes: object) -> str:
    arguments: dict[str, object] = {
        "version": "abc123",
        "recipe": Recipe(seed=7),
        "folds": (3, 3),
        "examples": [*EXAMPLES, EMPTY],
        "held_out": held_out(LOGITS),
        "switched": [SwitchScore(Conventions("include", "auto"), 0.5, 0.25, 0.875, 0.75, 0.125)],
        "cpu_seconds": 120.0,
        "parameters": 12345,
    }
    return model_card(**{**arguments, **changes})  # type: ignore[arg-type]


def test_it_names_the_weights_and_how_they_were_made() -> None:
    text = card()
    assert "Version `abc123`" in text
    assert "12,345 parameters" in text
    assert '"seed": 7' in text
    assert '"folds": 3' in text
    assert "in 2 CPU minutes" in text
    assert "Temperature 1.5, shift -0.25" in text


def test_data_sets_stand_with_licence_and_count() -> None:
    text = card()
    assert "| wcxb-dev | CC-BY-4.0 | 8 |" in text
    assert "| fundus | MIT | 1 |" in text
    assert "the 1 pages without main\ncontent" in text


def test_scores_are_by_set_and_page_type_with_counts_and_ceiling() -> None:
    text = card()
    assert "All pages: **1.0000** (9 pages; ceiling 1.0000;" in text
    assert "| wcxb-dev forum | 3 | 1.0000 | 1.0000 |" in text
    assert "| wcxb-dev article | 5 | 1.0000 | 1.0000 |" in text
    assert "| fundus | 1 | 1.0000 | 1.0000 |" in text
    assert "| article | 6 | 1.0000 | 1.0000 |" in text
    assert "Mean over kinds of\npages: **1.0000**" in text


def test_worse_predictions_show() -> None:
    text = card(held_out=held_out([-logits for logits in LOGITS]))
    assert "All pages: **1.0000**" not in text


def test_the_switch_and_the_calibration_stand_in_figures() -> None:
    text = card()
    assert "| include | auto | 0.500 | 0.250 | 0.875 | 0.750 | 0.125 |" in text
    assert "**0.0024**" in text or "weighed by words: **0.0" in text
    assert "](reliability_cpu.png)" in text


def test_kinds_and_confidence_stand_in_figures() -> None:
    text = card()
    assert "| forum | 3 | 1.00 | 1.00 |  |" in text
    assert "| nothing | 1 | 0.00 | 0.00 | article 1 |" in text
    assert "**0.900** of the pages get their kind" in text
    assert "Of the 1 pages\nwithout main content 100% have a confidence under 0.5" in text
    assert "| forum | 3 | 1.000 | 0.550 |" in text
    assert "| 100% | 0.50 | 0.000 |" in text


def test_a_reader_of_doubtful_pages_brings_its_own_score() -> None:
    lost = [np.where(example.main, -6.0, 6.0)[None] for example in EXAMPLES[:3]]
    text = card(held_out=held_out([*lost, *LOGITS[3:]]))
    assert "| 0% |  |  | 0.667 | 0.000 | 0.000 |" in text
    assert "| 30% | 0.60 | 0.000 | 0.983 | 0.950 | 1.000 |" in text


def test_no_placeholder_is_left() -> None:
    text = card().replace("{\n", "").replace("\n}", "").replace(": {", "").replace("},", "").replace(" }", "")
    assert "{" not in text.replace('"shape": ', "")


def test_the_second_opinion_is_named() -> None:
    text = " ".join(card(recipe=Recipe(other_shares=(Shares(),) * 3, other_balances=(0.0,) * 3)).split())
    assert "under 0.85, 3 smaller networks are asked too" in text


def test_networks_of_earlier_weights_are_counted_and_named() -> None:
    text = " ".join(card(recipe=Recipe(other_shares=(Shares(),), other_balances=(0.0,)), kept=2).split())
    assert (
        "3 smaller networks are asked too, and the mean logit counts (2 of them are kept from earlier weights)" in text
    )
    assert "--folds 3 --from-scratch --keep WEIGHTS`" in text
    assert "without the 2 kept networks" in text
    assert "kept" not in card().partition("## Calibration")[0]


def test_what_goes_on_from_earlier_weights_says_so() -> None:
    text = " ".join(card(recipe=GOING_ON, folds=(2, 1), kept=2, start="e1e2e3").split())
    assert "--folds 2 --scored 1`, in" in text
    assert "1 of 2 folds by site held out" in text
    assert "that saw no page of its site, and only of sets that `e1e2e3` was not taught on." in text
    assert "The first 2 networks go on from those of the weights `e1e2e3`" in text
    assert "with a share of 0.1 of before" in text
    assert "chosen on held-out pages of the training of `e1e2e3`" in text
    assert "without the 2 kept networks" not in text
    assert "go on" not in card()


def test_the_first_stage_is_named_where_there_is_one() -> None:
    assert "with a share of 0.25 of the first" in " ".join(card(recipe=Recipe(first_share=0.25)).split())
    assert "of the first." not in card(recipe=Recipe(first_epochs=0))
