"""What the weights of blocks, of classes, and a teacher change in a small encoder (docs/papers.md).

python benchmarks/encoder_losses.py --base MODEL --data ../shared/data [--sets wcxb-dev]
[--sample 120] [--epochs 4] [--teacher-layers 3] [--layers 1]

Half of the sites are held out. A teacher and then students of fewer layers are trained on the pages
of the others, each from the same pretrained model. F1 is over words of the pages held out, with a
threshold of one half and with the best one of a grid; differences are paired by page, with their
95 % interval by bootstrap.
"""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper_lab.datasets import read_pages
from dripper_lab.train.by_site import put_aside
from dripper_lab.train.encoder.__main__ import THRESHOLDS
from dripper_lab.train.encoder.base import Recipe, base_model
from dripper_lab.train.encoder.examples import Example, probabilities, read_examples
from dripper_lab.train.encoder.optimise import train
from dripper_lab.train.validate import choose_threshold

STUDENTS: Mapping[str, tuple[str, bool]] = {
    "none": ("none", False),
    "words": ("words", False),
    "class": ("class", False),
    "none, distilled": ("none", True),
}
"""Name → weighting, and whether there is a teacher."""
DRAWS = 2000


def train_and_ask(
    base: Path, recipe: Recipe, learned: Sequence[Example], held: Sequence[Example], teacher: object = None
) -> tuple[object, list[FloatArray]]:
    """Return a trained model, and what it says of the pages held out."""
    model, _, sequencer = base_model(base, recipe)
    train(model, sequencer, learned, recipe, lambda: None, teacher)
    return model, [probabilities(model, sequencer, example) for example in held]


def pages_f1(held: Sequence[Example], said: Sequence[FloatArray], threshold: float) -> FloatArray:
    """Return the F1 over words of each page."""
    return np.array([page.truth.f1(each > threshold) for page, each in zip(held, said, strict=True)])


def interval(differences: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of the mean."""
    draw = np.random.default_rng(0)
    means = draw.choice(differences, (DRAWS, len(differences))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def main(arguments: Sequence[str]) -> int:
    """Print the table; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["wcxb-dev"])
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--context-tokens", type=int, default=256)
    parser.add_argument("--teacher-layers", type=int, default=3)
    parser.add_argument("--layers", type=int, default=1)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    recipe = Recipe(layers=given.layers, epochs=given.epochs, context_tokens=given.context_tokens, block_tokens=16)
    _, _, sequencer = base_model(given.base, recipe)
    pages = (page for name in given.sets for page in read_pages(given.data, name, sample=given.sample))
    learned, held = put_aside(read_examples(pages, sequencer), 2, lambda example: example.truth.host)
    held = [example for example in held if example.truth.truth_words]
    larger = replace(recipe, layers=given.teacher_layers, weighting="none")
    teacher, told = train_and_ask(given.base, larger, learned, held)
    said = {f"teacher, {given.teacher_layers} layers": told}
    print(f"{len(learned)} pages to learn from, {len(held)} held out")
    print("| weighting | F1 at 0.5 | F1 at the best | threshold | at the best, beside none |\n|---|---|---|---|---|")
    for name, (weighting, is_taught) in STUDENTS.items():
        own = replace(recipe, weighting=weighting)
        said[name] = train_and_ask(given.base, own, learned, held, teacher if is_taught else None)[1]
    choices = {name: choose_threshold([page.truth for page in held], each, THRESHOLDS) for name, each in said.items()}
    plain = pages_f1(held, said["none"], choices["none"].threshold)
    for name, choice in choices.items():
        gains = pages_f1(held, said[name], choice.threshold) - plain
        low, high = interval(gains)
        print(
            f"| {name} | {choice.f1_at_half:.3f} | {choice.f1:.3f} | {choice.threshold:g} | "
            f"{gains.mean():+.3f} ({low:+.3f} to {high:+.3f}) |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
