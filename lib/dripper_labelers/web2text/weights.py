"""Loads and saves the weights of the `web2text` labeler: an .npz file with int16 matrices."""

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
"""Version of the file format. Increase it whenever the meaning of a feature or of the networks
changes. Otherwise, old weights would be misread."""
LEAF, PAIR = "leaf", "pair"
"""Prefixes of the names of each network's matrices."""


@dataclass(frozen=True)
class Weights:
    """The weights of both networks and other values needed for labeling."""

    matrices: Mapping[str, FloatArray]
    """The matrices, keyed by name; see `network.name_matrices`."""
    mean: FloatArray
    scale: FloatArray
    """`mean` and `scale`: (128 + 25,), for standardizing the leaf features and, after them, the
    pair features."""
    pair_weight: float
    """The weight of the pair potentials (lambda in the paper)."""
    main_bias: float = 0.0
    """An offset that is added to a leaf's log potential of main. It was chosen on held-out
    pages."""
    version: str = ""
    """The hash of the file."""

    @cached_property
    def leaf_layers(self) -> Sequence[Layer]:
        """The leaf network."""
        return split_layers(self.matrices, LEAF)

    @cached_property
    def pair_layers(self) -> Sequence[Layer]:
        """The pair network."""
        return split_layers(self.matrices, PAIR)


def save_weights(weights: Weights, path: Path) -> None:
    """Write the file. The same weights always give the same bytes. Raises ValueError if a weight is
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
    """Read a file written by :func:`save_weights`; None means the file in this package.

    Raises MachineError if the file is missing or damaged, or has features other than this
    version's.
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
