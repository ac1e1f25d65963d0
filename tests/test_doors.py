"""Parts are found by name, wherever they come from."""

from dataclasses import dataclass

import pytest

from dripper import doors
from dripper.doors import Doors
from dripper.errors import MachineError


@dataclass(frozen=True)
class Point:
    name: str
    loaded: object
    value: str = "other_package:PART"

    def load(self) -> object:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Doors[object]:
    """One part of our own, and two of another package."""
    points = [Point("b", 2), Point("broken", ImportError("no torch")), Point("pi", 3)]
    found = lambda group, name=None: [each for each in points if name in (None, each.name)]  # noqa: E731
    monkeypatch.setattr(doors, "entry_points", found)
    return Doors("number", "dripper.numbers", {"pi": "math:pi"}, "no_such_package.entries:PARTS")


def test_own_parts_come_first_and_win(parts: Doors[object]) -> None:
    assert list(parts) == ["pi", "b", "broken"]
    assert (round(float(str(parts["pi"])), 2), parts["b"]) == (3.14, 2)
    assert list(parts.own()) == ["pi"]


def test_an_unknown_name_and_a_broken_part(parts: Doors[object]) -> None:
    assert parts.get("c") is None
    with pytest.raises(
        MachineError, match="the number 'broken' of other_package:PART cannot be loaded: ImportError: no torch"
    ):
        parts["broken"]


def test_a_companion_adds_its_parts() -> None:
    parts: Doors[object] = Doors("number", "dripper.numbers", {"e": "math:e"}, "dripper_labelers.entries:LABELERS")
    assert set(parts.own()) > {"e", "reader"}
