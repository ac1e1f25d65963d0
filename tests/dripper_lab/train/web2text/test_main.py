"""The training command and the paper's protocol, end to end on a few pages."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import UsageError
from support.labelled import FOLDER, pages

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper_lab.train.web2text import baselines, cleaneval
from dripper_lab.train.web2text.__main__ import main
from dripper_lab.train.web2text.examples import Example, read_examples
from dripper_lab.train.web2text.fit import LeafScore
from dripper_labelers.web2text.labeler import Web2TextLabeler
from support.labelled import labelled_pages

ARGUMENTS = ["--data", str(FOLDER), "--sets", "wcxb-dev", "--folds", "2", "--steps", "20"]


@pytest.mark.slow
def test_the_weights_label_pages_and_the_card_says_what_they_were_made_of(tmp_path: Path) -> None:
    assert main([*ARGUMENTS, "--output", str(tmp_path)]) == 0
    labeler = Web2TextLabeler.load(tmp_path / "web2text_weights.npz")
    for page, labels in zip(pages(), labeler.label(pages()), strict=True):
        assert len(labels.main) == len(page.blocks)
    card = (tmp_path / "model_card_web2text.md").read_text(encoding="utf-8")
    assert labeler.version in card
    assert re.search(r"\| wcxb-dev \| CC-BY-4.0 \| \d+ \| \d+ \|", card)
    assert re.search(r"Held out: \*\*0\.\d{4}\*\* \(\d+ pages", card)
    assert "## Limits" in card


def test_too_few_sites_are_one_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert main([*ARGUMENTS, "--sample", "1", "--output", str(tmp_path)]) == 2
    assert "1 usable pages" in caplog.text
    assert "are of too few sites to hold some of them out" in caplog.text


def test_the_split_goes_by_the_pages_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = read_examples(labelled_pages()[:1])
    numbered = [_numbered(example, number) for number in (70, 9, 100, 10, *range(200, 300))]
    train, validation, test = cleaneval.split(numbered)
    assert [page.key[1] for page in train[:3]] == ["9", "10", "70"]
    assert (len(train), len(validation), len(test)) == (55, 5, 44)
    with pytest.raises(UsageError, match="4 usable pages are too few: 60 are trained on"):
        cleaneval.score(numbered[:4], cleaneval.DEFAULTS)


def test_the_papers_second_split_is_drawn() -> None:
    (example,) = read_examples(labelled_pages()[:1])
    numbered = [_numbered(example, number) for number in range(737)]
    train, validation, test = cleaneval.split(numbered, "ours", seed=1)
    assert (len(train), len(validation), len(test)) == (531, 58, 148)
    assert {page.key for page in (*train, *validation, *test)} == {page.key for page in numbered}
    assert cleaneval.split(numbered, "ours", seed=2)[2] != test


def _numbered(example: Example, number: int) -> Example:
    return replace(example, key=("cleaneval-en", str(number)))


def test_every_leaf_counts_the_same() -> None:
    examples = list(read_examples(labelled_pages()[:2]))
    assert LeafScore.of(examples, [page.main for page in examples]) == (1, 1, 1, 1)
    everything = LeafScore.of(examples, [np.ones(len(page.main), bool) for page in examples])
    share = float(np.concatenate([page.main for page in examples]).mean())
    assert everything == pytest.approx((share, share, 1, 2 * share / (1 + share)))


def test_a_baseline_is_scored_by_the_leaves_that_its_text_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = labelled_pages()[:2]
    monkeypatch.setattr(
        baselines,
        "BASELINES",
        {"truth": lambda: lambda task: task.page.truth_text, "nothing": lambda: lambda task: "", "fails": _failing},
    )
    examples = list(read_examples(chosen, text_nodes=True))
    scores = baselines.score_baselines(baselines.label_leaves(chosen), examples)
    assert scores["truth"].f1 == scores["truth"].accuracy == 1
    assert scores["nothing"] == scores["fails"]
    assert scores["nothing"].recall == scores["nothing"].f1 == 0


def _failing() -> Callable[[object], str]:
    def fail(task: object) -> str:
        raise ValueError("no such page")

    return fail


def test_the_papers_baselines_take_some_of_an_article() -> None:
    pytest.importorskip("boilerpy3", reason="needs the extra [eval]")
    chosen = labelled_pages()[:1]
    (example,) = read_examples(chosen, text_nodes=True)
    scores = baselines.score_baselines(baselines.label_leaves(chosen), [example])
    assert set(scores) == set(baselines.PUBLISHED["ours"]) == set(baselines.PUBLISHED["original"])
    assert all(score.f1 > 0.3 for score in scores.values())
    assert len({score.f1 for score in scores.values()}) > 1
