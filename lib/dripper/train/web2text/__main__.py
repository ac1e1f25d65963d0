"""Train the labeler `web2text` from the archives of labelled pages:

    python -m dripper.train.web2text --data DIR --output DIR

Writes `web2text_weights.npz` and `model_card_web2text.md`. To ship the weights, copy them to
lib/dripper/labels/web2text/. Reads only the sets whose role is "train, ships".
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dripper.datasets import Role, names_with, read_pages
from dripper.errors import UsageError
from dripper.labels.web2text.weights import load_weights, save_weights
from dripper.train.web2text.card import Result, model_card
from dripper.train.web2text.examples import Example, read_examples
from dripper.train.web2text.fit import fit
from dripper.train.web2text.recipe import Recipe
from dripper.train.web2text.validate import (
    MAIN_BIASES,
    PAIR_WEIGHTS,
    choose,
    held_out,
    held_out_labels,
    page_f1,
)

log = logging.getLogger(__name__)

DEFAULTS = Recipe()


def train_and_save(
    data: Path, output: Path, recipe: Recipe, folds: int, data_sets: Sequence[str], sample: int | None = None
) -> Path:
    """Read, cross-validate, choose, train, save; return the weights' path. sample: pages a set, None
    for all.

    Raises InputError for a missing set, UsageError where there are too few pages to train on.
    """
    started = time.process_time()
    pages = (page for data_set in data_sets for page in read_pages(data, data_set, sample=sample))
    examples = list(read_examples(pages))
    if len({example.host for example in examples}) < folds:
        raise UsageError(
            f"{len(examples)} usable pages in {data} are of fewer than {folds} sites: too few to validate on"
        )
    log.info("%d pages, %.0f CPU seconds", len(examples), time.process_time() - started)
    result = _validated(examples, recipe, folds)
    weights = replace(fit(examples, recipe), pair_weight=result.choice.pair_weight, main_bias=result.choice.main_bias)
    output.mkdir(parents=True, exist_ok=True)
    path = output / "web2text_weights.npz"
    save_weights(weights, path)
    parameters = sum(matrix.size for matrix in weights.matrices.values())
    seconds, version = time.process_time() - started, load_weights(path).version
    card = model_card(version, recipe, examples, result, seconds, parameters)
    (output / "model_card_web2text.md").write_text(card, encoding="utf-8")
    return path


def _validated(examples: Sequence[Example], recipe: Recipe, folds: int) -> Result:
    said = held_out(examples, recipe, folds)
    choice = choose(examples, said)
    log.info("cross-validated F1 over words: %.4f on %d pages", choice.f1, len(examples))

    def f1(pair_weight: float, main_bias: float) -> float:
        return float(np.mean(page_f1(examples, held_out_labels(said, pair_weight, main_bias))))

    labels = held_out_labels(said, choice.pair_weight, choice.main_bias)
    tried = len(PAIR_WEIGHTS) * len(MAIN_BIASES)
    return Result(folds, choice, tried, labels, f1(DEFAULTS.pair_weight, 0.0), f1(0.0, choice.main_bias))


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, train, and return the exit code: 0, or 2 where the user has to change
    something."""
    parser = argparse.ArgumentParser(prog="python -m dripper.train.web2text", description="Train the labeler web2text.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--output", type=Path, required=True, help="folder for the weights and the model card")
    ships = names_with(Role.TRAIN_SHIPS)
    parser.add_argument("--sets", nargs="+", choices=ships, default=ships, help="data sets (default: all of them)")
    parser.add_argument("--folds", type=int, default=3, help="of the cross-validation by site (default %(default)s)")
    parser.add_argument("--steps", type=int, default=DEFAULTS.steps, help="of training (default %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULTS.seed, help="of every random choice (default %(default)s)")
    parser.add_argument("--sample", type=int, default=None, help="only so many pages of each set (default: all)")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    recipe = replace(DEFAULTS, steps=options.steps, seed=options.seed)
    try:
        path = train_and_save(options.data, options.output, recipe, options.folds, options.sets, options.sample)
    except UsageError as error:
        log.error("%s", error)
        return 2
    log.info("wrote %s", path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
