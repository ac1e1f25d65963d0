"""A small encoder learns from the committed pages, and the labeler reads the checkpoint."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dripper.labels import load
from dripper_lab.train.encoder.__main__ import DEFAULTS, main
from dripper_lab.train.encoder.examples import Example, random_chunk, read_examples
from dripper_lab.train.encoder.optimise import epoch
from dripper_labelers.encoder.sequence import Sequencer
from support.labelled import FOLDER, labelled_pages, pages
from support.tiny_encoder import CONTEXT, WHY_NOT, make_model, make_tokenizer


def test_an_example_has_tokens_and_a_label_a_block(examples: list[Example]) -> None:
    assert len(examples) == 11
    for example, page in zip(examples, pages(), strict=True):
        assert len(example.ids) == len(example.truth.words) == len(example.truth.main) == len(page.blocks)
        assert example.truth.f1(example.truth.main) > 0.8


def test_random_chunks_reach_every_block_and_fit(examples: list[Example], sequencer: Sequencer) -> None:
    draw = np.random.default_rng(0)
    example = max(examples, key=lambda example: len(example.ids))
    chunks = [random_chunk(example, sequencer, draw) for _ in range(300)]
    assert {block for chunk in chunks for block in range(chunk.start, chunk.end)} == set(range(len(example.ids)))
    assert max(len(chunk.ids) for chunk in chunks) <= CONTEXT
    assert min(len(chunk.ids) for chunk in chunks) > CONTEXT - 2 * 13, "also at the page's end"


def test_an_epoch_has_the_chunks_of_every_page(examples: list[Example], sequencer: Sequencer) -> None:
    recipe = replace(DEFAULTS, chunks_a_page=3, batch_chunks=4, balance=0.0)
    batches = list(epoch(examples, sequencer, recipe, np.random.default_rng(0)))
    drawn = [example.truth.key for batch in batches for example, _ in batch]
    assert sorted(drawn) == sorted(example.truth.key for example in examples for _ in range(3))
    assert max(map(len, batches)) == 4


def test_it_learns_and_its_checkpoint_labels(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    base = tmp_path / "base"
    base.mkdir()
    tokenizer = make_tokenizer(base, cls_token="[CLS]", sep_token="[SEP]")
    make_model("bert", len(tokenizer), initializer_range=0.02, hidden_size=64, num_hidden_layers=3).save_pretrained(
        base
    )
    flags = [
        "--base",
        str(base),
        "--data",
        str(FOLDER),
        "--sets",
        "wcxb-dev",
        "--folds",
        "4",
        "--layers",
        "2",
        "--epochs",
        "30",
    ]
    flags += ["--context-tokens", str(CONTEXT), "--block-tokens", "12", "--learning-rate", "0.002"]
    assert main([*flags, "--output", str(tmp_path / "made")]) == 0
    told = json.loads((tmp_path / "made" / "scores.json").read_text())
    assert told["pages"] + told["held_out_pages"] == 11
    assert told["held_out_f1"] >= told["held_out_f1_at_half"]
    labeler = load("encoder", model=str(tmp_path / "made"), device="cpu")
    truth = np.concatenate([example.truth.main for example in read_examples(labelled_pages(), labeler._sequencer)])  # type: ignore[attr-defined]
    said = np.concatenate([labels.main for labels in labeler.label(pages())])
    assert (said == truth).mean() > max(truth.mean(), 1 - truth.mean()) + 0.05, "better than one answer for all"


def test_what_a_person_has_to_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    assert main(["--base", str(tmp_path), "--data", str(FOLDER), "--output", str(tmp_path / "out")]) == 2
    assert "is no pretrained encoder" in caplog.text
    make_tokenizer(tmp_path, cls_token="[CLS]", sep_token="[SEP]")
    make_model("bert", 2000).save_pretrained(tmp_path)
    assert main(["--base", str(tmp_path), "--data", str(FOLDER), "--output", str(tmp_path / "out")]) == 2
    assert "has 2 layers and 128 positions: too few for 6 and 512" in caplog.text
    fits = ["--layers", "1", "--context-tokens", "64", "--output", str(tmp_path / "out")]
    assert main(["--base", str(tmp_path), "--data", str(tmp_path), *fits]) == 2
    assert "no data set" in caplog.text
