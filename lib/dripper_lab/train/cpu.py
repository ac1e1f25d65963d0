"""Train the `cpu` labeler from the archives of labelled pages:

    python -m dripper_lab.train.cpu --data DIR --output DIR --folds 2 --scored 1

Writes `cpu_weights.npz`, `model_card_cpu.md` and its `reliability_cpu.png`; `make cpu` copies them
into the repository. Reads only the sets with the role "train, ships". Training continues from
earlier weights (`weights.START`). With `--from-scratch`, it starts from random weights and takes
several times as long. Values are chosen and scores are computed on pages held out by host.
Afterwards, the shipped weights are trained on all pages with the same recipe.
"""

import argparse
import logging
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from dripper.errors import UsageError
from dripper.labels.cpu.weights import Network, Weights, load_weights
from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.antique import Antiquary, antique
from dripper_lab.train.by_site import fold_of
from dripper_lab.train.card import model_card
from dripper_lab.train.command_line import at_least, parse_training, run_training, training_parser
from dripper_lab.train.commented import Commenter
from dripper_lab.train.cross_validated import HeldOut, draw_reliability
from dripper_lab.train.crowded import Crowder
from dripper_lab.train.examples import Example, Maker, read_examples
from dripper_lab.train.folds import fit, fold_networks
from dripper_lab.train.recipe import GOING_ON, Recipe
from dripper_lab.train.switch_scores import switch_scores
from dripper_lab.train.weights import SEEN_BY_START, START, fold_network, save_weights, without_unused

log = logging.getLogger(__name__)

KEPT = 2
"""The number of networks to keep from earlier weights: the last two, unchanged since
`e8066a984df9`."""


UNCOMMENTED = frozenset({"wcxb-dev", "article-extraction-dataset", "magic-html-article", "web-kinds"})
"""No pages with comments are created from these sets if only the switch learns from such pages. The
other sets provide enough of them."""


def train_and_save(
    data: Path,
    output: Path,
    recipe: Recipe,
    folds: int,
    data_sets: Sequence[str],
    sample: int | None = None,
    keep: Path | None = None,
    scored: int | None = None,
    start: Path | None = None,
) -> Path:
    """Read examples, cross-validate, calibrate, train and save. Return the path of the weights.

    Args:
        sample: The number of pages per set; None means all.
        keep: Weights from which the last two networks are kept, for a second opinion.
        scored: The number of folds to hold out, one after another; None means all folds.
        start: Weights to continue from; None means random weights.

    Raises:
        InputError: A set is missing.
        UsageError: There are too few pages.
    """
    started = time.process_time()
    examples = _read_usable_examples(data, data_sets, recipe, sample, folds)
    earlier = None if start is None else without_unused(load_weights(start))
    unseen = _choose_unseen(examples, folds, scored or folds, start)
    networks = fold_networks(examples, recipe, folds, scored, earlier)
    held_out = HeldOut.of([page for page in unseen if networks[fold_of(page.host, folds)]], networks, earlier)
    log.info("cross-validated ROUGE-5 F1: %.4f on %d pages", held_out.calibration.f1, len(held_out.examples))
    weights = held_out.calibrated(fit(examples, recipe, earlier))
    weights = replace(weights, others=(*weights.others, *_fold_earlier_networks(keep, weights)))
    output.mkdir(parents=True, exist_ok=True)
    path = output / "cpu_weights.npz"
    save_weights(weights, path)
    card = model_card(
        version=load_weights(path).version,
        recipe=recipe,
        folds=(folds, scored or folds),
        examples=examples,
        held_out=held_out,
        cpu_seconds=time.process_time() - started,
        switched=switch_scores(held_out.examples, networks, held_out.calibration),
        parameters=sum(matrix.size for network in weights.networks for matrix in network.matrices.values()),
        kept=len(weights.others) - len(recipe.other_recipes),
        start=None if earlier is None else earlier.version,
    )
    draw_reliability(held_out, output / "reliability_cpu.png")
    (output / "model_card_cpu.md").write_text(card, encoding="utf-8")
    return path


def _read_usable_examples(
    data: Path, data_sets: Sequence[str], recipe: Recipe, sample: int | None, folds: int
) -> list[Example]:
    examples = [page for name in data_sets for page in examples_of(data, name, recipe, sample) if len(page.words)]
    if len({example.host for example in examples}) < folds:
        raise UsageError(
            f"{len(examples)} usable pages in {data} are of fewer than {folds} sites: too few to validate on"
        )
    return examples


