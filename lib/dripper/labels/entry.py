"""Defines `LabelerEntry`, the information about a labeler that is needed before the labeler is
loaded."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from dripper.errors import InputError, MachineError
from dripper.extras import explain_install
from dripper.labels.base import Labeler
from dripper.parse_place import local_place
from dripper.settings import Section

CountTokens = Callable[[str], int]
"""A function that counts the tokens of a page's simplified HTML."""


_THERE = "on those it runs on"

FallbackName = Literal["cpu", "trafilatura", "body", "empty"]
DEFAULT_FALLBACK: FallbackName = "trafilatura"


@dataclass(frozen=True, slots=True)
class Use:
    """The way in which a run uses a labeler. Passed to the labeler's `check`."""

    profile: str
    """The profile with which the run splits pages into blocks."""
    stages: Collection[str] = ()
    """The stages that a staged run will execute. Empty if the run is not staged."""
    is_local: bool = False
    """Whether the stages run on this machine."""


def local_folder(model: str) -> Path:
    """Convert a setting that names a folder to a path, with `~` replaced by the home folder. A
    value that is not a local path is not changed, so that the caller can report a missing folder
    and name the setting."""
    if ":/" in model and not model.startswith("dbfs:/"):
        return Path(model)
    try:
        return local_place("the folder", model)
    except InputError:
        return Path(model)


def check_packages(use: Use, extra: str, *packages: str) -> list[str]:
    """Return a warning for each package that labelling needs and this machine lacks.

    Args:
        use: How the run uses the labeler.
        extra: This project's extra that installs the packages.
        packages: The import names of the packages.

    Raises:
        MachineError: If a package is missing and pages are labelled on this machine.
    """
    if use.stages and "label" not in use.stages:
        return []
    missing = [package for package in packages if find_spec(package) is None]
    if missing and (use.is_local or not use.stages):
        verb = "is" if len(missing) == 1 else "are"
        raise MachineError(f"{' and '.join(missing)} {verb} not installed: {explain_install(extra)}")
    return [
        f"{package} is not installed on this machine; the stage label needs it {_THERE}: {explain_install(extra)}"
        for package in missing
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelerEntry:
    """A labeler's entry in the registry. Creating an entry must not load anything, so put slow
    imports inside its functions."""

    name: str
    load: Callable[[Any], Labeler]
    """Loads a labeler with the given settings. Raises SettingsError or MachineError."""
    settings: type[Section] = Section
    """The class of the settings section `labels.<name>`."""
    staged: bool = False
    """Whether the labeler runs in its own stage by default. If so, it must be a
    `SimplifiedLabeler`."""
    gpus: bool = False
    """Whether the labeler runs on GPU machines. If so, the driver never loads it."""
    count_tokens: Callable[[Any], CountTokens | None] = lambda _: None
    """Returns a token counter for the given settings, or None if the number of tokens should be
    estimated from the length of the text."""
    fallback: FallbackName = DEFAULT_FALLBACK
    """The fallback to use if labeler.fallback is auto."""
    check: Callable[[Any, Use], Sequence[str]] = lambda *_: ()
    """Checks the labeler's settings for a `Use` before the run begins. Returns warnings, or raises
    SettingsError if the labeler does not support this use."""
    reads_profile: Callable[[Any], str | None] = lambda _: None
    """Returns the profile that the checkpoint in the given settings was trained on. None if any
    profile works, or if the profile is not known on this machine. The `label` stage raises
    SettingsError for blocks of another profile."""
    tells_confidence: bool = False
    """Whether the labels have a `confidence`. Only such a labeler can be followed by another one in
    a chain."""
    needs_draft: bool = False
    """Whether the labeler needs the probabilities of a previous labeler. If so, it can run neither
    alone nor first in a chain."""
    escalate_below: float = 0.7
    """The default for labeler.escalate_below in a chain that ends with this labeler."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to set before the labeler's packages are imported."""
    members: tuple[str, ...] = ()
    """Names of the labelers that this labeler combines. If there are any, `load` and `check` get a
    dict of the members' sections, and `settings` is not used."""
