"""Computes page complexity and its quartiles (SIGIR'23, 3.3): the fraction of a page's text that is
not main content.

Like the study, this command trains a logistic regression that guesses complexity without the ground
truth, and prints its accuracy:

    python -m dripper_lab.evaluation.benchmarks.complexity --data DATA
"""

import argparse
import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.errors import UsageError
from dripper_lab.datasets import read_pages
from dripper_lab.evaluation.benchmarks.wceb import OUR_SETS, is_part, read_reference, truth_of
from dripper_lab.evaluation.store import decode_page
from dripper_lab.extra import import_extra

WORD = re.compile(r"\w+")


class Level(StrEnum):
    """The three levels of the study: below the first quartile, between the quartiles, and from the
    third quartile on."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def complexity(html: str, truth: str) -> float:
    """Return 1 − (words of the ground truth / words of the body text without script and style),
    limited to 0..1.

    The study defines complexity by the tokens that belong to the ground truth, but its code counts
    the words of the ground truth and of the body. This function follows the code. A page without
    words has complexity 0; the study has no such page.
    """
    words = len(WORD.findall(body_text(html)))
    return 1 - min(1.0, len(WORD.findall(truth)) / words) if words else 0.0


def body_text(html: str) -> str:
    """Return the text of the body without script and style, as returned by the study's parser
    (Resiliparse)."""
    tree: Any = import_extra("resiliparse.parse.html").HTMLTree.parse(html.encode("utf-8", "replace").decode())
    if tree.body is None:
        return ""
    for element in tree.body.query_selector_all("script, style"):
        element.decompose()
    return str(tree.body.text)


def quartiles(complexities: Sequence[float]) -> tuple[float, float]:
    """Return the first and third quartiles."""
    low, high = np.quantile(np.asarray(complexities), [0.25, 0.75])
    return float(low), float(high)


def level(value: float, thresholds: tuple[float, float]) -> Level:
    """Return the complexity level of a page: low below the first threshold, high from the second
    threshold on, as in the study's code.

    >>> level(0.5, (0.2, 0.7))
    <Level.MEDIUM: 'medium'>
    """
    if value < thresholds[0]:
        return Level.LOW
    return Level.MEDIUM if value < thresholds[1] else Level.HIGH


ELEMENTS = ("h1", "h2", "h3", "h4", "h5", "h6", "a", "br", "strong", "em", "div", "p", "ul", "table")
"""The study's classifier has a feature for each of these elements: its fraction among all elements.
One more feature is the number of elements per word."""
TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*)")
TRAIN_SHARE = 0.25

Floats = npt.NDArray[np.float64]


def features(html: str) -> list[float]:
    """Return the features of a page: the fraction of each of `ELEMENTS` among its elements, and the
    logarithm of the number of elements per word."""
    names = [name.lower() for name in TAG.findall(html)]
    shares = [names.count(name) / max(1, len(names)) for name in ELEMENTS]
    return [*shares, float(np.log((1 + len(names)) / (1 + len(WORD.findall(body_text(html))))))]


def fit_logistic(rows: Floats, labels: npt.NDArray[np.bool_], ridge: float = 1.0, steps: int = 30) -> Floats:
    """Fit a logistic regression with Newton's method. Return its weights, with the intercept last.

    Args:
        ridge: The penalty for squared weights. It does not apply to the intercept.
    """
    inputs = np.column_stack([rows, np.ones(len(rows))])
    weights, cost = np.zeros(inputs.shape[1]), np.diag([ridge] * rows.shape[1] + [1e-9])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        slope = inputs.T @ (chance - labels) + cost @ weights
        weights = weights - np.linalg.solve((inputs.T * (chance * (1 - chance))) @ inputs + cost, slope)
    return weights


def guess_accuracy(rows: Floats, complexities: Floats, seed: int) -> float:
    """Train a classifier on a quarter of the pages. On the other pages, return its accuracy in
    guessing whether the complexity is above the median."""
    high = complexities > np.median(complexities)
    drawn = np.random.default_rng(seed).permutation(len(rows))
    cut = int(TRAIN_SHARE * len(rows))
    train, test = drawn[:cut], drawn[cut:]
    centre, spread = rows[train].mean(axis=0), rows[train].std(axis=0) + 1e-9
    scaled = (rows - centre) / spread
    weights = fit_logistic(scaled[train], high[train])
    guesses = scaled[test] @ weights[:-1] + weights[-1] > 0
    return float((guesses == high[test]).mean())


def main(arguments: Sequence[str]) -> int:
    """Print the accuracy for the available WCEB pages. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation.benchmarks.complexity", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of the data sets")
    parser.add_argument("--sample", type=int, help="pages a set (default: all)")
    parser.add_argument("--seeds", type=int, default=10, help="draws of the quarter (default %(default)s)")
    options = parser.parse_args(arguments)
    rows, values = [], []
    try:
        reference = read_reference(options.data)
        for name in (name for name in OUR_SETS if (options.data / f"{name}.tar.xz").exists()):
            for page in read_pages(options.data, name, sample=options.sample):
                if is_part(page, reference):
                    html = decode_page(page)
                    rows.append(features(html))
                    values.append(complexity(html, truth_of(page)))
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    accuracies = [guess_accuracy(np.array(rows), np.array(values), seed) for seed in range(options.seeds)]
    sys.stdout.write(
        f"{len(rows)} pages: {100 * np.mean(accuracies):.1f} % right (published 80 %); "
        f"{100 * min(accuracies):.1f} to {100 * max(accuracies):.1f} % over {options.seeds} draws\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
