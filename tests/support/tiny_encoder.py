"""Tiny random encoders with tokenizers learned from the committed pages, made on the spot."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.labels.base import SimplifiedPage
from dripper_labelers.encoder.reading import PULPIE_SEPARATOR, Reading
from dripper_labelers.encoder.sequence import MARKERS
from support.labelled import pages

WHY_NOT = "needs PyTorch: make test-vllm installs it"
CONTEXT = 128
# Weights this large make random logits differ from block to block.
SPREAD = 0.4


def simplified() -> list[SimplifiedPage]:
    """Return the committed pages as the stage `label` gets them."""
    return [SimplifiedPage.of(page) for page in pages()]


def make_tokenizer(folder: Path, form: str = "html", **specials: str) -> Any:
    """Write a tokenizer of some 2,000 tokens into a folder and return it."""
    transformers = pytest.importorskip("transformers", reason="needs the extra [lm]")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    named = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"} | specials
    added = [PULPIE_SEPARATOR, *(MARKERS if form == "outline" else ())]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=[*named.values(), *added],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator((page.simplified_html for page in simplified()[:3]), trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, **named, additional_special_tokens=added)
    tokenizer.save_pretrained(folder)
    return tokenizer


SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}


def make_model(architecture: str, vocabulary: int, **changes: Any) -> Any:
    """Return a random model of two layers for token classification: bert, modernbert or
    eurobert."""
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    import transformers as t

    torch.manual_seed(0)
    said = {**SHAPE, "vocab_size": vocabulary, "max_position_embeddings": CONTEXT, "num_labels": 2, "pad_token_id": 0}
    said |= {"initializer_range": SPREAD, "bos_token_id": 1, "eos_token_id": 2} | changes
    if architecture == "bert":
        return t.BertForTokenClassification(t.BertConfig(**said))
    if architecture == "modernbert":
        more = {"cls_token_id": 1, "sep_token_id": 2, "initializer_cutoff_factor": 3.0, "local_attention": 32}
        return t.ModernBertForTokenClassification(t.ModernBertConfig(**said, **more))
    said = {"num_key_value_heads": 2, "head_dim": said["hidden_size"] // 2} | said
    return t.EuroBertForTokenClassification(t.EuroBertConfig(**said))


def make_encoder(folder: Path, architecture: str = "bert", form: str = "html", **changes: Any) -> Path:
    """Write a checkpoint, and its description if it does not read pages like Pulpie."""
    pytest.importorskip("torch", reason=WHY_NOT)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(folder, form)
    make_model(architecture, len(tokenizer), **changes).save_pretrained(folder)
    if form == "outline":
        Reading(form="outline", block_tokens=12, context_tokens=CONTEXT, overlap_blocks=2).save(folder)
    balance(folder)
    return folder


def rename_weights(folder: Path, target: Path, names: dict[str, str]) -> Path:
    """Copy a checkpoint with other names of its weights; an empty name drops one."""
    from safetensors.torch import load_file, save_file

    target.mkdir()
    for file in folder.iterdir():
        if file.suffix != ".safetensors":
            (target / file.name).write_bytes(file.read_bytes())
    weights = load_file(folder / "model.safetensors")
    save_file(
        {names.get(key, key): value for key, value in weights.items() if names.get(key, key)},
        target / "model.safetensors",
        {"format": "pt"},
    )
    return target


def balance(folder: Path) -> None:
    """Shift the last layer so that half of a page's blocks are main."""
    import torch

    from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
    from dripper_labelers.encoder.network import EncoderNetwork, load_model
    from dripper_labelers.encoder.settings import EncoderSettings

    settings = EncoderSettings(model=str(folder), device="cpu")
    checkpoint = EncoderCheckpoint.find(settings)
    network = EncoderNetwork.load(checkpoint, settings)
    chunks = checkpoint.sequencer().chunks(simplified()[0], 0)
    said = np.concatenate([network.margins([chunk])[0] for chunk in chunks])
    model = load_model(checkpoint, torch.float32)
    with torch.no_grad():
        model.classifier.bias[-1] -= float(np.median(said))
    model.save_pretrained(folder)
