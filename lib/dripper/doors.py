"""Provides registries, which find parts (labelers, profiles and formats) by name.

The registry of each kind lists the parts in this distribution as `module:attribute`, and imports a
part on first use. Other packages add parts through entry points in the registry's group. A part has
the name of its entry point.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TypeVar

from dripper.errors import MachineError

T = TypeVar("T")


class Doors(Mapping[str, T]):
    """A registry: a read-only mapping from names to parts of one kind, such as labelers."""

    def __init__(self, kind: str, group: str, own: Mapping[str, str], companion: str = "") -> None:
        """Create a registry.

        Args:
            kind: The noun that error messages use for a part, such as "labeler".
            group: The entry point group in which other packages declare parts.
            own: The parts in this distribution: name → `module:attribute`. These parts are not
                declared as entry points, because the zip that Spark sends to its workers contains
                no entry points.
            companion: The location, as `module:attribute`, of a second mapping like `own`. The
                package of this mapping may be missing.
        """
        self.kind = kind
        self.group = group
        self._own = own
        self._companion = companion

    def __getitem__(self, name: str) -> T:
        """Return the part called `name`. Raises KeyError if the name is unknown, MachineError if
        another package's part cannot be loaded."""
        own = self.own()
        if name in own:
            part: T = resolve_name(own[name])
            return part
        for point in entry_points(group=self.group, name=name):
            try:
                loaded: T = point.load()
            except Exception as error:  # another package's code may raise anything; the message names the package
                raise MachineError(
                    f"the {self.kind} {name!r} of {point.value} cannot be loaded: {type(error).__name__}: {error}"
                ) from error
            return loaded
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """Yield all names, beginning with the parts in this distribution."""
        own = self.own()
        yield from own
        yield from sorted({point.name for point in entry_points(group=self.group)} - set(own))

    def __len__(self) -> int:
        """Return the number of parts."""
        return sum(1 for _ in self)

    def own(self) -> Mapping[str, str]:
        """Return a mapping from names to `module:attribute`, for this distribution's parts."""
        return {**self._own, **_find_companion(self._companion)} if self._companion else self._own


@cache
def _find_companion(place: str) -> Mapping[str, str]:
    """Return the mapping at `place`, or an empty mapping if its package is missing."""
    if find_spec(place.partition(".")[0]) is None:
        return {}
    found: Mapping[str, str] = resolve_name(place)
    return found
