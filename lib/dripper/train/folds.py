"""Cross-validation by host: every page is scored by a network that saw no page of its site."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dripper.labels.cpu import score_blocks, standardised
from dripper.labels.features import NAMES
from dripper.labels.network import WEIGHT_STEPS
from dripper.labels.weights import Weights
from dripper.train.disturb import blanks_of
from dripper.train.examples import Example
from dripper.train.optimise import train
from dripper.train.recipe import Recipe

log = logging.getLogger(__name__)

# Features that hardly vary would be blown up by their own tiny deviation.
SMALLEST_SCALE = 0.01


def fit(examples: Sequence[Example], recipe: Recipe) -> Weights:
    """Train on examples (raw features) and return weights without calibration (temperature 1, shift 0)."""
    features = np.concatenate([example.blocks.features for example in examples])
    unfitted = Weights(
        matrices={},
        mean=features.mean(axis=0, dtype=np.float64),
        scale=features.std(axis=0, dtype=np.float64) + SMALLEST_SCALE,
        shape=recipe.shape,
        feature_names=NAMES,
        temperature=1.0,
        shift=0.0,
    )
    ready = [
        replace(
            example,
            blocks=example.blocks._replace(features=standardised(unfitted, example.blocks.features).astype(np.float32)),
        )
        for example in examples
    ]
    matrices = {
        name: np.rint(value * WEIGHT_STEPS) / WEIGHT_STEPS
        for name, value in train(ready, blanks_of(unfitted), recipe).items()
    }
    return replace(unfitted, matrices=matrices)


def fold_of(host: str, folds: int) -> int:
    """Return the fold of a site, 0 to folds - 1: by a hash, so that new pages never move the old ones."""
    return int.from_bytes(hashlib.sha256(host.encode()).digest()[:8], "big") % folds


def held_out_logits(examples: Sequence[Example], recipe: Recipe, folds: int) -> list[npt.NDArray[np.float64]]:
    """Return the logits of every example, from a network trained on the other folds' sites; in the examples' order."""
    logits: list[npt.NDArray[np.float64]] = [np.zeros(0)] * len(examples)
    for fold in range(folds):
        held_out = [index for index, example in enumerate(examples) if fold_of(example.host, folds) == fold]
        if not held_out:
            continue
        chosen = set(held_out)
        log.info("fold %d of %d: %d pages held out", fold + 1, folds, len(held_out))
        weights = fit([example for index, example in enumerate(examples) if index not in chosen], recipe)
        for index in held_out:
            logits[index] = score_blocks(weights, examples[index].blocks)
    return logits
