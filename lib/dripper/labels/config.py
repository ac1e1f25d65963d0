"""Reads settings from the defaults, then from `conf/*.yml`, then from `--set key=value`. Each layer
overrides the previous one. Also defines the flags that commands share.

A job's `main` loads the settings once, and passes only the needed part to each function.
`conf/base.yml` lists every key with its default (a test keeps the file up to date).
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from dripper.errors import SettingsError
from dripper.labels.chain import chain_of
from dripper.labels.registry import find_entry, own_names, sections
from dripper.parse_place import local_place
from dripper.settings import LabelsSettings, Settings, validate
from dripper.settings import keys as section_keys


def load(files: Iterable[str | Path] = (), assignments: Iterable[str] = (), defaults: Iterable[str] = ()) -> Settings:
    """Load the settings from YAML files and from assignments (`section.key=value`). Later files
    override earlier ones, and assignments override files.

    Args:
        defaults: Assignments that the files override.

    Raises SettingsError if a file is missing or not a YAML mapping, if a key is unknown, or if a
    value has the wrong type or is out of range.

    >>> load(assignments=["limits.page_cpu_seconds=5"]).limits.page_cpu_seconds
    5
    """
    values: dict[str, Any] = {}
    yaml_files = map(_read_yaml, map(Path, files))
    for layer in (map(_parse_assignment, defaults), yaml_files, map(_parse_assignment, assignments)):
        for new in layer:
            _merge(values, new)
    return _check(values)


def from_values(values: Mapping[str, Any]) -> Settings:
    """Create settings from a mapping of dotted keys to values. All other settings have their
    defaults. Raises SettingsError.

    >>> from_values({"limits.page_cpu_seconds": 5}).limits.page_cpu_seconds
    5
    """
    nested: dict[str, Any] = {}
    for key, value in values.items():
        _merge(nested, _nest(key, value))
    return _check(nested)


_OF_CHAIN = "escalate_below"


def split_settings(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Settings:
    """Return settings in which `labeler` is the labeler, and `options` are set in its section.
    Raises SettingsError.

    The `escalate_below` option belongs to a chain, not to a labeler, and sets
    `labeler.escalate_below`.

    >>> split_settings("cpu", {"profile": "paper"}, {"comments": "include"}).labels.cpu.comments
    'include'
    >>> split_settings("cpu,reader", None, {"escalate_below": 0.9}).labeler.escalate_below
    0.9
    """
    if not isinstance(settings, Settings | Mapping | None):
        raise SettingsError(
            f"settings must be a mapping, such as {{'profile': 'paper'}}, not {type(settings).__name__}"
        )
    values: dict[str, Any] = settings.model_dump() if isinstance(settings, Settings) else deepcopy(dict(settings or {}))
    if labeler is not None:
        values["labeler.name"] = labeler
    name = from_values({key: values[key] for key in values if key.startswith("labeler")}).labeler.name
    is_chain = len(chain_of(name)) > 1
    if _OF_CHAIN in options:
        if not is_chain:
            raise SettingsError(
                f"{_OF_CHAIN} (labeler.{_OF_CHAIN}) says which pages the second labeler of a chain reads, and "
                f"{name!r} is a single labeler: name two, such as labeler='cpu,reader'"
            )
        options = dict(options)
        values[f"labeler.{_OF_CHAIN}"] = options.pop(_OF_CHAIN)
    # A labeler that combines others has no section. Its options are the sections of its members.
    asks_others = is_chain or find_entry(name).members
    section = "labels" if asks_others else f"labels.{name}"
    if asks_others and (plain := [key for key, value in options.items() if not isinstance(value, Mapping)]):
        raise SettingsError(
            f"{plain[0]}: {name!r} asks several labelers, so say which of them the option is for, as in cpu={{'title': 'include'}}"
        )
    return from_values(values | {f"{section}.{key}": value for key, value in options.items()})


def keys() -> Iterator[str]:
    """Yield the dotted names of all settings in the order of declaration. The sections of this
    package's labelers come last."""
    yield from section_keys(Settings)
    for labeler in own_names():
        yield from section_keys(find_entry(labeler).settings, f"labels.{labeler}.")


def _check(values: Mapping[str, Any]) -> Settings:
    settings = validate(Settings, values, list_keys=keys)
    labels = LabelsSettings.model_validate(sections(values.get("labels") or {}))
    return settings.model_copy(update={"labels": labels})


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"settings file {file} is not YAML: it is not text in UTF-8") from None
    except yaml.YAMLError as error:
        words = " ".join(str(error).replace(' in "<unicode string>",', " at").split())
        raise SettingsError(f"settings file {file} is not YAML: {words}") from None
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
    return _nest(key.strip(), value)


def _nest(key: str, value: Any) -> dict[str, Any]:
    free = "spark.properties."  # the rest of the key is a single name, which may contain dots
    *sections, last = [*free.split(".")[:2], key.removeprefix(free)] if key.startswith(free) else key.split(".")
    nested: dict[str, Any] = {last: value}
    for section in reversed(sections):
        nested = {section: nested}
    return nested


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the flags --conf and --set."""
    parser.add_argument("--conf", action="append", default=[], metavar="FILE", help="settings as YAML; later files win")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="assignments", help="one setting"
    )


def settings(arguments: argparse.Namespace, flags: Mapping[str, str | None]) -> Settings:
    """Load a command's settings. Assignments by --set override files, and `flags` override both.
    `flags` maps dotted keys to values, or to None if the flag is not given. Raises
    SettingsError."""
    assignments = [f"{key}={value}" for key, value in flags.items() if value is not None]
    files = [local_place("--conf", file) for file in arguments.conf]
    return load(files, [*arguments.assignments, *assignments], getattr(arguments, "defaults", ()))


def positive(text: str) -> int:
    """Parse a positive integer, for argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number
