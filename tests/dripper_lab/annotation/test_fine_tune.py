"""The export trains: a tiny Qwen3 learns from it on the CPU, and labels pages in the labeler lm."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.html import Page
from dripper.labels import load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.settings import LmSettings
from dripper_lab.annotate import main
from dripper_lab.annotation.fine_tuning import main_blocks
from support.labelled import FOLDER, labelled_pages, pages
from support.tiny_lm import make_checkpoint
from support.tiny_training import fine_tune, tokens_of

pytestmark = pytest.mark.vllm
CONTEXT = 1500


def simplified(page: Page) -> SimplifiedPage:
    return SimplifiedPage.of(page)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    seen = min(map(simplified, pages()), key=lambda page: len(page.simplified_html))
    return make_checkpoint(tmp_path_factory.mktemp("sft") / "tiny", [seen], sharpness=1.0)


@pytest.fixture(scope="module", params=["json", "compact"])
def exported(request: pytest.FixtureRequest, checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("conversations") / str(request.param)
    flags = ["--model", str(checkpoint), "--answer", str(request.param), "--context", str(CONTEXT), "--validation", "0"]
    assert main(["sft", str(FOLDER / "wcxb-dev"), "--out", str(out), *flags]) == 0
    return out


def settings_of(exported: Path, checkpoint: Path) -> dict[str, Any]:
    meta = json.loads((exported / "META.json").read_text())
    own = {name.removeprefix("labels.lm."): value for name, value in meta["settings"].items() if "." in name}
    return {"model": str(checkpoint), "context_tokens": CONTEXT, **own}


def conversations(exported: Path) -> list[list[dict[str, str]]]:
    return [json.loads(line)["messages"] for line in (exported / "train.jsonl").read_text().splitlines()]


def test_a_conversation_has_the_tokens_that_the_labeler_asks_and_expects(exported: Path, checkpoint: Path) -> None:
    encoder = PageEncoder.load(LmSettings.model_validate(settings_of(exported, checkpoint)))
    framed = [tokens_of(encoder.tokenizer._tokenizer, messages) for messages in conversations(exported)]
    expected = []
    for labelled, page in zip(labelled_pages(), pages(), strict=True):
        is_main, _ = main_blocks(labelled, page)
        for window in encoder.windows(simplified(page)):
            job, labels = encoder.job(window), encoder.templates.labels(is_main[window.start : window.end])
            expected.append((list(job.prompt_ids), encoder.templates.of(job.n_blocks).fill(labels)))
    assert len(framed) == len(expected) > 11
    for (tokens, answer), (prompt, said) in zip(framed, expected, strict=True):
        assert tokens[:answer] == prompt
        assert tokens[answer : answer + len(said)] == said
        assert len(tokens) <= CONTEXT


@pytest.mark.slow
@pytest.mark.parametrize("exported", ["json"], indirect=True)
def test_a_tiny_model_learns_from_it_and_labels(exported: Path, checkpoint: Path, tmp_path: Path) -> None:
    shortest = sorted(conversations(exported), key=lambda messages: len(messages[0]["content"]))[:4]
    losses = fine_tune(checkpoint, shortest, tmp_path / "tuned", epochs=40)
    assert losses[-1] < losses[0] - 1.5
    taught = {messages[0]["content"] for messages in shortest}
    made = load("lm", **settings_of(exported, tmp_path / "tuned"), dtype="float32")
    assert isinstance(made, LmLabeler)
    said, true = [], []
    try:
        for labels, labelled, page in zip(made.label(pages()), labelled_pages(), pages(), strict=True):
            is_main, _ = main_blocks(labelled, page)
            assert labels.main.shape == is_main.shape
            for window in made.encoder.windows(simplified(page)):
                if made.encoder.prompt.text(window.html) in taught:
                    said.append(labels.main[window.start : window.end])
                    true.append(is_main[window.start : window.end])
    finally:
        made.close()
    right = np.concatenate(said) == np.concatenate(true)
    assert len(said) == 4
    # Of their 31 blocks 17 are main: it has learned more than which label is the commoner one.
    assert right.mean() > 0.75
