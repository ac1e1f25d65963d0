"""Reads the floors and ceilings of figures, and describes violations.

The file contains the tables `floors` and `ceilings` (dotted names such as `scores.l3s-gn1`) and
`reasons`, a list of lines. A branch that lowers a floor, raises a ceiling or removes either must
add a line to `reasons` that begins with the figure's name. Ceilings for lines of code and prose
must never rise; no reason is accepted.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dripper.errors import InputError

Figures = Mapping[str, float]
ONLY_FALL = ("house.", "prose.")
"""Prefixes of the ceilings that must never rise."""
EACH_TIME = "time."
"""The prefix of figures that are relative to the previous commit. A ceiling above USUAL_TIME needs
a new reason in each branch."""
USUAL_TIME = 1.02
"""The usual ceiling for the relative time per page."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds in a file."""

    floors: Figures
    ceilings: Figures
    reasons: tuple[str, ...] = ()

    def allow(self, name: str, value: float) -> bool:
        """Return whether a figure is within its bounds."""
        return value >= self.floors.get(name, value) and value <= self.ceilings.get(name, value)

    def bound(self, name: str) -> float | None:
        """Return the bound of a figure, or None."""
        return self.floors.get(name, self.ceilings.get(name))


def read_bounds(text: str) -> Bounds:
    """Parse a file of bounds. Raises InputError if it is invalid.

    >>> read_bounds("[floors.scores]\\nall = 0.8").floors
    {'scores.all': 0.8}
    """
    try:
        tables = tomllib.loads(text)
        reasons = tuple(map(str, tables.pop("reasons", ())))
        floors = dict(_flatten(tables.pop("floors", {})))
        ceilings = dict(_flatten(tables.pop("ceilings", {})))
    except (ValueError, AttributeError) as error:
        raise InputError(f"the file of floors and ceilings cannot be read: {error}") from error
    if tables or floors.keys() & ceilings.keys():
        wrong = ", ".join([*tables, *sorted(floors.keys() & ceilings.keys())])
        raise InputError(f"the file of floors and ceilings has names that mean nothing or two things: {wrong}")
    return Bounds(floors, ceilings, reasons)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", float(value)


def find_broken(figures: Figures, bounds: Bounds) -> list[str]:
    """Return a message for each figure that violates its bound or has no bound. Also report each
    bound without a figure if other figures of its group were measured."""
    broken = []
    for name, value in figures.items():
        bound = bounds.bound(name)
        if bound is None:
            broken.append(f"{name} is {value:g} and has no bound: give it one")
        elif not bounds.allow(name, value):
            broken.append(f"{name} is {value:g}, {'under' if name in bounds.floors else 'over'} {bound:g}")
    groups = {name.rpartition(".")[0] for name in figures}
    broken += [
        f"{name} has a bound and was not measured: take the bound out"
        for name in [*bounds.floors, *bounds.ceilings]
        if name.rpartition(".")[0] in groups and name not in figures
    ]
    return broken


def find_loosened(before: Bounds, now: Bounds) -> list[str]:
    """Return a message for each bound that was loosened without a new reason."""
    new_reasons = [line for line in now.reasons if line not in before.reasons]
    usual = {name: USUAL_TIME for name in now.ceilings if name.startswith(EACH_TIME)}
    ceilings = {**before.ceilings, **usual}
    raised = [name for name, ceiling in ceilings.items() if now.ceilings.get(name, float("inf")) > ceiling]
    sentences = [
        f"{name} was {ceilings[name]:g} and is {now.ceilings[name]:g}: this ceiling only falls"
        for name in raised
        if name.startswith(ONLY_FALL) and name in now.ceilings
    ]
    lowered = [name for name, floor in before.floors.items() if now.floors.get(name, float("-inf")) < floor]
    sentences += [
        f"{name} was {before.bound(name) or USUAL_TIME:g} and is {now.bound(name) or 'gone'}: add a line to `reasons` that "
        f"begins with {name!r} and says why"
        for name in (*lowered, *(each for each in raised if not each.startswith(ONLY_FALL)))
        if not any(line.startswith(name) for line in new_reasons)
    ]
    return sentences
