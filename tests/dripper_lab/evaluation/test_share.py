"""Shares of a set on a cluster: together every page once, and the same scores as a run on one
machine."""

import json
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.evaluation.results import read_scores
from dripper_lab.evaluation.run import RunSettings, run_evaluation, scoring_of
from dripper_lab.evaluation.share import Share, keep_lines, metric_rows, share_lines, shares
from dripper_lab.evaluation.sources import PageSource
from support.small_set import broken, fake, half, perfect, write_set

EXTRACTORS = [fake("trafilatura", half), fake("goose3", perfect), fake("broken", broken)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_set(folder, "cleaneval-en", range(30))
    return folder


def settings(data: Path, folder: Path) -> RunSettings:
    return RunSettings(PageSource(data), folder, ["cleaneval-en"], EXTRACTORS)


def test_every_page_is_in_one_share(data: Path, tmp_path: Path) -> None:
    made = shares(settings(data, tmp_path))
    assert [(one.data_set, one.number, one.of) for one in made] == [("cleaneval-en", 0, 2), ("cleaneval-en", 1, 2)]
    for number in range(200):
        assert sum(one.holds(str(number)) for one in made) == 1


def test_shares_of_a_missing_set_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no data set 'dragnet'"):
        shares(RunSettings(PageSource(tmp_path), tmp_path, ["dragnet"], EXTRACTORS))


def test_joined_they_are_a_run_on_one_machine(data: Path, tmp_path: Path) -> None:
    here, there = settings(data, tmp_path / "here"), settings(data, tmp_path / "there")
    run_evaluation(here)
    lines = [line for share in shares(there) for line in share_lines(there, share)]
    keep_lines(there, lines)
    ours, theirs = (read_scores([scoring_of(one, "cleaneval-en")]) for one in (here, there))
    columns = ["id", "extractor", "rouge5_words_f1", "error_code", "host", "complexity"]
    order = ["id", "extractor"]
    assert ours[columns].sort_values(order).to_dict("list") == theirs[columns].sort_values(order).to_dict("list")


def test_rows_of_the_table_are_page_by_extractor_by_metric(data: Path, tmp_path: Path) -> None:
    chosen = settings(data, tmp_path)
    line = next(share_lines(chosen, Share("cleaneval-en", 0, 2)))
    score = json.loads(line)["score"]
    rows = list(metric_rows(chosen, line))
    assert len(rows) == sum(len(values) for values in score["scores"].values())
    assert len({(row[6], row[-2]) for row in rows}) == len(rows)
    assert {row[:2] for row in rows} == {("cleaneval-en", score["id"])}
    failed = [row for row in rows if row[6] == "broken"]
    assert {row[9] for row in failed} == {"internal"}
    assert {row[-1] for row in failed if row[-2].endswith("_f1")} == {0.0}
