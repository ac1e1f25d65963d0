"""From values to a section of settings, or one sentence for each value that is wrong."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dripper.errors import SettingsError
from dripper.settings import Section

S = TypeVar("S", bound=Section)


def validate(section: type[S], values: Any, prefix: str = "", known: Callable[[], Iterable[str]] | None = None) -> S:
    """Return the section with `values`, the rest as by default.

    prefix: of its keys, as people write them, with the dot. known: all keys there are, if more than
    the section's own. Raises SettingsError.
    """
    try:
        return section.model_validate(values)
    except ValidationError as error:
        names = list(known() if known else keys(section, prefix))
        raise SettingsError("\n".join(_sentence(problem, prefix, names) for problem in error.errors())) from None


def keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all settings of a section, in order of declaration."""
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name


def _sentence(problem: Mapping[str, Any], prefix: str, known: list[str]) -> str:
    place = [str(part) for part in problem["loc"]]
    key = prefix + ".".join(place) if place else prefix.rstrip(".")
    if problem["type"] == "model_type":
        inside = [name for name in known if name.startswith(key + ".")]
        return f"setting {key} is a section: set one of {', '.join(inside)}"
    if problem["type"] != "extra_forbidden":
        return f"setting {key}={problem['input']!r}: {problem['msg'][0].lower()}{problem['msg'][1:]}"
    value = problem["input"]
    while isinstance(value, dict) and value:
        # An unknown section: what stands in it tells best which one was meant.
        inner, value = next(iter(value.items()))
        key, place = f"{key}.{inner}", [*place, str(inner)]
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.4) or difflib.get_close_matches(
        place[-1], [name.rpartition(".")[2] for name in known], n=1, cutoff=0.5
    )
    nearest = next((name for name in known if near and name.endswith(near[0])), None)
    return f"unknown setting {key}" + (f"; did you mean {nearest}?" if nearest else f"; known are {', '.join(known)}")
