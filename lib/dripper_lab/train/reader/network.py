"""The reader's network in PyTorch, for training: BERT layers, and a margin for each token."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from dripper_lab.train.reader.base import NORMS, PARTS, BaseModel, Shape, part_shape
from dripper_labelers.reader.weights import Matrix, Tables, unpack_blocks
from dripper_labelers.reader.windows import UNKNOWN_DRAFT, Window

_DROPOUT = 0.1
_LENGTHS = 32
"""The windows in a batch are padded to a multiple of this number of tokens."""


class Layer(nn.Module):  # type: ignore[misc]
    """One layer of BERT."""

    def __init__(self, shape: Shape, epsilon: float) -> None:
        super().__init__()
        for part in PARTS:
            outputs, inputs = part_shape(shape, part)
            self.add_module(part, nn.Linear(inputs, outputs))
        for norm in NORMS:
            self.add_module(norm, nn.LayerNorm(shape.width, epsilon))
        self.heads, self.dropout = shape.heads, nn.Dropout(_DROPOUT)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the next states, (rows, tokens, width)."""
        rows, tokens, width = states.shape
        q, k, v = (
            part(states).view(rows, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        dropout = _DROPOUT if self.training else 0.0
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        states = self.aln(states + self.dropout(self.ao(seen.transpose(1, 2).reshape(rows, tokens, width))))
        return self.oln(states + self.dropout(self.fo(F.gelu(self.fi(states)))))


class Network(nn.Module):  # type: ignore[misc]
    """The encoder, with a margin for each token. The embeddings of pieces are frozen, and
    everything else is trained."""

    def __init__(self, shape: Shape, epsilon: float, n_layers: int, tables: Tables) -> None:
        super().__init__()
        self.shape, self.epsilon = shape, epsilon
        self.word: torch.Tensor
        words = unpack_blocks(tables.words).reshape(len(tables.words), shape.width)
        self.register_buffer("word", torch.from_numpy(words), persistent=False)
        self.pos, self.tag, self.draft = (
            nn.Parameter(torch.from_numpy(matrix.copy())) for matrix in (tables.places, tables.tags, tables.drafts)
        )
        self.ln = nn.LayerNorm(shape.width, epsilon)
        self.layers = nn.ModuleList(Layer(shape, epsilon) for _ in range(n_layers))
        self.head = nn.Linear(shape.width, 1)
        self.dropout = nn.Dropout(_DROPOUT)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    @property
    def new(self) -> list[Any]:
        """The parameters that start at 0 and have a higher learning rate."""
        return [self.head.weight, self.head.bias, self.tag, self.draft]

    def forward(self, ids: torch.Tensor, tags: torch.Tensor, drafts: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the margins, (rows, tokens), given each token's ID, tag and draft level."""
        states = self.word[ids] + self.pos[: ids.shape[1]] + self.tag[tags] + self.draft[drafts]
        states = self.dropout(self.ln(states))
        for layer in self.layers:
            states = layer(states, mask)
        return self.head(states).squeeze(-1)

    def average(self, windows: Sequence[Window]) -> torch.Tensor:
        """Return the mean margin over each block's tokens, (n_blocks,), window by window."""
        device = self.head.weight.device
        longest = max(len(window.ids) for window in windows)
        shape = len(windows), min(-(-longest // _LENGTHS) * _LENGTHS, self.shape.positions)
        sizes = np.concatenate([window.sizes for window in windows])
        ids, tags, drafts = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.full(shape, UNKNOWN_DRAFT)
        mask, owners, n_blocks = np.zeros(shape, bool), np.full(shape, len(sizes)), 0
        for row, window in enumerate(windows):
            length = len(window.ids)
            ids[row, :length], tags[row, :length], drafts[row, :length] = window[:3]
            mask[row, :length] = True
            owners[row, 1:length] = np.repeat(n_blocks + np.arange(len(window.sizes)), window.sizes)
            n_blocks += len(window.sizes)
        tensors = (torch.from_numpy(each).to(device) for each in (ids, tags, drafts, mask[:, None, None, :]))
        margins = self(*tensors).float().reshape(-1)
        sums = torch.zeros(n_blocks + 1, device=device)
        sums = sums.index_add(0, torch.from_numpy(owners.reshape(-1)).to(device), margins)
        return sums[:-1] / torch.from_numpy(sizes.astype(np.float32)).to(device)

    def state(self) -> dict[str, Matrix]:
        """Return all trained weights in float32, keyed by name."""
        return {name: tensor.detach().float().cpu().numpy() for name, tensor in self.state_dict().items()}


def load_base(base: BaseModel, tables: Tables) -> Network:
    """Return the pretrained model with all of its layers."""
    shape = base.shape
    state = {"ln.weight": base.tensor("emb.ln.w", shape.width), "ln.bias": base.tensor("emb.ln.b", shape.width)}
    for layer in range(shape.layers):
        for part in (*PARTS, *NORMS):
            sizes = part_shape(shape, part) if part in PARTS else (shape.width,)
            state[f"layers.{layer}.{part}.weight"] = base.tensor(f"l{layer}.{part}.w", *sizes)
            state[f"layers.{layer}.{part}.bias"] = base.tensor(f"l{layer}.{part}.b", sizes[0])
    model = Network(shape, base.epsilon, shape.layers, tables)
    _load(model, state)
    return model


def shrink(model: Network, tables: Tables, n_layers: int) -> Network:
    """Return a network with fewer layers. They are copies of evenly spaced layers of the model,
    including the last layer."""
    whole = model.state()
    state = {name: value for name, value in whole.items() if not name.startswith("layers.")}
    for to in range(n_layers):
        prefix = f"layers.{(to + 1) * len(model.layers) // n_layers - 1}."
        state |= {f"layers.{to}.{name.removeprefix(prefix)}": whole[name] for name in whole if name.startswith(prefix)}
    smaller = Network(model.shape, model.epsilon, n_layers, tables)
    _load(smaller, state)
    return smaller


def _load(model: Network, state: Mapping[str, Matrix]) -> None:
    tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()}
    if unknown := model.load_state_dict(tensors, strict=False).unexpected_keys:
        raise ValueError(f"no place for {', '.join(unknown)}")
