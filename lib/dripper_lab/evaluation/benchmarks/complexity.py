"""Page complexity and its quartiles (SIGIR'23, 3.3): how much of a page's text is not its main
content."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from dripper.eval.extra import import_extra

WORD = re.compile(r"\w+")


class Level(StrEnum):
    """The study's three classes: below the first quartile of its pages, between, and from the third
    quartile on."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def complexity(html: str, truth: str) -> float:
    """Return 1 − (words of the truth / words of the body's text without script and style), at least
    0 and at most 1.

    The formula speaks of text tokens that belong to the truth; the study's code counts words of
    both sides, and so does this. A page without words, which the study does not have, counts as 0.
    """
    words = len(WORD.findall(body_text(html)))
    return 1 - min(1.0, len(WORD.findall(truth)) / words) if words else 0.0


def body_text(html: str) -> str:
    """Return all text of the body but that of script and style, as the study's parser (Resiliparse)
    gives it."""
    tree: Any = import_extra("resiliparse.parse.html").HTMLTree.parse(html.encode("utf-8", "replace").decode())
    if tree.body is None:
        return ""
    for element in tree.body.query_selector_all("script, style"):
        element.decompose()
    return str(tree.body.text)


def quartiles(complexities: Sequence[float]) -> tuple[float, float]:
    """Return the first and the third quartile."""
    low, high = np.quantile(np.asarray(complexities), [0.25, 0.75])
    return float(low), float(high)


def level(value: float, thresholds: tuple[float, float]) -> Level:
    """Return the class of a page: low is below the first threshold, high from the second on, as in
    the study's code.

    >>> level(0.5, (0.2, 0.7))
    <Level.MEDIUM: 'medium'>
    """
    if value < thresholds[0]:
        return Level.LOW
    return Level.MEDIUM if value < thresholds[1] else Level.HIGH
