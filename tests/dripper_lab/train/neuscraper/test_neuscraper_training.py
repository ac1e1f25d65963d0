"""A small NeuScraper learns from the committed pages, and the labeler reads the checkpoint."""

import json
from pathlib import Path

import numpy as np
import pytest

from dripper.labels import load
from dripper_lab.train.neuscraper.__main__ import main
from dripper_lab.train.neuscraper.examples import read_examples
from dripper_lab.train.neuscraper.optimise import Recipe, epoch
from dripper_labelers.neuscraper.checkpoint import Shape
from support.labelled import FOLDER, labelled_pages, pages
from support.tiny_encoder import WHY_NOT
from support.tiny_neuscraper import make_base


def test_a_node_has_the_label_of_its_block() -> None:
    for example, page in zip(read_examples(labelled_pages(), "page"), pages(), strict=True):
        assert len(example.truth.main) == len(page.blocks)
        assert example.truth.f1(example.truth.main) > 0.8
        (main,) = example.targets(1).T
        assert [example.truth.main[node.block] for node in example.nodes] == main.tolist()


def test_five_more_outputs_are_learned_from_the_markup() -> None:
    counts = np.zeros(6)
    for example in read_examples(labelled_pages(), "page"):
        targets = example.targets(6)
        counts += targets.sum(0)
        assert (targets[:, 0] == example.targets(1)[:, 0]).all()
        assert (targets[:, 1] >= targets[:, 2]).all(), "a title is a heading"
        for node, row in zip(example.nodes, targets, strict=True):
            assert bool(row[5]) == ("list" in node.inside)
    assert (counts > 0).all(), "each occurs"


def test_an_epoch_has_every_node_of_every_page_once() -> None:
    examples, shape = list(read_examples(labelled_pages(), "simplified")), Shape(context_nodes=100)
    batches = list(epoch(examples, shape, Recipe(batch_chunks=4, balance=0.0), np.random.default_rng(0)))
    drawn = sorted((page.truth.key, start) for batch in batches for page, start in batch)
    assert drawn == sorted((page.truth.key, start) for page in examples for start in range(0, len(page.nodes), 100))


def test_it_learns_and_its_checkpoint_labels(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    flags = ["--base", str(make_base(tmp_path / "base")), "--data", str(FOLDER), "--sets", "wcxb-dev", "--folds", "4"]
    flags += ["--epochs", "12", "--batch-chunks", "2"]
    assert main([*flags, "--output", str(tmp_path / "made")]) == 0
    told = json.loads((tmp_path / "made" / "scores.json").read_text())
    assert told["pages"] + told["held_out_pages"] == 11
    labeler = load("neuscraper", model=str(tmp_path / "made"))
    truth = np.concatenate([example.truth.main for example in read_examples(labelled_pages(), "page")])
    said = np.concatenate([labels.main for labels in labeler.label(pages())])
    assert (said == truth).mean() > max(truth.mean(), 1 - truth.mean()) + 0.05, "better than one answer for all"


def test_the_first_layer_learns_too_where_it_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    from safetensors.torch import load_file

    base = make_base(tmp_path / "base")
    flags = ["--base", str(base), "--data", str(FOLDER), "--sets", "wcxb-dev", "--folds", "4", "--epochs", "1"]
    for name, more in (("cold", []), ("warm", ["--warm-first-layer"])):
        assert main([*flags, *more, "--output", str(tmp_path / name)]) == 0
    before, cold, warm = (load_file(tmp_path / name / "model.safetensors") for name in ("base", "cold", "warm"))
    name = "encoder.layer.0.output.dense.weight"
    (pretrained,) = (value for key, value in before.items() if key.endswith(name))
    assert (cold[f"nodes.first_layer.{name}"] == pretrained).all()
    assert not (warm[f"nodes.first_layer.{name}"] == pretrained).all()


def test_what_a_person_has_to_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    flags = ["--data", str(tmp_path), "--output", str(tmp_path / "out")]
    assert main(["--base", str(tmp_path), *flags]) == 2
    assert "is not a pretrained model" in caplog.text
    assert main(["--base", str(make_base(tmp_path / "base")), *flags]) == 2
    assert "no data set" in caplog.text
