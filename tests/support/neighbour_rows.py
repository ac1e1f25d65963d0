"""Tables in docs/neighbours: a row for each case names the readers that are not right."""

import re
from collections.abc import Mapping, Sequence

RIGHT, NOT_ASKED = "right", "–"
_ROW = re.compile(r"\| (.*) \| (.*) \|")


def write_rows(heading: str, found: Mapping[str, Mapping[str, str]]) -> str:
    """Return the table in Markdown. Readers with the same outcome are together.

    Args:
        heading: The heading of the first column.
        found: Case → reader → outcome.

    >>> print(write_rows("case", {"a": {"x": "right", "y": "lost"}, "b": {"x": "right", "y": "–"}}))
    | case | not right |
    |---|---|
    | a | lost: y |
    | b | none |
    """
    return "\n".join([f"| {heading} | not right |", "|---|---|", *map(_write_row, found, found.values())])


def _write_row(case: str, outcomes: Mapping[str, str]) -> str:
    asked = [reader for reader, outcome in outcomes.items() if outcome != NOT_ASKED]
    readers: dict[str, list[str]] = {}
    for reader in asked:
        readers.setdefault(outcomes[reader], []).append(reader)
    wrong = [f"{outcome}: {_list(names, asked)}" for outcome, names in readers.items() if outcome != RIGHT]
    return f"| {case} | {'<br>'.join(wrong) or 'none'} |"


def _list(names: Sequence[str], asked: Sequence[str]) -> str:
    return "all" if len(names) == len(asked) else ", ".join(names)


def read_rows(page: str) -> dict[str, dict[str, str]]:
    """Return the tables of a page: case → reader → outcome, but for the right ones."""
    cells = [match.groups() for match in map(_ROW.fullmatch, page.splitlines()) if match]
    return {case: dict(_read_cell(cell)) for case, cell in cells if cell not in ("not right", "---")}


def _read_cell(cell: str) -> list[tuple[str, str]]:
    outcomes = [part.rpartition(": ") for part in cell.split("<br>") if cell != "none"]
    return [(name, outcome) for outcome, _, names in outcomes for name in names.split(", ")]


def count_right(found: Mapping[str, Mapping[str, str]]) -> str:
    """Return how many cases each reader has right, of the cases that it was asked.

    >>> count_right({"a": {"x": "lost", "y": "right"}, "b": {"x": "right", "y": "–"}})
    'x 1 of 2, y 1 of 1'
    """
    right: dict[str, list[bool]] = {}
    for outcomes in found.values():
        for reader, outcome in outcomes.items():
            right.setdefault(reader, [])
            right[reader] += [outcome == RIGHT] * (outcome != NOT_ASKED)
    return ", ".join(f"{reader} {sum(each)} of {len(each)}" for reader, each in right.items())
