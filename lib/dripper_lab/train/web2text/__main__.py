"""Train the `web2text` labeler from the archives of labelled pages:

    python -m dripper_lab.train.web2text --data DIR --output DIR

Writes `web2text_weights.npz` and `model_card_web2text.md`. To ship the weights, copy them to
lib/dripper_labelers/web2text/. Reads only the sets with the role "train, ships".
"""

import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.by_site import put_aside
from dripper_lab.train.command_line import parse_training, run_training, training_parser
from dripper_lab.train.web2text.card import Result, model_card
from dripper_lab.train.web2text.examples import Example, Recipe, read_examples
from dripper_lab.train.web2text.fit import (
    MAIN_BIASES,
    PAIR_WEIGHTS,
    choose,
    compute_unweighted_potentials,
    fit,
    labels_with,
    page_f1,
)
from dripper_labelers.web2text.weights import Weights, load_weights, save_weights

log = logging.getLogger(__name__)

DEFAULTS = Recipe()


def train_and_save(
    data: Path, output: Path, recipe: Recipe, folds: int, data_sets: Sequence[str], sample: int | None = None
) -> Path:
    """Train, choose values on held-out sites, and save. Return the path of the weights.

    Args:
        sample: Maximum number of pages per data set; None means all.

    Raises:
        InputError: If a data set is missing.
        UsageError: If there are too few pages to train on.
    """
    started = time.process_time()
    pages = (page for data_set in data_sets for page in read_training_pages(data, data_set, sample=sample))
    examples = list(read_examples(pages))
    train, held_out = put_aside(examples, folds, lambda example: example.host)
    log.info(
        "%d pages, %d of them held out, %.0f CPU seconds", len(examples), len(held_out), time.process_time() - started
    )
    weights = fit(train, recipe)
    result = choose_and_score(weights, held_out)
    output.mkdir(parents=True, exist_ok=True)
    path = output / "web2text_weights.npz"
    save_weights(replace(weights, pair_weight=result.choice.pair_weight, main_bias=result.choice.main_bias), path)
    seconds = time.process_time() - started
    card = model_card(load_weights(path), recipe, train, held_out, result, seconds)
    (output / "model_card_web2text.md").write_text(card, encoding="utf-8")
    return path


def choose_and_score(weights: Weights, held_out: Sequence[Example]) -> Result:
    """Return the best choice on the held-out pages, and the scores of other choices."""
    potentials = [compute_unweighted_potentials(weights, page) for page in held_out]
    choice = choose(held_out, potentials)
    log.info("F1 over words: %.4f on %d pages held out", choice.f1, len(held_out))

    def f1(pair_weight: float, main_bias: float) -> float:
        return float(np.mean(page_f1(held_out, labels_with(potentials, pair_weight, main_bias))))

    labels = labels_with(potentials, choice.pair_weight, choice.main_bias)
    tried = len(PAIR_WEIGHTS) * len(MAIN_BIASES)
    return Result(choice, tried, labels, f1(DEFAULTS.pair_weight, 0.0), f1(0.0, choice.main_bias))


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, train, and return the exit code: 0, or 2 if the user has to change
    something."""
    parser = training_parser("web2text", "the weights and the model card", folds=5)
    parser.add_argument("--steps", type=int, default=DEFAULTS.steps, help="of training (default %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULTS.seed, help="of every random choice (default %(default)s)")
    options = parse_training(parser, arguments)
    recipe = replace(DEFAULTS, steps=options.steps, seed=options.seed)
    return run_training(
        lambda: train_and_save(options.data, options.output, recipe, options.folds, options.sets, options.sample)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
