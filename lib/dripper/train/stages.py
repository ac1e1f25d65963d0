"""Taught in two stages, then the mean of both.

First on the pages of older collections, nearly all articles, then on pages of every kind. The
weights that ship lie between the first stage's and the second's: they keep what the first knew
of old articles, and nearly all that the second learned (Wortsman et al. 2022, "Robust fine-tuning
of zero-shot models").
"""

from collections.abc import Sequence
from dataclasses import replace

from dripper.labels.arrays import FloatArray
from dripper.train.disturb import Blanks
from dripper.train.examples import Example
from dripper.train.optimise import train
from dripper.train.recipe import Recipe

FIRST_SETS = frozenset(["wcxb-dev", "fundus", "article-extraction-dataset", "magic-html-article", "zh-immortal-autumn"])
"""The sets of the first stage."""


def train_in_stages(examples: Sequence[Example], blanks: Blanks, recipe: Recipe) -> dict[str, FloatArray]:
    """Return trained weights by name. Arguments: as for `optimise.train`, which trains alone where
    no page is of FIRST_SETS, or where the recipe has no first stage (`first_epochs` of 0)."""
    first = [example for example in examples if example.key[0] in FIRST_SETS]
    if not first or not recipe.first_epochs:
        return train(examples, blanks, recipe)
    start = train(first, blanks, replace(recipe, epochs=recipe.first_epochs, balance=0.0))
    end = train(examples, blanks, replace(recipe, learning_rate=recipe.later_learning_rate), start)
    share = recipe.first_share
    return {name: share * start[name] + (1 - share) * end[name] for name in end}
