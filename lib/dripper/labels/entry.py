"""Declares `LabelerEntry`: what the program needs of a labeler before it is loaded."""

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
    """The use that a run makes of a labeler, for its check."""

    profile: str
    """The rules by which the run splits pages."""
    stages: Collection[str] = ()
    """Stages of a staged run that are to run; none where pages are labelled on the way through one
    pass."""
    is_local: bool = False
    """Whether the stages run on this very machine."""


def local_folder(model: str) -> Path:
    """Return the path of a setting that names a folder; `~` is one's home. What cannot be one is
    returned as it is: `require_folder` reports a missing folder by the name of the setting."""
    if ":/" in model and not model.startswith("dbfs:/"):
        return Path(model)
    try:
        return local_place("the folder", model)
    except InputError:
        return Path(model)


def require_folder(setting: str, model: str) -> Path:
    """Return the folder of a checkpoint. Raises MachineError where it is not there."""
    folder = local_folder(model)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise MachineError(f"{setting}={model} is a file: name the folder that it is in")
    if ":/" in model:
        raise MachineError(f"{setting}={model} is an address: fetch the checkpoint, and set the path of its folder")
    raise MachineError(
        f"{setting}={model}: there is no such folder. A checkpoint of a model hub has to be fetched first"
    )


def check_presence(
    setting: str, model: str, use: Use, package: str = "torch", extra: str = "encoder", *, fetched: bool = False
) -> list[str]:
    """Return warnings where a run needs a checkpoint or a package that this machine lacks.

    The stage `label` may run on other machines, so that neither has to be here. Without a warning a
    mistyped path would be reported only after all pages were preprocessed.

    Args:
        setting: The name of the setting that names the checkpoint's folder.
        model: That folder.
        use: What the run wants of the labeler.
        package: The package that the stage `label` imports.
        extra: The extra of this project that installs it.
        fetched: Whether the checkpoint is fetched from a hub where it is used, so that it needs no
            folder here.

    Raises:
        MachineError: The stage runs here, and one of them is missing.
    """
    if "label" not in use.stages:
        return []
    problems = []
    if not fetched and use.is_local:
        require_folder(setting, model)
    elif not fetched and not local_folder(model).is_dir():
        problems.append(
            f"{setting}={model}: there is no such folder on this machine; the stage label needs it {_THERE}"
        )
    return [*problems, *check_packages(use, extra, package)]


def check_packages(use: Use, extra: str, *packages: str) -> list[str]:
    """Return a warning for each package that this machine lacks and whoever labels imports.

    Args:
        use: What the run wants of the labeler.
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
    """A labeler as the registry knows it. Making an entry loads nothing: imports that cost belong
    into its functions."""

    name: str
    load: Callable[[Any], Labeler]
    """Returns the labeler with the settings given, ready to use. Raises SettingsError or
    MachineError."""
    settings: type[Section] = Section
    """The class of the section `labels.<name>`."""
    staged: bool = False
    """Whether it wants a stage of its own. A labeler that can run so is a `SimplifiedLabeler`."""
    gpus: bool = False
    """Whether it is at home on machines with GPUs: then it is loaded there alone, not on the
    driver."""
    count_tokens: Callable[[Any], CountTokens | None] = lambda _: None
    """Returns, for its settings, how tokens are counted; None: they are estimated from the length.
    """
    fallback: FallbackName = DEFAULT_FALLBACK
    """The meaning of the setting labeler.fallback=auto."""
    check: Callable[[Any, Use], Sequence[str]] = lambda *_: ()
    """Called before a run with the settings: raises SettingsError where it cannot work so, or
    returns warnings."""
    reads_profile: Callable[[Any], str | None] = lambda _: None
    """Returns the profile of the pages that its checkpoint reads, by its settings; None: any, or it
    cannot be seen from this machine. The stage `label` refuses blocks of another."""
    tells_confidence: bool = False
    """Whether its labels come with a `confidence`: then others can follow it in a chain, for the
    pages that it is not sure of."""
    needs_draft: bool = False
    """Whether it only works on with the probabilities of a labeler before it: then it cannot be the
    first of a chain, nor alone."""
    reads_below: float = 0.7
    """The default of labeler.escalate_below in a chain that ends with it."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that its process needs before its packages are imported."""
    members: tuple[str, ...] = ()
    """The labelers that it asks: then `load` and `check` get a section of each of them by its name,
    and `settings` is not used."""
