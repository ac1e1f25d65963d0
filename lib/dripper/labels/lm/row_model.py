"""Reads rows of tokens with a transformers model. A row contains pages one after another without
padding. A page that does not fit into the rest of a row continues in the next row.

Attention is the only step that combines tokens, so only attention is replaced. Our attention stores
the keys and values of all tokens in a cache. Each token attends to its own page, up to the token
itself. Of the output matrix, only the parts for tokens that need logits (`main`, `other` and a few
more) are kept.

Rows can have any length, so there is no padding, no rounding up to a bucket, and no CUDA graph for
each length. Such graphs would gain little: launching kernels takes a few percent of a row's time
(`benchmarks/lm_torch.py` measures it).
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from dripper.errors import MachineError
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.lm.engine import CPU_CACHE_GIB, summarize
from dripper.labels.torch_device import limit_children_to_one_thread

ATTENTION = "dripper_pages"
"""The name under which this module's attention is registered in transformers."""
ROW_TOKENS: Mapping[str, int] = {"cuda": 32_768, "cpu": 4_096}
"""Maximum number of tokens in a row, keyed by device. A row of this length keeps the device busy,
but needs little memory compared with the weights and the cache."""
CLOSE: Mapping[str, float] = {"float32": 1e-3, "float16": 0.05, "bfloat16": 0.1}
"""Largest accepted error of the logits that are computed in rows, keyed by data type. The error is
the difference from the unmodified model's logits, as a fraction of their range."""
PROBES = (7, 12)
"""Lengths, in tokens, of the test pages on which the error is measured (see `CLOSE`)."""
ELSE = "labels.lm.engine=vllm may run it"


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens of one page that are read together."""

    slot: int
    """Position in the cache at which the page begins."""
    first: int
    """Position in the page of the first token in `ids`; all earlier tokens are in the cache."""
    ids: IntArray
    wanted: IntArray
    """Positions in the page, ascending, for which logits are needed."""

    def cut(self, start: int, end: int) -> "Piece":
        """Return the tokens from `start` to `end`, counted from the beginning of the piece."""
        wanted = self.wanted[(self.wanted >= self.first + start) & (self.wanted < self.first + end)]
        return Piece(self.slot, self.first + start, self.ids[start:end], wanted)


def cut_rows(pieces: Iterable[Piece], tokens: int) -> Iterator[list[Piece]]:
    """Yield the pieces, in order, in rows of `tokens` tokens; only the last row can be shorter. A
    piece that does not fit into the rest of a row continues in the next row."""
    row, room = list[Piece](), tokens
    for piece in pieces:
        start = 0
        while start < len(piece.ids):
            end = min(len(piece.ids), start + room)
            row.append(piece.cut(start, end))
            start, room = end, room - (end - start)
            if not room:
                yield row
                row, room = [], tokens
    if row:
        yield row


class PageCache:
    """Keys and values of all layers, each (heads, tokens, size), with pages one after another."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._layers: dict[int, tuple[Any, Any]] = {}

    def put(self, layer: int, key: Any, value: Any, places: Any) -> tuple[Any, Any]:
        """Store a row's keys and values, (heads, row, size), and return all keys and values of the
        layer.

        Args:
            places: (row,), the positions of the row's tokens in the cache.
        """
        if layer not in self._layers:
            self._layers[layer] = tuple(
                one.new_empty((one.shape[0], self.tokens, one.shape[2])) for one in (key, value)
            )
        for all_pages, row in zip(self._layers[layer], (key, value), strict=True):
            all_pages.index_copy_(1, places, row)
        return self._layers[layer]

    def copy(self, tokens: int, slot: int) -> None:
        """Copy the first `tokens` entries of the cache to the page that begins at `slot`."""
        import torch

        with torch.inference_mode():
            for layer in self._layers.values():
                for one in layer:
                    one[:, slot : slot + tokens] = one[:, :tokens]

    @property
    def bytes_per_token(self) -> int:
        """Memory per token, in bytes; 0 before the first row is read."""
        each = (one for layer in self._layers.values() for one in layer)
        return sum(one.shape[0] * one.shape[2] * one.element_size() for one in each)


