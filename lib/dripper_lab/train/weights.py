"""Loads earlier weights for further training, converts networks that are kept for a second opinion,
and saves weights.

The kept networks come from the weights `e8066a984df9`. They were trained on articles from five data
sets, including crowded, antique and commented variants. Together with networks trained on every
kind of page, they help to leave out the surroundings of an old article.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.arithmetic import snap
from dripper.labels.cpu.decide import KINDS
from dripper.labels.cpu.network import WEIGHT_STEPS, Shape
from dripper.labels.cpu.weights import FORMAT, Network, Weights, load_weights, split_by_prefix

START = Path(__file__).with_name("cpu_start.npz")
"""The weights `db5b0d30908d`, which were trained from scratch."""
SEEN_BY_START = frozenset({
    "wcxb-dev", "fundus", "article-extraction-dataset", "magic-html-article", "zh-immortal-autumn", "readability",
    "web-forum-52", "web-kinds",
})  # fmt: skip
"""The data sets that the weights in `START` were trained on. Weights trained further from these
cannot be scored on these sets."""


UNUSED = ("other_letters",)
"""Features that no network uses any more. Only a few training pages, in Arabic, Hebrew and similar
scripts, have such letters. The weights of this feature were therefore random, and the same page
scored 0.07 to 0.11 lower in these scripts than in others (docs/research/labeler_cpu.md)."""
UNUSED_SCALE = 1e9
"""The deviation of a feature that is not used. With it, all standardised values round to 0."""


KINDS_OF_START = (
    "article", "documentation", "form", "forum", "listing", "nothing", "other", "product", "recipe", "service",
)  # fmt: skip
"""The kinds of pages that the weights in `START` distinguish. Their listings include shops'
collections."""


def load_start() -> Weights:
    """Return the weights of `START` in the current format, with the layer for page kinds from the
    shipped weights. The labels of blocks are the same as before."""
    start, shipped = load_weights(START), load_weights()
    of_kinds = {name: shipped.matrices[name] for name in ("kind", "kind_bias", "confidence")}
    return replace(start, matrices={**start.matrices, **of_kinds})


def without_unused(weights: Weights) -> Weights:
    """Return weights with networks that treat the UNUSED features of every page as 0. If these
    features are 0, the output is the same as before. Layers that are fitted later (the kind, the
    switch) are unchanged.
    """
    columns = [weights.feature_names.index(name) for name in UNUSED]
    zero = snap(-weights.mean[columns] / weights.scale[columns])

    def without(network: Network) -> Network:
        bias = network.matrices["input_bias"] + zero @ network.matrices["input"][columns]
        return Network({**network.matrices, "input_bias": _round(bias)}, network.shape)

    first, *others = map(without, weights.networks)
    scale = weights.scale.copy()
    scale[columns] = UNUSED_SCALE
    return replace(weights, matrices=first.matrices, others=tuple(others), scale=scale)


def take_confidence(start: Weights) -> FloatArray:
    """Return the coefficients of `decide.estimate_confidence` in the weights of `START`, rearranged
    for the current kinds."""
    columns = [KINDS_OF_START.index("listing" if kind == "collection" else kind) for kind in KINDS]
    return np.asarray(start.matrices["confidence"].reshape(2, -1)[:, columns].ravel())


def fold_network(earlier: Weights, network: Network, weights: Weights) -> Network:
    """Convert a network of `earlier` to features that are standardised as in `weights`.

    The first layer is linear, so its weights absorb the difference. Only features clipped at
    `labeler.FEATURE_LIMIT` give slightly different results. Raises ValueError if the two were
    trained on different features.
    """
    if earlier.feature_names != weights.feature_names:
        raise ValueError("networks of other features cannot be kept")
    layer = network.matrices["input"]
    bias = network.matrices["input_bias"] + ((weights.mean - earlier.mean) / earlier.scale) @ layer
    input_matrices = {"input": _round(layer * (weights.scale / earlier.scale)[:, None]), "input_bias": _round(bias)}
    return Network({**network.matrices, **input_matrices}, network.shape)


def _round(values: FloatArray) -> FloatArray:
    return np.asarray(np.rint(values * WEIGHT_STEPS) / WEIGHT_STEPS)


def save_weights(weights: Weights, path: Path) -> None:
    """Write the file. The same weights always give the same bytes, because numpy writes a constant
    date to its archives.

    Matrices are rounded to multiples of 1/1024. Raises ValueError for a value outside ±32.
    """
    meta = {
        "format": FORMAT, "dilations": weights.shape.dilations, "pooled": weights.shape.pooled,
        "feature_names": weights.feature_names, "temperature": weights.temperature, "shift": weights.shift,
        "others": [(other.shape.dilations, other.shape.pooled) for other in weights.others],
    }  # fmt: skip
    arrays: dict[str, npt.NDArray[Any]] = {}
    for prefix, network in split_by_prefix(weights.networks).items():
        arrays |= {prefix + name: _to_int16(name, value) for name, value in network.matrices.items()}
    arrays |= {"mean": weights.mean, "scale": weights.scale, "meta": np.array(json.dumps(meta, sort_keys=True))}
    with path.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **dict(sorted(arrays.items())))


def _to_int16(name: str, value: FloatArray) -> npt.NDArray[np.int16]:
    steps = np.rint(value * WEIGHT_STEPS)
    if not np.abs(steps).max(initial=0) <= np.iinfo(np.int16).max:
        raise ValueError(f"weight {name} is outside ±{np.iinfo(np.int16).max / WEIGHT_STEPS:.3f}")
    return steps.astype(np.int16)


def list_weight_shapes(
    shape: Shape, n_features: int, n_levels: int, width: int, pool_width: int
) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every weight of a network with `width` channels, and with
    `pool_width` channels for each level of container means."""
    shapes: dict[str, tuple[int, ...]] = {"input": (n_features, width), "input_bias": (width,)}
    for layer in range(len(shape.dilations)):
        shapes |= {f"conv{layer}_taps": (3, width), f"conv{layer}": (width, width), f"conv{layer}_bias": (width,)}
    pooled = n_levels * pool_width
    for layer in shape.pooled:
        shapes |= {f"pool{layer}_down": (width, pooled), f"pool{layer}_bias": (pooled,)}
        shapes |= {f"pool{layer}_up": (pooled, width)}
    shapes |= {"hidden": (width, width // 2), "hidden_bias": (width // 2,)}
    return shapes | {"output": (width // 2, 1), "output_bias": (1,)}
