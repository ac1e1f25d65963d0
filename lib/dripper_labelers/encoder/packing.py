"""Packs several chunks into one row of a transformers model, without padding. Each token attends
only to its own chunk, and its position is counted within the chunk.

Attention is the only operation that combines tokens, so only attention runs chunk by chunk. All
other operations run over the whole row. Sliding windows, which most layers of ModernBERT use, end
at chunk boundaries.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

ATTENTION = "dripper_segments"
"""The name of this module's attention function in transformers."""
_CLOSE = {"float32": 1e-3}
"""The maximum difference between the logits of packed and separate chunks, as a fraction of the
range of logits of separate chunks."""
_CLOSE_ELSE = 0.1
"""The maximum difference for other data types."""

_lengths: ContextVar[Sequence[int]] = ContextVar("lengths")


@contextmanager
def segments(lengths: Sequence[int]) -> Iterator[None]:
    """Set the chunk lengths, in tokens, of the row that the model reads inside this context."""
    token = _lengths.set(lengths)
    try:
        yield
    finally:
        _lengths.reset(token)


def place_tokens(lengths: Sequence[int], first: int) -> Any:
    """Return the position of each token within its chunk, (1, tokens). Each chunk starts at
    position `first`."""
    import torch

    return torch.cat([torch.arange(first, first + length) for length in lengths])[None]


def prepare_model(model: Any, first: int) -> bool:
    """Enable a model to read packed chunks. Return False, and leave the model unchanged, if its
    architecture does not support this. As a test, the logits of two packed chunks are compared with
    the logits of separate chunks.

    Args:
        model: The model, with its final precision and device.
        first: The position of a chunk's first token.
    """
    import torch
    from transformers import AttentionInterface

    if "position_ids" not in inspect.signature(model.forward).parameters:
        return False
    before = model.config._attn_implementation
    probes = [torch.arange(5, 5 + length, device=model.device) % model.config.vocab_size for length in (7, 12)]
    AttentionInterface.register(ATTENTION, _attend)
    with torch.inference_mode():
        expected = torch.cat([model(input_ids=ids[None]).logits[0] for ids in probes]).float()
        try:
            model.set_attn_implementation(ATTENTION)
            if model.config._attn_implementation != ATTENTION:  # transformers only logs this failure.
                return False
            lengths = [len(ids) for ids in probes]
            places = place_tokens(lengths, first).to(model.device)
            with segments(lengths):
                logits = model(input_ids=torch.cat(probes)[None], position_ids=places).logits[0].float()
        except (LookupError, RuntimeError, TypeError, ValueError):  # Raised by other architectures.
            model.set_attn_implementation(before)
            return False
    close = _CLOSE.get(str(model.dtype).removeprefix("torch."), _CLOSE_ELSE)
    if (logits - expected).abs().max() > close * (expected.max() - expected.min()):
        model.set_attn_implementation(before)
        return False
    return True


def _attend(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[Any, None]:
    """Attend within chunks (an attention function for transformers). `query`, `key` and `value`
    have the shape (1, heads, tokens, size). The result has the shape (1, tokens, heads, size)."""
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    lengths = list(_lengths.get((query.shape[2],)))
    options |= {"is_causal": False}
    parts = [
        sdpa_attention_forward(module, q, k, v, _make_band(q, sliding_window), **options)[0]
        for q, k, v in zip(*(states.split(lengths, dim=2) for states in (query, key, value)), strict=True)
    ]
    return torch.cat(parts, dim=1), None


def _make_band(query: Any, window: int | None) -> Any:
    """Return a mask of the token pairs in a chunk that attend to each other. None means all
    pairs."""
    import torch

    length = query.shape[2]
    if window is None or window >= length:
        return None
    places = torch.arange(length, device=query.device)
    return ((places[:, None] - places[None, :]).abs() < window)[None, None]
