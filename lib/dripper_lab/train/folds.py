"""Cross-validates by host: every page is scored by a network that was trained without its site."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.cpu.labeler import normalize_page, score_blocks, score_by_others, standardise
from dripper.labels.cpu.network import WEIGHT_STEPS
from dripper.labels.cpu.weights import Network, Weights
from dripper_lab.train.by_site import fold_of
from dripper_lab.train.disturb import blanks_of
from dripper_lab.train.examples import Example
from dripper_lab.train.kinds import with_page_kinds
from dripper_lab.train.optimise import train_in_stages
from dripper_lab.train.recipe import Recipe
from dripper_lab.train.switch import with_switch
from dripper_lab.train.weights import UNUSED, UNUSED_SCALE

log = logging.getLogger(__name__)

# Added to each deviation. Otherwise, features that hardly vary would be divided by almost 0.
SMALLEST_SCALE = 0.01


def fit(examples: Sequence[Example], recipe: Recipe, start: Weights | None = None) -> Weights:
    """Train on examples (raw features) and return weights without calibration (temperature 1, shift
    0).

    Args:
        start: Earlier weights to train further. Their networks are matched with the recipe's
            networks by position. Additional networks are kept unchanged.
    """
    unfitted = _make_unfitted(examples, recipe, start)
    ready = [_with_variants(unfitted, example) for example in examples]

    def trained(by: Recipe, earlier: Network | None) -> Network:
        matrices = None if earlier is None else earlier.matrices
        trained_matrices = train_in_stages(ready, blanks_of(unfitted), by, matrices)
        return Network(
            {name: np.rint(value * WEIGHT_STEPS) / WEIGHT_STEPS for name, value in trained_matrices.items()}, by.shape
        )

    n = len(recipe.other_recipes)
    first, *more = (None,) * (1 + n) if start is None else start.networks
    more_networks = tuple(trained(by, network) for by, network in zip(recipe.other_recipes, more[:n], strict=True))
    earlier_networks = () if start is None else start.others[n:]
    weights = replace(unfitted, matrices=trained(recipe, first).matrices, others=(*more_networks, *earlier_networks))
    return with_page_kinds(with_switch(weights, examples, recipe.switch_ridge), examples)


def _make_unfitted(examples: Sequence[Example], recipe: Recipe, start: Weights | None) -> Weights:
    """Return weights without networks. They have only the means and deviations for standardising
    features, taken from `start` if it is given."""
    mean, scale = (start.mean, start.scale) if start is not None else _moments(examples)
    return Weights(
        matrices={}, mean=mean, scale=scale, shape=recipe.shape, feature_names=NAMES, temperature=1.0, shift=0.0
    )


def _moments(examples: Sequence[Example]) -> tuple[FloatArray, FloatArray]:
    features = np.concatenate([example.blocks.features for example in examples])
    scale = features.std(axis=0, dtype=np.float64) + SMALLEST_SCALE
    scale[[NAMES.index(name) for name in UNUSED]] = UNUSED_SCALE
    return features.mean(axis=0, dtype=np.float64), scale


def _with_variants(weights: Weights, example: Example) -> Example:
    variants = {kind: tuple(_ready(weights, each) for each in of_kind) for kind, of_kind in example.variants.items()}
    return replace(_ready(weights, example), variants=variants)


def _ready(weights: Weights, example: Example) -> Example:
    features = standardise(weights, example.blocks.features).astype(example.blocks.features.dtype)
    return replace(example, blocks=example.blocks._replace(features=features))


def fold_networks(
    examples: Sequence[Example], recipe: Recipe, folds: int, scored: int | None = None, start: Weights | None = None
) -> list[Weights | None]:
    """Return for each fold the weights trained on the other folds' sites. The value is None for a
    fold without pages, and for all folds after the first `scored` folds.

    Args:
        start: As for :func:`fit`.
    """
    networks: list[Weights | None] = []
    for fold in range(folds):
        if fold >= (folds if scored is None else scored):
            networks.append(None)
            continue
        learned = [example for example in examples if fold_of(example.host, folds) != fold]
        log.info("fold %d of %d: %d pages held out", fold + 1, folds, len(examples) - len(learned))
        networks.append(fit(learned, recipe, start) if len(learned) < len(examples) else None)
    return networks


def network_of(example: Example, networks: Sequence[Weights | None]) -> Weights:
    """Return the weights from :func:`fold_networks` that were trained without the example's site.
    Raises ValueError if there are none."""
    network = networks[fold_of(example.host, len(networks))]
    if network is None:
        raise ValueError(f"no network was trained without the site {example.host}")
    return network


def compute_held_out_logits(examples: Sequence[Example], networks: Sequence[Weights | None]) -> list[FloatArray]:
    """Return the logits of every example, shape (1 + others, n_blocks), from the networks that were
    trained without its site."""

    def logits(example: Example) -> FloatArray:
        weights = network_of(example, networks)
        page = normalize_page(weights, example.blocks)
        return np.stack([score_blocks(weights, page)[0], *score_by_others(weights, page)])

    return [logits(example) for example in examples]
