"""A tiny random Hunyuan, the architecture of MinerU-HTML v1.1, which vLLM runs with the code of
transformers: all decoders give the labels that transformers itself gives."""

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.labeler import LmLabeler

pytestmark = pytest.mark.vllm

LONG = 1100
"""Tokens; most of the pages have more."""


@pytest.fixture(scope="module")
def hunyuan(tiny: Callable[[str], Path]) -> Path:
    return tiny("hunyuan")


def label(model: Path, pages: Sequence[SimplifiedPage], **options: object) -> tuple[list[Labels], PageEncoder]:
    made = load("lm", model=str(model), dtype="float32", answer="tagged", **options)
    assert isinstance(made, LmLabeler)
    try:
        return made.label_simplified(pages), made.encoder
    finally:
        made.close()
        gc.collect()


@pytest.fixture(scope="module")
def some(simplified: list[SimplifiedPage]) -> list[SimplifiedPage]:
    return simplified[:4]


@pytest.fixture(scope="module")
def parallel(hunyuan: Path, some: list[SimplifiedPage]) -> tuple[list[Labels], PageEncoder]:
    return label(hunyuan, some, decoder="parallel", context_tokens=16_384)


REFERENCE = """
import json, sys
import torch, transformers
asked = json.load(sys.stdin)
model = transformers.AutoModelForCausalLM.from_pretrained(asked["model"]).float().eval()
told = []
with torch.inference_mode():
    for ids, places in asked["inputs"]:
        at = model(torch.tensor([ids])).logits[0, places]
        told.append((at[:, asked["main"]] - at[:, asked["other"]]).tolist())
print(json.dumps(told))
"""
"""In a separate process, because vLLM changes the classes of transformers in its process."""


def margins_of_transformers(
    model: Path, encoder: PageEncoder, pages: Sequence[SimplifiedPage], labels: Sequence[Labels]
) -> list[Any]:
    """Logit of main minus logit of other at each label of the answers."""
    inputs = []
    for page, one in zip(pages, labels, strict=True):
        (window,) = encoder.windows(page)
        job, template = encoder.job(window), encoder.templates.of(page.n_blocks)
        ids = [*job.prompt_ids, *template.fill(encoder.templates.labels(one.main))]
        inputs.append((ids, [len(job.prompt_ids) - 1 + int(hole) for hole in template.holes]))
    main, other = int(encoder.templates.main), int(encoder.templates.other)
    asked = {"model": str(model), "inputs": inputs, "main": main, "other": other}
    told = subprocess.run(
        [sys.executable, "-c", REFERENCE], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return [np.array(margins) for margins in json.loads(told.stdout)]


def test_labels_are_those_of_transformers(
    hunyuan: Path, some: list[SimplifiedPage], parallel: tuple[list[Labels], PageEncoder]
) -> None:
    """If every label of an answer is the better one after the labels before it, all are the greedy
    ones."""
    labels, encoder = parallel
    assert 0.1 < np.concatenate([one.main for one in labels]).mean() < 0.9
    for margins, one in zip(margins_of_transformers(hunyuan, encoder, some, labels), labels, strict=True):
        assert np.array_equal(margins > 0, one.main)
        probability = 1 / (1 + np.exp(-margins))
        assert np.abs(probability - one.probability).max() < 1e-4


def test_both_decoders_give_the_same_labels(
    hunyuan: Path, some: list[SimplifiedPage], parallel: tuple[list[Labels], PageEncoder]
) -> None:
    labels, _ = label(hunyuan, some, decoder="fsm", context_tokens=16_384)
    for one, two in zip(labels, parallel[0], strict=True):
        assert np.array_equal(one.main, two.main)


def test_windows_are_what_the_model_reads_and_the_memory_holds(
    hunyuan: Path, simplified: list[SimplifiedPage], tmp_path: Path
) -> None:
    """With the name of the public checkpoint, 262,144 tokens, which fit into 1 GiB for a model this
    small."""
    named = tmp_path / "MinerU-HTML-v1.1-hunyuan"
    named.symlink_to(hunyuan)
    longest = simplified[-1]
    long = SimplifiedPage(
        longest.simplified_html.replace(" _item_id", f' title="{"word " * 40_000}" _item_id', 1), longest.n_blocks
    )
    _, encoder = label(named, simplified[:1], decoder="parallel", prompt="own", chat="once")
    assert encoder.context == 262_144
    assert 40_000 < encoder.count_tokens(long.simplified_html) < 262_144
    assert len(encoder.windows(long)) == 1
    _, encoder = label(named, simplified[:1], decoder="parallel", prompt="own", chat="once", context_tokens=LONG)
    assert len(encoder.windows(long)) > 1
