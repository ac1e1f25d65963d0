"""Chunks side by side in one row of tokens."""

from typing import Any

import numpy as np
import pytest

from dripper_labelers.encoder.packing import ATTENTION, place_tokens, prepare_model, segments
from support.tiny_encoder import WHY_NOT, make_model

torch = pytest.importorskip("torch", reason=WHY_NOT)
transformers = pytest.importorskip("transformers", reason=WHY_NOT)


def logits(model: Any, *rows: Any, first: int = 0) -> "np.ndarray[Any, Any]":
    lengths = [len(row) for row in rows]
    with torch.inference_mode(), segments(lengths):
        told = model(input_ids=torch.cat(rows)[None], position_ids=place_tokens(lengths, first)).logits[0]
    made: np.ndarray[Any, Any] = told.numpy()
    return made


@pytest.mark.parametrize("architecture", ["bert", "modernbert", "eurobert", "roberta"])
def test_each_token_sees_its_own_chunk_alone(architecture: str) -> None:
    """Also beyond the sliding window of ModernBERT: the chunks are longer than that."""
    model, first = make_any(architecture)
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randint(5, 90, (length,), generator=generator) for length in (70, 3, 41)]
    with torch.inference_mode():
        alone = [model(input_ids=row[None]).logits[0].numpy() for row in rows]
    assert prepare_model(model, first)
    assert model.config._attn_implementation == ATTENTION
    np.testing.assert_allclose(logits(model, *rows, first=first), np.concatenate(alone), atol=2e-5)
    other = logits(model, rows[0], (rows[1] + 1) % 90, rows[2], first=first)
    np.testing.assert_allclose(other[:70], alone[0], atol=2e-5)
    assert not np.allclose(other[70:73], alone[1], atol=1e-3)
    # As a whole it would be one long chunk.
    assert not np.allclose(logits(model, torch.cat(rows), first=first), np.concatenate(alone), atol=1e-3)


def make_any(architecture: str) -> tuple[Any, int]:
    if architecture != "roberta":
        return make_model(architecture, 100).eval(), 0
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.RobertaConfig(**shape, vocab_size=100, max_position_embeddings=130, initializer_range=0.4)
    return transformers.RobertaForTokenClassification(config).eval(), config.pad_token_id + 1


def test_a_model_whose_chunks_begin_elsewhere_than_is_said_does_not_pack() -> None:
    model, first = make_any("roberta")
    before = model.config._attn_implementation
    assert not prepare_model(model, first + 3)
    assert model.config._attn_implementation == before


def test_an_architecture_with_an_attention_of_its_own_does_not_pack() -> None:
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.DebertaV2Config(
        **shape, vocab_size=100, relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False
    )
    assert not prepare_model(transformers.DebertaV2ForTokenClassification(config).eval(), 0)
