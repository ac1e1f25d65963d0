"""Scores of untrained labelers."""

from pathlib import Path

import pytest

from dripper.labels import load
from dripper_lab.datasets import LabelledPage
from dripper_lab.train.held_out import f1_of_pages, main
from support.labelled import labelled_pages


def labelled(html: str, truth: str) -> LabelledPage:
    return LabelledPage("1", "set", None, html.encode(), None, truth)


def test_every_block_has_all_of_the_truth_and_more() -> None:
    page = labelled("<p>one two three four<p>menu", "one two three four")
    pages = [page, labelled("<p>x", "elsewhere"), labelled("", "nothing")]
    assert f1_of_pages([load("all")], pages) == [[pytest.approx(8 / 9)]]


def test_on_real_pages_a_labeler_is_better_than_every_block() -> None:
    cpu, every_block = f1_of_pages([load("cpu"), load("all")], labelled_pages())
    assert sum(cpu) > sum(every_block) > 0.3 * len(labelled_pages())
    assert len(cpu) == len(every_block) == len(labelled_pages())


def test_a_folder_without_data_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    assert "no data set" in capsys.readouterr().err
