"""A small causal model learns from the committed pages, and the labeler lm reads the checkpoint."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dripper.labels import load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.settings import LmSettings
from dripper_lab.annotation.fine_tuning import TRAIN, main_blocks
from dripper_lab.train.lm.__main__ import main
from dripper_lab.train.lm.examples import Example, Reader, draw_windows
from dripper_lab.train.lm.score import main as score
from support.labelled import FOLDER, labelled_pages, pages

WHY_NOT = "needs torch and transformers: make test-vllm installs them"
FLAGS = (
    "--vocabulary 2000 --layers 2 --width 64 --inner 128 --heads 2 --context-tokens 400 --windows-a-page 20 "
    "--batch-windows 2 --folds 8 --learning-rate 0.003"
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("torch", "transformers", "tokenizers"):
        pytest.importorskip(package, reason=WHY_NOT)
    output = tmp_path_factory.mktemp("lm")
    flags = ["--data", str(FOLDER), "--sets", "wcxb-dev", "--output", str(output), "--sizes", "2", "100"]
    assert main([*flags, *FLAGS.split()]) == 0
    return output


def options(folder: Path) -> dict[str, Any]:
    told = yaml.safe_load((folder / "labeler.yml").read_text())
    assert told["profile"] == "dripper"
    section: dict[str, Any] = told["labels"]["lm"]
    return section


def learned(trained: Path) -> list[list[Example]]:
    import transformers

    reader = Reader(transformers.AutoTokenizer.from_pretrained(trained / "base"))
    return list(reader.read(trained / "sft" / TRAIN, 1000, 0))


def last(trained: Path) -> Path:
    return max(trained.glob("pages-*"), key=lambda folder: int(folder.name.partition("-")[2]))


def test_each_size_is_a_checkpoint_and_more_pages_teach_more(trained: Path) -> None:
    report = json.loads((trained / "training.json").read_text())
    few, many = report["sizes"]
    assert few["pages"] == 2 < many["pages"] == len(learned(trained))
    assert many["loss"] < few["loss"], "of labels of pages that were held out"
    assert many["loss"] < 4.0, "it knows that a label comes: of 2,000 tokens one has a loss of 7.6"
    assert {folder.name for folder in trained.glob("pages-*")} == {f"pages-{one['pages']}" for one in (few, many)}


def test_a_window_has_the_tokens_that_the_labeler_asks_and_expects(trained: Path) -> None:
    encoder = PageEncoder.load(LmSettings.model_validate(options(last(trained))))
    found = {tuple(window.tokens[: window.answer]): window for windows in learned(trained) for window in windows}
    met = 0
    for labelled, page in zip(labelled_pages(), pages(), strict=True):
        true, _ = main_blocks(labelled, page)
        for window in encoder.windows(SimplifiedPage.of(page)):
            job = encoder.job(window)
            if (example := found.get(tuple(job.prompt_ids))) is not None:
                labels = encoder.templates.labels(true[window.start : window.end])
                assert example.tokens[example.answer :][:-1] == encoder.templates.of(job.n_blocks).fill(labels)
                assert [example.tokens[at] for at in example.labels] == labels.tolist()
                assert len(example.block_ends) == job.n_blocks
                met += 1
    assert met == len(found) > 30


def test_a_block_s_number_is_one_token(trained: Path) -> None:
    encoder = PageEncoder.load(LmSettings.model_validate(options(last(trained))))
    assert len(encoder.templates.of(120).tokens) == 2 * 120
    assert encoder.tokenizer.encode(' _item_id="117">')[-2] == encoder.tokenizer.encode("117main")[0]
    assert encoder.tokenizer._tokenizer.decode(encoder.tokenizer.encode("Größe 漢字 <b>")) == "Größe 漢字 <b>"
    assert encoder.templates.form is FORMS["compact"]


def test_windows_are_drawn_once_each() -> None:
    made: Any = [[f"{page}-{window}" for window in range(page + 1)] for page in range(6)]
    drawn = list(draw_windows(made, 3, 0))
    assert sorted(map(len, drawn)) == [1, 2, 3, 3, 3, 3]
    assert len({window for page in drawn for window in page}) == 15
    assert drawn == list(draw_windows(made, 3, 0)) != list(draw_windows(made, 3, 1))


@pytest.mark.vllm
def test_the_labeler_reads_it_and_the_table_has_each_way(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    folder = last(trained)
    labeler = load("lm", **options(folder))
    assert isinstance(labeler, LmLabeler)
    try:
        labels = labeler.label(pages())
    finally:
        labeler.close()
    assert [len(one.main) for one in labels] == [len(page.blocks) for page in pages()]
    assert np.isfinite(np.concatenate([one.probability for one in labels])).all()
    capsys.readouterr()
    assert score([str(folder), "--data", str(FOLDER), "--set", "wcxb-dev", "--sample", "3", "--fsm"]) == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:]
    assert [row[0].strip() for row in rows] == [
        "all blocks", "`cpu`", f"{folder.name}, without the state machine", folder.name, f"`cpu,lm` with {folder.name}",
    ]  # fmt: skip
    assert float(rows[0][2]) == 1.0, "of all blocks the recall"
    assert ", 0 labels other than by `fsm`" in rows[3][6]
