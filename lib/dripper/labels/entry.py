"""Declares `LabelerEntry`: the facts about a labeler that the program needs before it loads it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from dripper.errors import InputError, MachineError
from dripper.extras import explain_install
from dripper.labels.base import Labeler
from dripper.places import local_place
from dripper.settings import Section

CountTokens = Callable[[str], int]
"""A function from a page's simplified HTML to its number of tokens."""


_THERE = "on those it runs on"

FallbackName = Literal["cpu", "trafilatura", "body", "empty"]
DEFAULT_FALLBACK: FallbackName = "trafilatura"


@dataclass(frozen=True, slots=True)
class Use:
    """The way a run uses a labeler, passed to the labeler's check."""

    profile: str
    """The rules by which the run splits pages."""
    stages: Collection[str] = ()
    """The stages that a staged run will execute; empty if one pass does everything."""
    is_local: bool = False
    """Whether the stages run on this machine."""


def local_folder(model: str) -> Path:
    """Return the path in a setting that names a folder; `~` is the home folder. A value that cannot
    be a path is returned unchanged, so that the caller reports a missing folder under the setting's
    name."""
    if ":/" in model and not model.startswith("dbfs:/"):
        return Path(model)
    try:
        return local_place("the folder", model)
    except InputError:
        return Path(model)


def check_packages(use: Use, extra: str, *packages: str) -> list[str]:
    """Return a warning for each package that labelling imports but this machine lacks.

    Args:
        use: How the run uses the labeler.
        extra: The extra of this project that installs the packages.
        packages: The names of the packages.

    Raises:
        MachineError: If pages are labelled on this machine and a package is missing.
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
    """A labeler's entry in the registry. Creating an entry loads nothing: put slow imports into its
    functions."""

    name: str
    load: Callable[[Any], Labeler]
    """Returns a labeler with the given settings, ready to use. Raises SettingsError or
    MachineError."""
    settings: type[Section] = Section
    """The class of the section `labels.<name>`."""
    staged: bool = False
    """Whether the labeler runs in its own stage by default. It must then be a
    `SimplifiedLabeler`."""
    gpus: bool = False
    """Whether the labeler runs on GPU machines. It is then loaded only there, not on the driver."""
    count_tokens: Callable[[Any], CountTokens | None] = lambda _: None
    """Returns a token counter for the given settings; None: tokens are estimated from the
    length."""
    fallback: FallbackName = DEFAULT_FALLBACK
    """The fallback that the setting labeler.fallback=auto selects."""
    check: Callable[[Any, Use], Sequence[str]] = lambda *_: ()
    """Called with the settings and the use before a run. Raises SettingsError if the labeler cannot
    run with them, or returns warnings."""
    reads_profile: Callable[[Any], str | None] = lambda _: None
    """Returns the profile that the checkpoint in the given settings reads; None if it reads any
    profile, or if its profile is not known on this machine. The stage `label` refuses blocks of
    another profile."""
    tells_confidence: bool = False
    """Whether the labels have a `confidence`. In a chain, another labeler can then follow for the
    unsure pages."""
    needs_draft: bool = False
    """Whether the labeler needs the probabilities of a previous labeler. It can then be neither
    alone nor first in a chain."""
    escalate_below: float = 0.7
    """The default of labeler.escalate_below in a chain that ends with this labeler."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that the process needs before the labeler's packages are imported."""
    members: tuple[str, ...] = ()
    """The labelers that this one asks. If there are any, `load` and `check` get each member's
    section by its name, and `settings` is not used."""
