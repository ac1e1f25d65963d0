"""Labelers by name: those of this package, and those that other packages register as entry points."""

import difflib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from dripper.errors import MachineError, SettingsError
from dripper.labels.base import Labeler
from dripper.labels.entry import DEFAULT_FALLBACK, LabelerEntry, Use
from dripper.settings import LabelerSettings, LabelsSettings, Section
from dripper.validation import validate

GROUP = "dripper.labelers"
"""The group of entry points; each is named like its labeler and points to a LabelerEntry."""
BUILT_IN: Mapping[str, str] = {
    "cpu": "dripper.labels.cpu.entry:CPU",
    "trafilatura": "dripper.labels.baselines:TRAFILATURA",
    "all": "dripper.labels.baselines:ALL",
    "lm": "dripper.labels.lm.entry:LM",
}
"""Where the entries of this package are: no entry points, as a zip that Spark sends to its workers
has none."""
COMPOSITES: Mapping[str, str] = {
    "vote": "dripper.labels.vote.entry:vote_entry",
    "weighted": "dripper.labels.vote.entry:vote_entry",
}
"""By the kind of labelers named `kind:members`: the function that makes an entry from such a name."""


def load(name: str, **options: Any) -> Labeler:
    """Return the labeler of that name, ready to use: weights are read here, once, not on the first
    page.

    options: the settings of the section `labels.<name>`, for instance `load("lm", model="…",
    decoder="fsm")`; of a labeler that asks others, the sections of its members, as in
    `load("vote:cpu,trafilatura", cpu={"title": "include"})`. Raises SettingsError for an unknown
    name or option, saying which is nearest and which there are, and MachineError where the
    labeler's weights or packages cannot be had.
    """
    entry = find_entry(name)
    return entry.load(check_options(entry, options))


def names() -> list[str]:
    """Return the names of all labelers, this package's first."""
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - set(BUILT_IN))]


@cache
def find_entry(name: str) -> LabelerEntry:
    """Return the entry of a labeler. Raises SettingsError for an unknown name, MachineError where
    it cannot be loaded.

    >>> find_entry("lm").staged
    True
    """
    kind, colon, _ = name.partition(":")
    if name in BUILT_IN:
        entry = _attribute(BUILT_IN[name])
    elif colon and kind in COMPOSITES:
        entry = _attribute(COMPOSITES[kind])(name)
    else:
        entry = _load_entry_point(name)
    if not isinstance(entry, LabelerEntry) or entry.name != name:
        raise MachineError(f"the entry point {name!r} of the group {GROUP} is no LabelerEntry of that name")
    return entry


def _attribute(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def _load_entry_point(name: str) -> Any:
    for point in entry_points(group=GROUP, name=name):
        try:
            return point.load()
        except Exception as error:  # Another package's code: whatever it raises, a person has to know whose it is.
            raise MachineError(
                f"the labeler {name!r} of {point.value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
    near = difflib.get_close_matches(name, names(), n=1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise SettingsError(f"no labeler {name!r}{hint}. There are: {', '.join(names())}")


def check_options(entry: LabelerEntry, options: Mapping[str, Any]) -> Any:
    """Return the section of a labeler's settings, what is not given as by default; of one that asks
    others, the section of each by its name. Raises SettingsError."""
    if entry.members:
        unknown = sorted(set(options) - set(entry.members))
        if unknown:
            raise SettingsError(
                f"the labeler {entry.name!r} has the settings of its members alone; given: {', '.join(unknown)}"
            )
        return {member: check_options(find_entry(member), options.get(member, {})) for member in entry.members}
    if options and isinstance(options, Mapping) and not entry.settings.model_fields:
        raise SettingsError(f"the labeler {entry.name!r} has no settings; given: {', '.join(options)}")
    return validate(entry.settings, options, f"labels.{entry.name}.")


def labeler_settings(name: str, labels: LabelsSettings) -> Any:
    """Return the section of one labeler, of the class that its entry has."""
    return check_options(find_entry(name), options_of(name, labels))


def options_of(name: str, labels: LabelsSettings) -> dict[str, Any]:
    """Return what is set for a labeler, as the options of :func:`load`: its own section, or those of
    its members."""
    members = find_entry(name).members
    return {member: options_of(member, labels) for member in members} if members else labels.options(name)


def sections(labels: Mapping[str, Any]) -> dict[str, Section]:
    """Return the sections of all labelers of this package, and of others that something is set for.
    Raises SettingsError.

    labels: what is set, by labeler.
    """
    wanted = dict.fromkeys((*BUILT_IN, *labels))
    for name in labels:
        if members := find_entry(name).members:
            raise SettingsError(
                f"there is no section labels.{name}: its members have theirs, labels.{', labels.'.join(members)}"
            )
    return {name: check_options(find_entry(name), labels.get(name, {})) for name in wanted}


def load_from_settings(labeler: LabelerSettings, labels: LabelsSettings) -> Labeler:
    """Return the labeler that the settings name. Raises as :func:`load`."""
    return load(labeler.name, **options_of(labeler.name, labels))


def check_use(name: str, labels: LabelsSettings, use: Use) -> Sequence[str]:
    """Return warnings for people before a run. Raises SettingsError where the labeler cannot work
    as the run wants it."""
    return find_entry(name).check(labeler_settings(name, labels), use)


def runs_staged(labeler: LabelerSettings) -> bool:
    """Tell whether pages are labelled in a stage of their own.

    >>> runs_staged(LabelerSettings(name="lm")), runs_staged(LabelerSettings(name="lm", staged=False))
    (True, False)
    """
    return find_entry(labeler.name).staged if labeler.staged is None else labeler.staged


def used_fallback(labeler: LabelerSettings) -> str:
    """Return the setting `fallback` with `auto` decided.

    The stage `extract` meets labels of labelers that only the machines of the stage `label` know.

    >>> used_fallback(LabelerSettings(name="lm")), used_fallback(LabelerSettings(name="elsewhere"))
    ('cpu', 'trafilatura')
    """
    if labeler.fallback != "auto":
        return labeler.fallback
    try:
        return find_entry(labeler.name).fallback
    except SettingsError:
        return DEFAULT_FALLBACK
