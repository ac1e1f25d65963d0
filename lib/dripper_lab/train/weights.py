"""Loads earlier weights: the start of a training, and networks kept for a second opinion.

The kept networks are of the weights `e8066a984df9`, trained on articles of five data sets, made
crowded, antique and commented. Beside networks trained on every kind of page, they keep the
surroundings of an old article out of it.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import KINDS
from dripper.labels.cpu.network import WEIGHT_STEPS
from dripper.labels.cpu.weights import Network, Weights, load_weights

START = Path(__file__).with_name("cpu_start.npz")
"""The weights `db5b0d30908d`, which were trained from scratch."""
SEEN_BY_START = frozenset({
    "wcxb-dev", "fundus", "article-extraction-dataset", "magic-html-article", "zh-immortal-autumn", "readability",
    "web-forum-52", "web-kinds",
})  # fmt: skip
"""The data sets that they were trained on. Weights that go on from them cannot be scored on these
sets."""


KINDS_OF_START = (
    "article", "documentation", "form", "forum", "listing", "nothing", "other", "product", "recipe", "service",
)  # fmt: skip
"""The kinds of pages that they distinguish; their listings include shops' collections."""


def load_start() -> Weights:
    """Return the weights of `START` as a labeler of today reads them: with the layer for kinds of
    the weights that ship. Their labels are as they were."""
    start, shipped = load_weights(START), load_weights()
    of_kinds = {name: shipped.matrices[name] for name in ("kind", "kind_bias", "confidence")}
    return replace(start, matrices={**start.matrices, **of_kinds})


def take_confidence(start: Weights) -> FloatArray:
    """Return the coefficients of `decide.estimate_confidence` in the weights of `START`, for the
    kinds of today."""
    columns = [KINDS_OF_START.index("listing" if kind == "collection" else kind) for kind in KINDS]
    return np.asarray(start.matrices["confidence"].reshape(2, -1)[:, columns].ravel())


def fold_network(earlier: Weights, network: Network, weights: Weights) -> Network:
    """Return a network of `earlier` as one that reads features standardised as `weights` has them.

    The difference goes into the first layer, which is linear; only features clipped at
    `labeler.FEATURE_LIMIT` are seen a little otherwise. Raises ValueError if the two were
    trained on other features.
    """
    if earlier.feature_names != weights.feature_names:
        raise ValueError("networks of other features cannot be kept")
    layer = network.matrices["input"]
    bias = network.matrices["input_bias"] + ((weights.mean - earlier.mean) / earlier.scale) @ layer
    input_matrices = {"input": _round(layer * (weights.scale / earlier.scale)[:, None]), "input_bias": _round(bias)}
    return Network({**network.matrices, **input_matrices}, network.shape)


def _round(values: FloatArray) -> FloatArray:
    return np.asarray(np.rint(values * WEIGHT_STEPS) / WEIGHT_STEPS)
