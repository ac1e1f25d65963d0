"""Parses an annotator's answer about a page. If the answer is malformed, the error explains why."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dripper.errors import InputError

KINDS = (
    "article",
    "forum",
    "product",
    "listing",
    "collection",
    "service",
    "documentation",
    "recipe",
    "form",
    "other",
    "error",
)
"""The kinds of pages defined in `guidelines.md`."""
SURE = (1, 2, 3)
"""Degrees of certainty: 1 means guessed, 3 means certain."""
_RANGE = re.compile(r"(\d{1,7})(?:\s*[-–]\s*(\d{1,7}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Answer:
    """An annotator's answer for one page."""

    page: str
    """The number of the page in its export."""
    kind: str
    """One of KINDS."""
    main: tuple[int, ...]
    """The item_ids of the main blocks, ascending. Empty if the page has no main content."""
    sure: int
    """One of SURE."""
    annotator: str = ""
    """The name of the annotator (a model or a person); "" if unknown."""

    def row(self) -> dict[str, Any]:
        """Return the answer as a row for an answers file."""
        row = {"page": self.page, "kind": self.kind, "main": to_ranges(self.main), "sure": self.sure}
        return row | ({"annotator": self.annotator} if self.annotator else {})


def answer_of(raw: object, n_blocks: int, page: str) -> Answer:
    """Validate an answer about a page with `n_blocks` blocks. Raises InputError with the reason if
    the answer is malformed.

    Args:
        raw: The parsed JSON. `main` is a string of ranges or a list of numbers. Unknown fields are
            ignored.

    >>> answer_of({"kind": "forum", "main": "2-3,5", "sure": 3}, 9, "p1").main
    (2, 3, 5)
    """
    if not isinstance(raw, Mapping):
        raise InputError("an answer is a JSON object with kind, main and sure")
    missing = [name for name in ("kind", "main", "sure") if name not in raw]
    if missing:
        raise InputError(f"the answer lacks {' and '.join(missing)}")
    kind = str(raw["kind"]).strip().lower()
    if kind not in KINDS:
        raise InputError(f"kind {raw['kind']!r} is unknown: one of {', '.join(KINDS)}")
    sure = str(raw["sure"]).strip()
    if sure not in map(str, SURE):
        raise InputError(f"sure is {raw['sure']!r}: 1, 2 or 3")
    main = tuple(_numbers(raw["main"], n_blocks))
    if kind == "error" and main:
        raise InputError("a page of kind error has no main content, and the answer names blocks")
    return Answer(page, kind, main, int(sure), str(raw.get("annotator") or ""))


def is_blank(raw: object) -> bool:
    """Return whether this is a template line that has not been filled in."""
    return isinstance(raw, Mapping) and not any(raw.get(name, True) for name in ("kind", "main", "sure"))


def from_ranges(text: str, n_blocks: int) -> list[int]:
    """Parse a string of ranges. Return the block numbers in ascending order, without duplicates.

    Raises InputError if a part is not a range, or a number is not in 1..n_blocks.

    >>> from_ranges("5-7, 12,6", 20)
    [5, 6, 7, 12]
    """
    numbers: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise InputError(f"main has {part!r}: write ranges of block numbers such as 5-9,12")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last:
            raise InputError(f"main has {part!r}, which runs backwards")
        _check_known((first, last), n_blocks)
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def to_ranges(numbers: Iterable[int]) -> str:
    """Format block numbers as a string of ranges.

    >>> to_ranges([5, 6, 7, 12])
    '5-7,12'
    """
    ordered = sorted(set(numbers))
    if not ordered:
        return ""
    breaks = [at for at, (a, b) in enumerate(pairwise(ordered), 1) if b > a + 1]
    runs = [ordered[start:end] for start, end in pairwise([0, *breaks, len(ordered)])]
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _numbers(raw: object, n_blocks: int) -> Sequence[int]:
    if isinstance(raw, str):
        return from_ranges(raw, n_blocks)
    if isinstance(raw, list) and all(isinstance(each, int | str) and not isinstance(each, bool) for each in raw):
        return from_ranges(",".join(map(str, raw)), n_blocks)
    raise InputError(f"main is {raw!r}: write ranges of block numbers such as 5-9,12, or nothing for none")


def _check_known(numbers: Iterable[int], n_blocks: int) -> None:
    for number in numbers:
        if not 1 <= number <= n_blocks:
            raise InputError(f"main names block {number}, and the page has the blocks 1 to {n_blocks}")
