"""Scores of labelers that nobody trained."""

from pathlib import Path

import pytest

from dripper.datasets import LabelledPage
from dripper.labels import load
from dripper.train.held_out import main, mean_f1
from support.labelled import labelled_pages


def labelled(html: str, truth: str) -> LabelledPage:
    return LabelledPage("1", "set", None, html.encode(), None, truth)


def test_every_block_has_all_of_the_truth_and_more() -> None:
    page = labelled("<p>one two three four<p>menu", "one two three four")
    assert mean_f1(load("all"), [page, labelled("<p>x", "elsewhere"), labelled("", "nothing")]) == (
        pytest.approx(8 / 9),
        1,
    )


def test_on_real_pages_a_labeler_is_better_than_every_block() -> None:
    scores = [mean_f1(load(name), labelled_pages()) for name in ("cpu", "all")]
    assert scores[0][0] > scores[1][0] > 0.3
    assert scores[0][1] == len(labelled_pages())


def test_a_folder_without_data_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    assert "no data set" in capsys.readouterr().err
