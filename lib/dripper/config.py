"""Typed settings: defaults, then `conf/*.yml`, then `--set key=value`; each layer wins over the one before.

`main` of a job loads them once; everything below gets the part it needs as a value. A key nobody knows is an error that names
the nearest one. `conf/base.yml` lists every key with its default (a test holds the two together).
"""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from dripper.errors import SettingsError
from dripper.settings import (
    BatchSettings,
    CostSettings,
    CpuSettings,
    DeviceSettings,
    HtmlSettings,
    LabelerSettings,
    LabelsSettings,
    LimitSettings,
    LmSettings,
    MarkdownSettings,
    ReadSettings,
    S3Settings,
    Settings,
    SparkSettings,
    StageSettings,
)

__all__ = [
    "BatchSettings",
    "CostSettings",
    "CpuSettings",
    "DeviceSettings",
    "HtmlSettings",
    "LabelerSettings",
    "LabelsSettings",
    "LimitSettings",
    "LmSettings",
    "MarkdownSettings",
    "ReadSettings",
    "S3Settings",
    "Settings",
    "SparkSettings",
    "StageSettings",
    "cpu_settings",
    "from_values",
    "keys",
    "lm_settings",
    "load",
]


def load(files: Iterable[str | Path] = (), assignments: Iterable[str] = ()) -> Settings:
    """Return the settings of `files` (YAML, later ones win) and then of `assignments` (`section.key=value`).

    Raises SettingsError for a file that is missing or no YAML mapping, an unknown key (naming the nearest known one), a
    value of the wrong type or out of range.

    >>> load(assignments=["limits.page_cpu_seconds=5"]).limits.page_cpu_seconds
    5
    """
    values: dict[str, Any] = {}
    for file in files:
        _merge(values, _read_yaml(Path(file)))
    for assignment in assignments:
        _merge(values, _parse_assignment(assignment))
    return _validated(values)


def from_values(values: Mapping[str, Any]) -> Settings:
    """Return the settings of values by dotted key, the rest as by default. Raises SettingsError.

    >>> from_values({"limits.page_cpu_seconds": 5}).limits.page_cpu_seconds
    5
    """
    nested: dict[str, Any] = {}
    for key, value in values.items():
        _merge(nested, _nested(key, value))
    return _validated(nested)


def cpu_settings(options: Mapping[str, Any]) -> CpuSettings:
    """Return the settings of the section labels.cpu from single values, the rest as by default. Raises SettingsError."""
    return _validated({"labels": {"cpu": dict(options)}}).labels.cpu


def lm_settings(options: Mapping[str, Any]) -> LmSettings:
    """Return the settings of the section labels.lm from single values, the rest as by default. Raises SettingsError."""
    return _validated({"labels": {"lm": dict(options)}}).labels.lm


def _validated(values: Mapping[str, Any]) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("\n".join(_sentence(problem) for problem in error.errors())) from None


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {file}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"settings file {file} is not YAML: {' '.join(str(error).split())}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"settings file {file} must hold `key: value` lines, not a {type(content).__name__}")
    return content


def _parse_assignment(assignment: str) -> dict[str, Any]:
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise SettingsError(f"--set {assignment!r}: write key=value, for instance limits.page_cpu_seconds=30")
    try:
        value = yaml.safe_load(text) if text else ""
    except yaml.YAMLError:
        value = text
    return _nested(key.strip(), value)


def _nested(key: str, value: Any) -> dict[str, Any]:
    *sections, last = _key_parts(key)
    nested: dict[str, Any] = {last: value}
    for section in reversed(sections):
        nested = {section: nested}
    return nested


def _key_parts(key: str) -> list[str]:
    """`spark.properties.a.b` sets the Spark property `a.b`: what follows is one key, dots included."""
    free = "spark.properties."
    return ["spark", "properties", key.removeprefix(free)] if key.startswith(free) else key.split(".")


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _sentence(problem: Mapping[str, Any]) -> str:
    place = [str(part) for part in problem["loc"]]
    key = ".".join(place)
    if problem["type"] == "model_type":
        inside = [name for name in keys() if name.startswith(key + ".")]
        return f"setting {key} is a section: set one of {', '.join(inside)}"
    if problem["type"] != "extra_forbidden":
        return f"setting {key}={problem['input']!r}: {problem['msg'][0].lower()}{problem['msg'][1:]}"
    value = problem["input"]
    while isinstance(value, dict) and value:
        # An unknown section: what stands in it tells best which one was meant.
        inner, value = next(iter(value.items()))
        key, place = f"{key}.{inner}", [*place, str(inner)]
    known = list(keys())
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.4) or difflib.get_close_matches(
        place[-1], [name.rpartition(".")[2] for name in known], n=1, cutoff=0.5
    )
    nearest = next((name for name in known if near and name.endswith(near[0])), None)
    return f"unknown setting {key}" + (f"; did you mean {nearest}?" if nearest else f"; known are {', '.join(known)}")


def keys(section: type[BaseModel] = Settings, prefix: str = "") -> Iterable[str]:
    """Yield every setting's dotted name, in order of declaration."""
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name
