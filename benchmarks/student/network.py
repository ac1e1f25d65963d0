"""The student's network: layers of multilingual-e5-small (BERT), and what it reads of a token
beside its piece."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import nn

from dripper_labelers.reader.base import unpack_blocks

TAGS = (
    "?", "p", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "table", "a", "span", "noscript", "button",
    "picture", "figure", "img", "figcaption", "select", "dl", "dt", "dd", "pre", "form", "blockquote", "label", "legend",
    "summary", "address", "footer", "header", "nav", "article", "section", "textarea", "div",
)  # fmt: skip
"""Tags of blocks by their number; others are taken for `div`."""
UNKNOWN_DRAFT = 13
"""The draft of a token of no block, or of a block of which nothing is known; 0 to 12: log odds from
-6 to 6."""
WIDTH, HEADS, POSITIONS, EPSILON = 384, 12, 512, 1e-12
TEACHER_LAYERS = 12
FIRST_LAYERS: Mapping[int, tuple[int, ...]] = {6: (1, 3, 5, 7, 9, 11), 4: (2, 5, 8, 11), 3: (3, 7, 11)}
"""The layers of twelve that a network of fewer begins with."""
LINEAR: Mapping[str, tuple[int, int]] = {
    "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH),
    "fi": (4 * WIDTH, WIDTH), "fo": (WIDTH, 4 * WIDTH),
}  # fmt: skip
"""Linear parts of a layer: outputs and inputs."""
NORMS = ("aln", "oln")


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.ao = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.fi, self.fo = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.aln, self.oln = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the next states, (rows, tokens, WIDTH)."""
        rows, tokens, _ = states.shape
        q, k, v = (
            part(states).view(rows, tokens, HEADS, WIDTH // HEADS).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        dropout = 0.1 if self.training else 0.0
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        states = self.aln(states + self.dropout(self.ao(seen.transpose(1, 2).reshape(rows, tokens, WIDTH))))
        return self.oln(states + self.dropout(self.fo(F.gelu(self.fi(states)))))


class Student(nn.Module):
    """The encoder, with a number for each token."""

    def __init__(self, n_layers: int, n_pieces: int) -> None:
        super().__init__()
        self.word: torch.Tensor
        self.register_buffer("word", torch.zeros(n_pieces, WIDTH))
        self.pos = nn.Parameter(torch.zeros(POSITIONS, WIDTH))
        self.tag = nn.Parameter(torch.zeros(len(TAGS), WIDTH))
        self.draft = nn.Parameter(torch.zeros(UNKNOWN_DRAFT + 1, WIDTH))
        self.ln = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(n_layers))
        self.head = nn.Linear(WIDTH, 1)
        self.dropout = nn.Dropout(0.1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: torch.Tensor, tags: torch.Tensor, drafts: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the margins, (rows, tokens), of three numbers a token."""
        states = self.word[ids] + self.pos[: ids.shape[1]] + self.tag[tags] + self.draft[drafts]
        states = self.dropout(self.ln(states))
        for layer in self.layers:
            states = layer(states, mask)
        return self.head(states).squeeze(-1)


def load_base(file: Path) -> Student:
    """Return the pretrained model of twelve layers that pack.py wrote."""
    saved = np.load(file)
    n_pieces = saved["emb.word.q4"].shape[0]
    state: dict[str, npt.NDArray[np.float32]] = {
        "word": unpack_blocks(saved["emb.word.q4"]).reshape(n_pieces, WIDTH),
        "pos": _tensor(saved["emb.pos"], POSITIONS, WIDTH) + _tensor(saved["emb.type"], 2, WIDTH)[0],
        "ln.weight": saved["emb.ln.w"],
        "ln.bias": saved["emb.ln.b"],
    }
    for layer in range(TEACHER_LAYERS):
        for part in (*LINEAR, *NORMS):
            name, shape = f"l{layer}.{part}", LINEAR.get(part, (WIDTH,))
            state[f"layers.{layer}.{part}.weight"] = _tensor(saved[f"{name}.w"], *shape)
            state[f"layers.{layer}.{part}.bias"] = saved[f"{name}.b"]
    model = Student(TEACHER_LAYERS, n_pieces)
    tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()}
    model.load_state_dict(tensors, strict=False)
    return model


def _tensor(raw: npt.NDArray[Any], *shape: int) -> npt.NDArray[np.float32]:
    return raw.reshape(shape) if raw.dtype == np.float32 else unpack_blocks(raw).reshape(shape)


def shrink(model: Student, n_layers: int) -> Student:
    """Return a network of fewer layers that begins with some of a model's."""
    whole = model.state_dict()
    state = {name: value for name, value in whole.items() if not name.startswith("layers.")}
    for to, layer in enumerate(FIRST_LAYERS[n_layers]):
        prefix = f"layers.{layer}."
        state |= {f"layers.{to}.{name.removeprefix(prefix)}": whole[name] for name in whole if name.startswith(prefix)}
    smaller = Student(n_layers, len(model.word))
    smaller.load_state_dict(state)
    return smaller


def save_int8(model: Student, file: Path) -> None:
    """Save all but the pieces' embeddings; matrices of layers in eight bits, with a scale a row."""
    parts: dict[str, npt.NDArray[Any]] = {}
    for name, tensor in model.state_dict().items():
        value = tensor.float().cpu().numpy()
        if name.startswith("layers.") and value.ndim == 2:
            scale = np.abs(value).max(1, keepdims=True) / 127
            parts |= {name: np.rint(value / scale).astype(np.int8), f"{name}.scale": scale[:, 0]}
        elif name != "word":
            parts[name] = value
    np.savez(file, **parts)


def read_int8(file: Path) -> tuple[dict[str, npt.NDArray[np.float32]], int]:
    """Return what `save_int8` saved, in float32, and the number of layers."""
    saved = np.load(file)
    state = {name: saved[name] for name in saved if saved[name].dtype == np.float32}
    for name in saved:
        if saved[name].dtype == np.int8:
            state[name] = saved[name].astype(np.float32) * saved[f"{name}.scale"][:, None]
    return state, 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
