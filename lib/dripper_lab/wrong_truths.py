"""Reads `recipes/wrong_truths.jsonl`, a list of pages in training sets with wrong ground truths.

Somebody has checked each of these pages. The archives of the sets stay as published. The list is
only for training. An evaluation set keeps its wrong ground truths, because otherwise its scores
could not be compared with published scores.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from dripper.errors import InputError

FILE = "wrong_truths.jsonl"


class Fault(StrEnum):
    """The fault of a ground truth."""

    PART = "part"
    """The ground truth has only a part of the page's main content, such as the beginning of an
    article."""
    OTHER_VERSION = "other version"
    """The ground truth comes from another version of the page, so much of it is not in the HTML."""
    REPEATED = "repeated"
    """The ground truth repeats text that the page has only once."""
    GLUED = "glued"
    """The ground truth lacks spaces between the words of different blocks, so main blocks do not
    match it."""
    FURNITURE = "furniture"
    """Much or all of the ground truth consists of menus, forms or teasers."""
    NOTHING_THERE = "nothing there"
    """The page has no main content. For example, it is an error page or bare data."""


@dataclass(frozen=True, slots=True)
class WrongTruth:
    """A page that must not be used for training."""

    data_set: str
    id: str
    kind_of_fault: Fault
    reason: str
    """The reason, as a sentence."""

    @property
    def bad(self) -> str:
        """The value of the `bad` field in a row of labels."""
        return f"wrong truth: {self.kind_of_fault}"


@cache
def wrong_truths() -> Mapping[tuple[str, str], WrongTruth]:
    """Return the entries, keyed by data set and page ID. Raises InputError if a line is
    malformed."""
    text = files("dripper_lab").joinpath("recipes", FILE).read_text(encoding="utf-8")
    lines = text.removesuffix("\n").split("\n")
    entries = [parse_entry(line, number) for number, line in enumerate(lines, 1)]
    return MappingProxyType({(entry.data_set, entry.id): entry for entry in entries})


def parse_entry(line: str, number: int) -> WrongTruth:
    """Return the entry of a line. Raises InputError if it is malformed."""
    try:
        row = json.loads(line)
        return WrongTruth(**(row | {"kind_of_fault": Fault(row["kind_of_fault"])}))
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{FILE} line {number} is not an entry of the list: {error}") from error
