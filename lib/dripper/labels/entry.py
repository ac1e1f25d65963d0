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
    """The stages that a staged run will execute; none if one pass does everything."""
    is_local: bool = False
    """Whether the stages run on this very machine."""


def local_folder(model: str) -> Path:
    """Return the path of a setting that names a folder; `~` is the home folder. A value that cannot
    be a path is returned as it is, so that a missing folder is reported by the name of the
    setting."""
    if ":/" in model and not model.startswith("dbfs:/"):
        return Path(model)
    try:
        return local_place("the folder", model)
    except InputError:
        return Path(model)


def check_packages(use: Use, extra: str, *packages: str) -> list[str]:
    """Return a warning for each package that labelling imports and this machine lacks.

    Args:
        use: How the run uses the labeler.
        extra: The extra of this project that installs them.
        packages: Their names.

    Raises:
        MachineError: Pages are labelled here, and one of them is missing.
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
    """A labeler as the registry knows it. Creating an entry loads nothing: put slow imports into
    its functions."""

    name: str
    load: Callable[[Any], Labeler]
    """Returns the labeler with the settings given, ready to use. Raises SettingsError or
    MachineError."""
    settings: type[Section] = Section
    """The class of the section `labels.<name>`."""
    staged: bool = False
    """Whether it runs in a stage of its own by default. It must then be a `SimplifiedLabeler`."""
    gpus: bool = False
    """Whether it runs on machines with GPUs. It is then loaded only there, not on the driver."""
    count_tokens: Callable[[Any], CountTokens | None] = lambda _: None
    """Returns, for its settings, how tokens are counted; None: they are estimated from the length.
    """
    fallback: FallbackName = DEFAULT_FALLBACK
    """The meaning of the setting labeler.fallback=auto."""
    check: Callable[[Any, Use], Sequence[str]] = lambda *_: ()
    """Called with the settings before a run: raises SettingsError if the labeler cannot work with
    them, or returns warnings."""
    reads_profile: Callable[[Any], str | None] = lambda _: None
    """Returns the profile of the pages that its checkpoint reads, by its settings; None if it reads
    any, or if this machine cannot know. The stage `label` refuses blocks of another profile."""
    tells_confidence: bool = False
    """Whether its labels have a `confidence`. Others can then follow it in a chain, for the pages
    that it is unsure of."""
    needs_draft: bool = False
    """Whether it needs the probabilities of a labeler before it. It can then be neither alone nor
    the first of a chain."""
    escalate_below: float = 0.7
    """The default of labeler.escalate_below in a chain that ends with it."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that its process needs before its packages are imported."""
    members: tuple[str, ...] = ()
    """The labelers that it asks. `load` and `check` then get each member's section by its name, and
    `settings` is not used."""
