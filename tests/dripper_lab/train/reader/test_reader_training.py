"""The reader's adapters learn from the committed pages, and the labeler reads what was saved."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dripper.html import Page
from dripper.labels import Labels, load
from dripper_lab.train.reader.__main__ import main
from dripper_lab.train.reader.examples import Example, draw_windows, read_examples
from dripper_labelers.reader.adapters import FILE, Adapters
from dripper_labelers.reader.base import read_base
from dripper_labelers.reader.windows import WindowMaker
from support.labelled import FOLDER, labelled_pages
from support.tiny_base import LAYERS, WIDTH, write_base
from support.tiny_encoder import WHY_NOT

pytest.importorskip("tokenizers", reason="needs the extra [lm]")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "e5.bin"
    write_base(path)
    return path


@pytest.fixture(scope="module")
def maker(base: Path) -> WindowMaker:
    return WindowMaker(read_base(base))


@pytest.fixture(scope="module")
def examples(maker: WindowMaker) -> list[Example]:
    return list(read_examples(labelled_pages(), maker, load("cpu")))


def test_pages_in_doubt_teach_what_is_in_doubt_most(examples: list[Example]) -> None:
    assert examples
    for example in examples:
        blocks = list(range(len(example.ids)))
        targets, weights = example.targets(blocks), example.weights(blocks)
        assert ((targets >= 0) & (targets <= 1)).all()
        assert (weights[example.unsure] == 1).all()
        assert (weights[example.truth.words == 0] == 0).all()


class SureLabeler:
    """Has no doubt of any block."""

    name, version = "sure", "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        return [Labels(np.ones(len(page.blocks), bool), np.ones(len(page.blocks), np.float32)) for page in pages]


def test_pages_without_doubt_teach_nothing(maker: WindowMaker) -> None:
    assert list(read_examples(labelled_pages(), maker, SureLabeler())) == []


def test_windows_differ_from_draw_to_draw_and_show_a_doubt(examples: list[Example], maker: WindowMaker) -> None:
    draw = np.random.default_rng(0)
    example = max(examples, key=lambda example: int(example.unsure.sum()))
    drawn = [window for _ in range(20) for window in draw_windows(example, maker, 3, draw)]
    assert len({tuple(window.blocks) for _, window in drawn}) > 6
    for _, window in drawn:
        assert example.unsure[window.blocks].any()
        assert len(window.chunk.ids) <= maker.room + 1


def test_it_learns_and_what_it_writes_can_be_loaded(base: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    flags = f"--base {base} --data {FOLDER} --sets wcxb-dev --folds 4 --rank 4 --epochs 2 --output {tmp_path / 'out'}"
    assert main(flags.split()) == 0
    adapters = Adapters.load(tmp_path / "out" / FILE)
    assert adapters.head.shape == (1, WIDTH)
    assert len(adapters.outer) == LAYERS * 6
    assert max(float(np.abs(outer).max()) for outer in adapters.outer.values()) > 0
    assert np.abs(adapters.head).max() > 0
    scores = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert scores["recipe"]["rank"] == 4
    assert 0 <= scores["f1"] <= 1


def test_a_missing_set_is_one_sentence(base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    flags = f"--base {base} --data {tmp_path} --sets wcxb-dev --output {tmp_path / 'out'}"
    assert main(flags.split()) == 2
    assert "wcxb-dev" in caplog.text
