"""What training does to features so that the network trusts none of them alone, and knows pages of other times."""

import numpy as np
import numpy.typing as npt

from dripper.labels.features import NAMES
from dripper.labels.weights import Weights
from dripper.train.batches import PAGES_PER_BATCH, Batch
from dripper.train.recipe import Recipe


def nameless_features(weights: Weights) -> npt.NDArray[np.float64]:
    """Return, for every feature made of class and id names, its standardised value where there are none; else NaN."""
    of_names = np.array([name.startswith(("named_", "near_")) for name in NAMES])
    return np.where(of_names, -weights.mean / weights.scale, np.nan)


def disturbed(batch: Batch, nameless: npt.NDArray[np.float64], recipe: Recipe, draw: np.random.Generator) -> Batch:
    """Return the batch with other features: noise everywhere, and for whole pages some features blanked or names hidden.

    Features are standardised, so a blank is 0, their mean. nameless: what :func:`nameless_features` returns.
    """
    features = batch.blocks.features + recipe.noise * draw.standard_normal(batch.blocks.features.shape, np.float32)
    hidden = (draw.random(PAGES_PER_BATCH + 1) < recipe.name_drop)[batch.page]
    features = np.where(hidden[:, None] & ~np.isnan(nameless), nameless, features)
    kept = draw.random((PAGES_PER_BATCH + 1, features.shape[1])) >= recipe.feature_drop
    return batch._replace(blocks=batch.blocks._replace(features=(features * kept[batch.page]).astype(np.float32)))
