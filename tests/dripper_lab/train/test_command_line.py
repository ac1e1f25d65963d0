"""Flags of the commands that train."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dripper_lab.datasets import Role, names_with
from dripper_lab.train.command_line import parse_training, training_parser
from dripper_lab.train.cpu import main as train_cpu
from dripper_lab.train.encoder.__main__ import main as train_encoder
from dripper_lab.train.neuscraper.__main__ import main as train_neuscraper

WHERE = ("--data", "data", "--output", "out")


@pytest.mark.parametrize("flag", [("--folds", "1"), ("--sample", "0"), ("--sample", "-1"), ("--sample", "many")])
def test_numbers_that_make_no_sense_are_named(flag: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        training_parser("cpu", "weights", 5).parse_args([*WHERE, *flag])
    assert f"argument {flag[0]}: '{flag[1]}' is not a whole number of at least" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("train", "flags"),
    [
        (train_cpu, ("--epochs", "0")),
        (train_encoder, ("--base", "b", "--block-tokens", "-1")),
        (train_encoder, ("--base", "b", "--batch-chunks", "0")),
        (train_neuscraper, ("--base", "b", "--node-tokens", "2")),
    ],
)
def test_so_are_those_of_one_command(
    train: Callable[[Sequence[str]], int], flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        train([*WHERE, *flags])
    assert f"argument {flags[-2]}: '{flags[-1]}' is not a whole number of at least" in capsys.readouterr().err


def test_sets_are_those_named_or_all_that_are_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    where = ["--data", str(tmp_path), "--output", "out"]

    def choose(*flags: str) -> object:
        return parse_training(training_parser("lm", "checkpoints", 5), [*where, *flags]).sets

    ships = names_with(Role.TRAIN_SHIPS)
    assert choose() == ships, "so that what is missing is named"
    (tmp_path / "web-kinds").mkdir()
    (tmp_path / "web-kinds" / "truth.jsonl").touch()
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert choose() == ["web-kinds"]
    assert f"trained without {', '.join(name for name in ships if name != 'web-kinds')}, which" in caplog.text
    assert choose("--sets", "fundus") == ["fundus"]


def test_a_training_may_want_some_sets_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("web-kinds", "web-kinds-2", "fundus"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "truth.jsonl").touch()
    where, useful = ["--data", str(tmp_path), "--output", "out"], ("web-kinds", "web-kinds-more", "web-kinds-2")
    with caplog.at_level(logging.WARNING):
        assert parse_training(training_parser("reader", "", 5), where, useful).sets == ["web-kinds", "web-kinds-2"]
    assert "trained without web-kinds-more, which" in caplog.text
    assert parse_training(training_parser("reader", "", 5), [*where, "--sets", "fundus"], useful).sets == ["fundus"]