def _choose_unseen(examples: Sequence[Example], folds: int, scored: int, start: Path | None) -> list[Example]:
    """Return the pages that can be scored. Each of these pages is in one of the folds that are held
    out one after another, and in no set that the weights in `start` were trained on."""
    unseen = [page for page in examples if start is None or page.key[0] not in SEEN_BY_START]
    unseen = [page for page in unseen if fold_of(page.host, folds) < scored]
    if not any(page.truth_words for page in unseen):
        raise UsageError(
            f"all pages are of sets that the weights in {start} were taught on, so nothing can be scored: "
            "name other sets too, or train with --from-scratch"
        )
    return unseen


def makers(recipe: Recipe) -> Mapping[str, Sequence[Maker]]:
    """Return the functions that create the variants on which the recipe's networks or the switch
    are trained, keyed by kind of variant. Each function has its own source of randomness."""

    def draw(number: int = 0) -> np.random.Generator:
        return np.random.default_rng(recipe.seed + number)

    aged = partial(antique, draw=draw(recipe.crowded_variants + recipe.antique_variants))
    used = {"commented"}
    used |= {kind for each in (recipe, *recipe.other_recipes) for kind, share in asdict(each.shares).items() if share}
    by_kind: dict[str, Sequence[Maker]] = {
        "crowded": [Crowder(draw(number)) for number in range(recipe.crowded_variants)],
        "antique": [Antiquary(draw(recipe.crowded_variants + number)) for number in range(recipe.antique_variants)],
        "antique_crowded": [Crowder(draw(recipe.crowded_variants), aged)],
        "commented": [Commenter(draw())],
        "antique_commented": [Commenter(draw(1), aged)],
    }
    return {kind: of for kind, of in by_kind.items() if kind in used}


def _fold_earlier_networks(keep: Path | None, weights: Weights) -> list[Network]:
    if keep is None:
        return []
    earlier = load_weights(keep)
    return [fold_network(earlier, network, weights) for network in earlier.others[-KEPT:]]


def examples_of(data: Path, data_set: str, recipe: Recipe, sample: int | None = None) -> Iterator[Example]:
    """Yield the examples of a data set with their variants. Variants use only pages of the same
    set."""
    of_set = makers(recipe)
    if set(of_set) == {"commented"} and data_set in UNCOMMENTED:
        of_set = {}
    yield from read_examples(read_training_pages(data, data_set, sample=sample, empty=True), of_set)


def _make_parser(defaults: Recipe) -> argparse.ArgumentParser:
    parser = training_parser("cpu", "the weights and the model card", 5, "folds of the cross-validation by host")
    parser.add_argument(
        "--epochs",
        type=at_least(1),
        default=None,
        help=f"passes over the pages (default {defaults.epochs}, from scratch {Recipe().epochs})",
    )
    parser.add_argument(
        "--seed", type=at_least(0), default=defaults.seed, help="of every random choice (default %(default)s)"
    )
    parser.add_argument(
        "--from-scratch", action="store_true", help=f"start from random weights (default: go on from {START.name})"
    )
    parser.add_argument(
        "--keep", type=Path, default=None, help="from scratch: weights whose last two networks are kept (default: none)"
    )
    parser.add_argument(
        "--scored",
        type=at_least(1),
        default=None,
        help="hold out only so many of the folds in turn, for scores and calibration (default: all)",
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Parse the command line and train. Return the exit code: 0, or 2 if the user has to fix
    something."""
    defaults = GOING_ON
    parser = _make_parser(defaults)
    options = parse_training(parser, arguments)
    if options.keep and not options.from_scratch:
        parser.error("--keep needs --from-scratch: what goes on from earlier weights keeps their last two networks")
    recipe = Recipe() if options.from_scratch else defaults
    recipe = replace(recipe, epochs=options.epochs or recipe.epochs, seed=options.seed)
    return run_training(
        lambda: train_and_save(
            options.data,
            options.output,
            recipe,
            options.folds,
            options.sets,
            options.sample,
            options.keep,
            options.scored,
            None if options.from_scratch else START,
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
