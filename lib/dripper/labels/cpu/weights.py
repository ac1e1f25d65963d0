"""Reads the weights of the `cpu` labeler from an .npz file with int16 matrices. Their model card is
docs/model_card_cpu.md."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from dripper.errors import MachineError
from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.network import WEIGHT_STEPS, Shape, prepare_exact_weights

Item = TypeVar("Item")

FORMAT = 6
"""Increase this number if the meaning of a feature, the network or a later step changes. Otherwise
old weights would be misread silently."""


@dataclass(frozen=True)
class Network:
    """One of the labeler's networks (see `dripper.labels.cpu.second_opinion`)."""

    matrices: Mapping[str, FloatArray]
    """Matrices, keyed by name, float64, in multiples of 1/1024."""
    shape: Shape

    @cached_property
    def exact(self) -> Mapping[str, npt.NDArray[Any]]:
        """The matrices for labelling. Raises ValueError if values are too large for exact sums."""
        return prepare_exact_weights(self.matrices, self.shape)


@dataclass(frozen=True)
class Weights:
    """A trained network with its standardisation, calibration and feature names."""

    matrices: Mapping[str, FloatArray]
    """Matrices, keyed by name, float64, in multiples of 1/1024."""
    mean: FloatArray
    scale: FloatArray
    """`mean` and `scale`: (n_features,), for standardising the features."""
    shape: Shape
    feature_names: tuple[str, ...]
    """Names of the features, in column order."""
    temperature: float
    shift: float
    """`temperature` and `shift`, for calibrating the logit."""
    version: str = ""
    """Hash of the file."""
    others: tuple[Network, ...] = ()
    """More networks, for a second opinion. They use the same features."""

    @property
    def networks(self) -> tuple[Network, ...]:
        """All networks. The first is the main network."""
        return (Network(self.matrices, self.shape), *self.others)

    @cached_property
    def exact(self) -> Mapping[str, npt.NDArray[Any]]:
        """The first network's matrices for labelling. Raises ValueError if values are too large for
        exact sums."""
        return self.networks[0].exact


def load_weights(path: Path | None = None) -> Weights:
    """Read weights that `dripper_lab.train.weights.save_weights` wrote. If `path` is None, read the
    file in the package.

    Raises MachineError if the file is missing or damaged, or if its format is not `FORMAT`.
    """
    source = path or files("dripper.labels.cpu").joinpath("cpu_weights.npz")
    try:
        raw = source.read_bytes()
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            meta = json.loads(str(arrays["meta"]))
            mean, scale = arrays["mean"], arrays["scale"]
            shapes = [(meta["dilations"], meta["pooled"]), *meta.get("others", [])]
            networks = [
                Network(_read_matrices(arrays, prefix), Shape(tuple(dilations), tuple(pooled)))
                for prefix, (dilations, pooled) in split_by_prefix(shapes).items()
            ]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise MachineError(
            f"weights of the labeler cpu: {source} cannot be read ({error}); reinstall the package"
        ) from error
    if meta.get("format") != FORMAT:
        raise MachineError(f"weights of the labeler cpu: {source} has format {meta.get('format')}, expected {FORMAT}")
    return Weights(
        networks[0].matrices, mean, scale, networks[0].shape, tuple(meta["feature_names"]), meta["temperature"],
        meta["shift"], hashlib.sha256(raw).hexdigest()[:12], tuple(networks[1:]),
    )  # fmt: skip


def split_by_prefix(networks: Sequence[Item]) -> dict[str, Item]:
    """Map prefixes of array names to networks: "w_" for the first network, then "1_", "2_" and so
    on."""
    return {f"{number or 'w'}_": network for number, network in enumerate(networks)}


def _read_matrices(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, FloatArray]:
    names = (name for name in arrays if name.startswith(prefix))
    return {name[len(prefix) :]: arrays[name] / float(WEIGHT_STEPS) for name in names}
