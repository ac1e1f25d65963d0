"""Reads the weights of the labeler `cpu`: one .npz file with int16 matrices, with a model card
beside it."""

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
"""Changes whenever the meaning of a feature, the network or a later step changes; otherwise old
weights would be misread silently."""


@dataclass(frozen=True)
class Network:
    """Another network, for a second opinion (see `dripper.labels.cpu.second_opinion`)."""

    matrices: Mapping[str, FloatArray]
    """Matrices by name, float64 on the weight grid."""
    shape: Shape

    @cached_property
    def exact(self) -> Mapping[str, npt.NDArray[Any]]:
        """The matrices for labelling. Raises ValueError if their values are too large for exact
        sums."""
        return prepare_exact_weights(self.matrices, self.shape)


@dataclass(frozen=True)
class Weights:
    """A trained network with its standardisation, calibration and feature names."""

    matrices: Mapping[str, FloatArray]
    """Matrices by name, float64 on the weight grid."""
    mean: FloatArray
    scale: FloatArray
    """Both: (n_features,), to standardise the features."""
    shape: Shape
    feature_names: tuple[str, ...]
    """Names of the features, in column order."""
    temperature: float
    shift: float
    """Both: to calibrate the logit."""
    version: str = ""
    """Hash of the file."""
    others: tuple[Network, ...] = ()
    """Networks for a second opinion, with the same features."""

    @property
    def networks(self) -> tuple[Network, ...]:
        """The network, then the others."""
        return (Network(self.matrices, self.shape), *self.others)

    @cached_property
    def exact(self) -> Mapping[str, npt.NDArray[Any]]:
        """The network's matrices for labelling. Raises ValueError if their values are too large for
        exact sums."""
        return self.networks[0].exact


def load_weights(path: Path | None = None) -> Weights:
    """Read a file that `dripper_lab.train.weights.save_weights` wrote; None reads the file that
    ships with the package.

    Raises MachineError if the file is missing or damaged, or in a format that this version does not
    read.
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
    """Return networks by the prefix of their arrays' names: "w_" for the first network, "1_" and
    "2_" for others."""
    return {f"{number or 'w'}_": network for number, network in enumerate(networks)}


def _read_matrices(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, FloatArray]:
    names = (name for name in arrays if name.startswith(prefix))
    return {name[len(prefix) :]: arrays[name] / float(WEIGHT_STEPS) for name in names}
