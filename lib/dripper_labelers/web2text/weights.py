"""Loads and saves the weights of the labeler `web2text`: one .npz file with int16 matrices."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from dripper.errors import MachineError
from dripper.labels.arrays import FloatArray
from dripper_labelers.web2text.features import NAMES, PAIR_NAMES
from dripper_labelers.web2text.network import WEIGHT_STEPS, Layer, split_layers

FORMAT = 1
"""Changes whenever the meaning of a feature or of the networks changes: old weights would be
misread."""
LEAF, PAIR = "leaf", "pair"
"""Beginnings of the names of each network's matrices."""


@dataclass(frozen=True)
class Weights:
    """Both networks, and the values that they need to label."""

    matrices: Mapping[str, FloatArray]
    """Matrices by name, see `network.name_matrices`."""
    mean: FloatArray
    scale: FloatArray
    """Both: (128 + 25,), standardise the features of leaves, then the features of pairs."""
    pair_weight: float
    """The paper's lambda: the weight of the potentials of pairs."""
    main_bias: float = 0.0
    """Added to the logarithm of a leaf's potential of being main; chosen on held-out pages."""
    version: str = ""
    """Hash of the file."""

    @cached_property
    def leaf_layers(self) -> Sequence[Layer]:
        """The network of leaves."""
        return split_layers(self.matrices, LEAF)

    @cached_property
    def pair_layers(self) -> Sequence[Layer]:
        """The network of pairs."""
        return split_layers(self.matrices, PAIR)


def save_weights(weights: Weights, path: Path) -> None:
    """Write the file; the same weights always give the same bytes. Raises ValueError for a value
    outside ±32."""
    meta = {
        "format": FORMAT, "features": NAMES, "pair_features": PAIR_NAMES, "pair_weight": weights.pair_weight,
        "main_bias": weights.main_bias,
    }  # fmt: skip
    arrays: dict[str, npt.NDArray[Any]] = {f"w_{name}": _to_int16(name, v) for name, v in weights.matrices.items()}
    arrays |= {"mean": weights.mean, "scale": weights.scale, "meta": np.array(json.dumps(meta, sort_keys=True))}
    with path.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **dict(sorted(arrays.items())))


def load_weights(path: Path | None = None) -> Weights:
    """Read a file that :func:`save_weights` wrote; None is the one that ships with the package.

    Raises MachineError if it is missing, damaged, or has other features than this version's.
    """
    source = path or files("dripper_labelers.web2text").joinpath("web2text_weights.npz")
    try:
        raw = source.read_bytes()
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            meta = json.loads(str(arrays["meta"]))
            mean, scale = arrays["mean"], arrays["scale"]
            matrices = {name[2:]: arrays[name] / float(WEIGHT_STEPS) for name in arrays if name.startswith("w_")}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise MachineError(
            f"weights of the labeler web2text: {source} cannot be read ({error}); reinstall the package"
        ) from error
    header = (meta.get("format"), meta.get("features"), meta.get("pair_features"))
    if header != (FORMAT, list(NAMES), list(PAIR_NAMES)):
        raise MachineError(f"weights of the labeler web2text: {source} is of format {header[0]} or of other features")
    version = hashlib.sha256(raw).hexdigest()[:12]
    return Weights(matrices, mean, scale, meta["pair_weight"], meta["main_bias"], version)


def _to_int16(name: str, value: FloatArray) -> npt.NDArray[np.int16]:
    steps = np.rint(value * WEIGHT_STEPS)
    if not np.abs(steps).max(initial=0) <= np.iinfo(np.int16).max:
        raise ValueError(f"weight {name} is outside ±{np.iinfo(np.int16).max / WEIGHT_STEPS:.3f}")
    return steps.astype(np.int16)
