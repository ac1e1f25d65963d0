"""The pages of training sets with labels that were checked and found wrong: the list
`recipes/wrong_truths.jsonl`.

The archives of the sets stay as published; this list is our addition. It is only for training: an
evaluation set with a wrong truth keeps it, or its scores could be no longer compared with others'.
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
    """The fault of a truth."""

    PART = "part"
    """It has only a part of the page's main content: the beginning of an article, the first of
    several entries."""
    OTHER_VERSION = "other version"
    """It was made of another state of the page: much of it is nowhere in the HTML."""
    REPEATED = "repeated"
    """It repeats text that the page has once."""
    GLUED = "glued"
    """Its words are glued together although blocks separate them, so main blocks are mistaken for
    others."""
    FURNITURE = "furniture"
    """It holds menus, forms or teasers, much of it or all."""
    NOTHING_THERE = "nothing there"
    """The page has no main content: an error page, bare data."""


@dataclass(frozen=True, slots=True)
class WrongTruth:
    """One page that nothing should be taught with."""

    data_set: str
    id: str
    kind_of_fault: Fault
    reason: str
    """A sentence."""

    @property
    def bad(self) -> str:
        """The value of the field `bad` in a row of labels."""
        return f"wrong truth: {self.kind_of_fault}"


@cache
def wrong_truths() -> Mapping[tuple[str, str], WrongTruth]:
    """Return the list by data set and id. Raises InputError for a line that is not in form."""
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