@dataclass(frozen=True, slots=True)
class Row:
    """The data that attention needs about a row."""

    cache: PageCache
    places: Any
    """(row,), positions of the row's tokens in the cache."""
    lengths: Sequence[int]
    """Number of tokens in each piece."""
    seen: Sequence[tuple[int, int]]
    """For each piece, the range of cache positions from the beginning of its page to the end of the
    piece."""


_row: ContextVar[Row] = ContextVar("row")


def _attend(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[Any, None]:
    """Compute attention within pages. transformers calls this function. query, key, value: (1,
    heads, row, size). Returns (1, row, heads, size)."""
    import torch

    if unknown := [name for name in ("softcap", "s_aux") if options.get(name) is not None]:
        raise ValueError(f"attention with {unknown[0]}")
    row = _row.get()
    keys, values = row.cache.put(module.layer_idx, key[0], value[0], row.places)
    parts = [
        attend_causally(part, keys[None, :, start:end], values[None, :, start:end], scaling, sliding_window)
        for part, (start, end) in zip(query.split(row.lengths, dim=2), row.seen, strict=True)
    ]
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous(), None


def attend_causally(query: Any, key: Any, value: Any, scaling: float | None, window: int | None) -> Any:
    """Return the attention output of a page's last tokens, (1, heads, tokens, size).

    Args:
        query: (1, heads, tokens, size), of the last tokens.
        key, value: (1, fewer heads, page, size), of the whole page.
        window: The maximum number of tokens that a token attends to, including itself. None: all
            tokens up to itself.
    """
    import torch
    from torch.nn.attention.bias import causal_lower_right

    n_queries, n_keys = query.shape[2], key.shape[2]
    options: dict[str, Any] = {"scale": scaling, "enable_gqa": query.shape[1] != key.shape[1]}
    if window is not None and window < n_keys:
        options["attn_mask"] = _causal_mask(query.device, n_queries, n_keys, window)
    elif n_queries == n_keys:
        options["is_causal"] = True
    elif query.is_cuda and query.dtype != torch.float32:
        # PyTorch has kernels that do not build the mask, but only for masks of this form.
        options["attn_mask"] = causal_lower_right(n_queries, n_keys)
    else:
        options["attn_mask"] = _causal_mask(query.device, n_queries, n_keys, n_keys)
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, **options)


def _causal_mask(device: Any, n_queries: int, n_keys: int, window: int) -> Any:
    import torch

    before = torch.arange(n_keys - n_queries, n_keys, device=device)[:, None] - torch.arange(n_keys, device=device)
    return (before >= 0) & (before < window)


