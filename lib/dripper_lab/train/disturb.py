"""Disturbs features during training, so that the network does not rely on a single one and copes
with pages of other times."""

from typing import NamedTuple

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.features.page_features import KIND_NAMES, NAMES
from dripper.labels.cpu.labeler import standardise
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.batches import PAGES_PER_BATCH, TrainingBatch
from dripper_lab.train.recipe import Recipe


class Blanks(NamedTuple):
    """The standardized feature values of pages without class and id names (`names`) and of pages
    without metadata (`metadata`). NaN for features that depend on other things."""

    names: FloatArray
    metadata: FloatArray


def blanks_of(weights: Weights) -> Blanks:
    """Return the feature values of pages without class names, and of pages without metadata."""
    of_names = np.array([name.startswith(("named_", "near_")) for name in NAMES])
    of_metadata = np.array([name in ("in_description", "in_json_ld", *KIND_NAMES) for name in NAMES])
    nothing = standardise(weights, np.zeros(len(NAMES)))
    return Blanks(*(np.where(chosen, nothing, np.nan) for chosen in (of_names, of_metadata)))


def disturb(batch: TrainingBatch, blanks: Blanks, recipe: Recipe, draw: np.random.Generator) -> TrainingBatch:
    """Return the batch with noise added to all features. On each page, random features are also
    blanked; on some pages, all name or metadata features are hidden.

    Features are standardized, so a blanked feature is 0, the mean.

    Args:
        blanks: The result of :func:`blanks_of`.
    """
    features = batch.blocks.features + recipe.noise * draw.standard_normal(batch.blocks.features.shape, np.float32)
    for blank, share in ((blanks.names, recipe.name_drop), (blanks.metadata, recipe.metadata_drop)):
        hidden = (draw.random(PAGES_PER_BATCH + 1) < share)[batch.page]
        features = np.where(hidden[:, None] & ~np.isnan(blank), blank, features)
    mask = draw.random((PAGES_PER_BATCH + 1, features.shape[1])) >= recipe.feature_drop
    return batch._replace(blocks=batch.blocks._replace(features=(features * mask[batch.page]).astype(np.float32)))
