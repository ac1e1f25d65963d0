"""Training in PyTorch: a step computes everything on the model's device. Here this device is
`meta`, which holds no numbers and refuses tensors of other devices."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper_lab.train.encoder.__main__ import DEFAULTS as ENCODER
from dripper_lab.train.encoder.__main__ import main as train_encoder
from dripper_lab.train.encoder.examples import random_chunk
from dripper_lab.train.encoder.examples import read_examples as read_for_encoder
from dripper_lab.train.encoder.losses import Objective
from dripper_lab.train.lm import optimise as lm
from dripper_lab.train.lm.__main__ import main as train_lm
from dripper_lab.train.lm.base import Recipe as LmRecipe
from dripper_lab.train.lm.examples import Example as LmExample
from dripper_lab.train.neuscraper.__main__ import main as train_neuscraper
from dripper_lab.train.reader.__main__ import main as train_reader
from dripper_labelers.encoder.packing import ATTENTION, _attend
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.sequence import Sequencer
from support.labelled import labelled_pages
from support.tiny_encoder import CONTEXT, WHY_NOT, make_model, make_tokenizer

pytest.importorskip("torch", reason=WHY_NOT)


@pytest.fixture(autouse=True)
def _no_gpu_and_any_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.autocast", lambda *_, **__: nullcontext())


@pytest.mark.parametrize("train", [train_encoder, train_lm, train_neuscraper, train_reader])
def test_a_gpu_that_is_not_there_is_one_sentence(
    train: Callable[[Sequence[str]], int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    base = [] if train is train_lm else ["--base", str(tmp_path)]
    flags = ["--data", str(tmp_path), "--sets", "web-kinds", "--output", str(tmp_path / "out"), "--device", "cuda"]
    assert train([*base, *flags]) == 2
    assert "--device=cuda: PyTorch" in caplog.text
    assert "sees no GPU here" in caplog.text


def test_a_step_of_the_encoder(tmp_path: Path) -> None:
    from transformers import AttentionInterface

    tokenizer = make_tokenizer(tmp_path, "outline")
    sequencer = Sequencer(tokenizer, Reading(form="outline", block_tokens=12), CONTEXT)
    examples = list(read_for_encoder(labelled_pages(), sequencer))[:3]
    batch = [(example, random_chunk(example, sequencer, np.random.default_rng(0))) for example in examples]
    AttentionInterface.register(ATTENTION, _attend)
    model, teacher = (make_model("bert", len(tokenizer)).to("meta") for _ in range(2))
    for each in (model, teacher):
        each.set_attn_implementation(ATTENTION)  # Any other looks whether a mask hides anything.
    loss = Objective(ENCODER, teacher=teacher).loss(model, batch)
    assert loss.device.type == "meta"
    loss.backward()


def test_a_step_of_the_lm() -> None:
    import transformers

    library: Any = transformers
    config = library.Qwen3Config(
        vocab_size=50, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, head_dim=8, pad_token_id=1,
    )  # fmt: skip
    batch = [LmExample("1", [5, 6, 7, 8, 9], 3, [4], [1]), LmExample("2", [5, 6, 7, 8], 2, [3], [1])]
    loss = lm.loss_of(library.Qwen3ForCausalLM(config).to("meta"), batch, LmRecipe())
    assert loss.device.type == "meta"
    loss.backward()