class RowModel:
    """A causal language model that reads rows."""

    def __init__(self, model: Any, device: str, row_tokens: int) -> None:
        """model: a transformers model that `take_rows` has reduced."""
        self.device = device
        self._model = model
        self._row_tokens = row_tokens
        self.cache = PageCache(0)

    @classmethod
    def load(cls, name: str, tokens: Sequence[int], device: str, dtype: str) -> "RowModel":
        """Return a checkpoint's model with logits for only the given tokens. Call `make_room`
        before reading pages.

        Raises:
            MachineError: If the model cannot be loaded, or gives different logits in rows.
        """
        import torch

        limit_children_to_one_thread()
        try:
            model = _load_model(name, getattr(torch, dtype))
            take_rows(model, tokens)
            made = cls(model.to(device).eval(), device, ROW_TOKENS[device])
            made.prepare(CLOSE[dtype])
        except Exception as error:  # Several packages can fail here, and always in ways that only users can fix.
            raise MachineError(f"PyTorch cannot run {name} on {device}: {summarize(error)}. {ELSE}") from error
        return made

    def prepare(self, close: float) -> None:
        """Replace the model's attention. Raises ValueError if the model does not support this, or
        if its logits change.

        Args:
            close: See `CLOSE`.
        """
        import torch
        from transformers import AttentionInterface

        if "position_ids" not in inspect.signature(self._model.forward).parameters:
            raise ValueError(f"{type(self._model).__name__} takes no places of tokens")
        pages = [(np.arange(5, 5 + length) * 7) % self._model.config.vocab_size for length in PROBES]
        with torch.inference_mode():
            ids = (torch.from_numpy(page)[None].to(self.device) for page in pages)
            expected = [self._model(input_ids=one, use_cache=False).logits[0].float().cpu().numpy() for one in ids]
        AttentionInterface.register(ATTENTION, _attend)
        self._model.set_attn_implementation(ATTENTION)
        if self._model.config._attn_implementation != ATTENTION:  # transformers only logs this failure.
            raise ValueError(f"{type(self._model).__name__} takes no other attention than its own")
        self.cache = PageCache(2 * max(PROBES))
        asked = [Piece(at * max(PROBES), 0, page, np.arange(len(page))) for at, page in enumerate(pages)]
        # The second page is split after its first tokens, and continues from the cache.
        parts = [*asked[:-1], asked[-1].cut(0, PROBES[0]), asked[-1].cut(PROBES[0], PROBES[1])]
        found = np.concatenate([*self.logits(parts[:-1]), *self.logits(parts[-1:])])
        right = np.concatenate(expected)
        if not np.abs(found - right).max() <= close * (right.max() - right.min()):
            raise ValueError(f"{type(self._model).__name__} gives other logits where pages share a row")

    def make_room(self, memory_share: float) -> None:
        """Create the cache. On a CPU, it is as large as vLLM's cache. On a GPU, it takes the part
        of `memory_share` that the weights and one row leave free."""
        import torch

        per_token, room = self.cache.bytes_per_token, CPU_CACHE_GIB << 30
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            self.cache = PageCache(self._row_tokens)
            row = Piece(0, 0, np.zeros(self._row_tokens, np.int64), np.arange(1))
            self.logits([row])
            held = torch.cuda.max_memory_reserved() - self._row_tokens * per_token
            self.cache = PageCache(0)
            torch.cuda.empty_cache()
            free, total = torch.cuda.mem_get_info()
            room = int(min(memory_share * total, free + torch.cuda.memory_reserved()) - held)
        self.cache = PageCache(max(0, room) // per_token)

    def logits(self, pieces: Sequence[Piece]) -> list[FloatArray]:
        """Read pieces, and return the wanted logits of each piece, shape (wanted positions, output
        tokens). If a page has several pieces, earlier pieces must come first."""
        import torch

        with torch.inference_mode():
            parts = torch.cat([self._read(row) for row in cut_rows(pieces, self._row_tokens)])
            found = parts.float().cpu().numpy().astype(np.float64)
        return np.split(found, list(accumulate(len(piece.wanted) for piece in pieces))[:-1])

    def _read(self, row: Sequence[Piece]) -> Any:
        import torch

        def tensor(parts: Iterable[IntArray]) -> Any:
            return torch.from_numpy(np.concatenate(list(parts))).to(self.device)

        lengths = [len(piece.ids) for piece in row]
        starts = accumulate(lengths, initial=0)
        places = [np.arange(piece.first, piece.first + length) for piece, length in zip(row, lengths, strict=True)]
        seen = [(piece.slot, piece.slot + piece.first + length) for piece, length in zip(row, lengths, strict=True)]
        slots = tensor(piece.slot + place for piece, place in zip(row, places, strict=True))
        token = _row.set(Row(self.cache, slots, lengths, seen))
        try:
            return self._model(
                input_ids=tensor(piece.ids for piece in row)[None],
                position_ids=tensor(places)[None],
                use_cache=False,
                logits_to_keep=tensor(
                    piece.wanted - piece.first + start for piece, start in zip(row, starts, strict=False)
                ),
            ).logits[0]
        finally:
            _row.reset(token)


def _load_model(name: str, dtype: Any) -> Any:
    """Return a transformers model. Raises ValueError if the checkpoint lacks weights, because
    missing weights would be random."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging as typed

    logging_of_transformers: Any = typed  # Only partly typed.
    logging_of_transformers.disable_progress_bar()
    model, report = AutoModelForCausalLM.from_pretrained(name, dtype=dtype, output_loading_info=True)
    missing = sorted({*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])})
    if missing:
        raise ValueError(f"it lacks {len(missing)} weights of {type(model).__name__}, first {missing[0]}")
    return model


def take_rows(model: Any, tokens: Sequence[int]) -> None:
    """Reduce a model's output matrix to the rows of these tokens, in the given order."""
    import torch

    head = model.get_output_embeddings()
    taken = torch.nn.Linear(head.in_features, len(tokens), bias=head.bias is not None, dtype=head.weight.dtype)
    with torch.no_grad():
        taken.weight.copy_(head.weight[list(tokens)])
        if head.bias is not None:
            taken.bias.copy_(head.bias[list(tokens)])
    model.set_output_embeddings(taken)
