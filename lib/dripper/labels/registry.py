"""Finds labelers by name. Other packages can register labelers as entry points."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from dripper.doors import Doors
from dripper.errors import MachineError, SettingsError
from dripper.flags import suggest
from dripper.labels.base import Labeler
from dripper.labels.chain import chain_of, make_chain
from dripper.labels.entry import DEFAULT_FALLBACK, LabelerEntry, Use
from dripper.settings import LabelerSettings, LabelsSettings, Section, validate

LABELERS: Doors[LabelerEntry] = Doors(
    "labeler",
    "dripper.labelers",
    {
        "cpu": "dripper.labels.cpu.entry:CPU",
        "trafilatura": "dripper.labels.fallback:TRAFILATURA",
        "all": "dripper.labels.fallback:ALL",
        "lm": "dripper.labels.lm.entry:LM",
    },
    "dripper_labelers.entries:LABELERS",
)
"""All labelers, keyed by name. Each entry must be a `LabelerEntry` of the same name."""
COMPOSITES: Doors[Callable[[str], LabelerEntry]] = Doors(
    "kind of labeler", "dripper.composite_labelers", {}, "dripper_labelers.entries:COMPOSITES"
)
"""Labelers that combine others have names of the form `kind:members`. Maps each kind to a function
that creates an entry from such a name."""


def load(name: str, **options: Any) -> Labeler:
    """Load a labeler by name, including its weights.

    Args:
        options: The settings of the `labels.<name>` section, for example `load("lm", model="…",
            decoder="fsm")`. For a labeler that combines others, the options are the sections of its
            members, as in `load("vote:cpu,trafilatura", cpu={"title": "include"})`. For a chain
            (`cpu,trafilatura`), the options are the sections of its labelers, and `escalate_below`.

    Raises:
        SettingsError: If a name or option is unknown. The message suggests the nearest known one.
        MachineError: If the labeler's weights or packages are missing.
    """
    if len(chain_of(name)) > 1:
        below = {key: options.pop(key) for key in ("escalate_below",) if key in options}
        chain = validate(LabelerSettings, {"name": name, **below}, "labeler.")
        return load_from_settings(chain, LabelsSettings.model_validate(sections(options)))
    entry = find_entry(name)
    return entry.load(check_options(entry, options))


def names() -> list[str]:
    """Return the names of all labelers. This package's labelers come first."""
    return list(LABELERS)


def own_names() -> list[str]:
    """Return the names of the labelers in this distribution."""
    return list(LABELERS.own())


@cache
def find_entry(name: str) -> LabelerEntry:
    """Return the entry of a labeler. Raises SettingsError if the name is unknown, and MachineError
    if the entry cannot be loaded.

    >>> find_entry("lm").staged
    True
    """
    kind, colon, _ = name.partition(":")
    try:
        entry: Any = COMPOSITES[kind](name) if colon and kind in COMPOSITES else LABELERS[name]
    except KeyError:
        near = suggest(repr(kind), map(repr, COMPOSITES if colon else names())) or "."
        known = [*names(), *(f"{each}:A,B,…" for each in COMPOSITES)]
        raise SettingsError(f"no labeler {name!r}{near} There are: {', '.join(known)}") from None
    if not isinstance(entry, LabelerEntry) or entry.name != name:
        raise MachineError(f"the entry point {name!r} of the group {LABELERS.group} is not a LabelerEntry of that name")
    return entry


def check_options(entry: LabelerEntry, options: Mapping[str, Any]) -> Any:
    """Validate options as a labeler's settings section, and add defaults. For a labeler that
    combines others, return a dict of its members' sections. Raises SettingsError."""
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
    """Return the validated settings section of one labeler."""
    return check_options(find_entry(name), list_options(name, labels))


def list_options(name: str, labels: LabelsSettings) -> dict[str, Any]:
    """Return a labeler's settings as options for :func:`load`. For a labeler that combines others,
    the options are its members' sections."""
    members = find_entry(name).members
    return {member: list_options(member, labels) for member in members} if members else labels.options(name)


def sections(labels: Mapping[str, Any]) -> dict[str, Section]:
    """Return the validated settings sections of this package's labelers, and of all other labelers
    in `labels`. Raises SettingsError.

    Args:
        labels: The user's settings of each labeler.
    """
    labeler_names = dict.fromkeys((*own_names(), *labels))
    for name in labels:
        if members := find_entry(name).members:
            raise SettingsError(
                f"there is no section labels.{name}: its members have theirs, labels.{', labels.'.join(members)}"
            )
    return {name: check_options(find_entry(name), labels.get(name, {})) for name in labeler_names}


def load_from_settings(labeler: LabelerSettings, labels: LabelsSettings) -> Labeler:
    """Load the labeler or the chain of labelers in the settings. Raises the same errors as
    :func:`load`."""
    names = chain_of(labeler.name)
    if len(names) == 1:
        return load(labeler.name, **list_options(labeler.name, labels))
    check_chain(labeler, is_batch=False)
    return make_chain([load(name, **list_options(name, labels)) for name in names], bound_of(labeler))


def bound_of(labeler: LabelerSettings) -> float:
    """Return the confidence below which a page goes to the next labeler of a chain.

    >>> bound_of(LabelerSettings(name="cpu,lm")), bound_of(LabelerSettings(name="cpu,reader"))
    (0.7, 0.85)
    """
    if labeler.escalate_below is not None:
        return labeler.escalate_below
    return find_entry(chain_of(labeler.name)[-1]).escalate_below


def check_chain(labeler: LabelerSettings, *, is_batch: bool) -> None:
    """Raise SettingsError if the chain in the settings is invalid.

    Args:
        is_batch: Whether one labeler labels a whole batch of pages before the next labeler begins.
    """
    names = chain_of(labeler.name)
    if find_entry(names[0]).needs_draft:
        raise SettingsError(
            f"the labeler {names[0]} works on with the labels of another one: name that before it, for instance "
            f"labeler.name=cpu,{names[0]}"
        )
    for name in names[:-1]:
        if not find_entry(name).tells_confidence:
            raise SettingsError(
                f"labeler.name={labeler.name}: the labeler {name} does not say how sure it is of a page, so none can follow it"
            )
    if len(names) > 1 and labeler.escalate_share is not None and not is_batch:
        raise SettingsError(
            "labeler.escalate_share compares the pages of a batch, which only a staged run of two labelers does: set "
            "labeler.escalate_below instead, or, where the second can run so, labeler.staged=true"
        )


def check_use(labeler: LabelerSettings, labels: LabelsSettings, use: Use) -> Sequence[str]:
    """Check all labelers of a run before it begins, and return their warnings. Raises SettingsError
    if a labeler does not support this use."""
    names = chain_of(labeler.name)
    first = split_into_stages(labeler)[0] if use.stages else labeler
    n_first = len(chain_of(first.name)) if first else 0
    check_chain(labeler, is_batch=(n_first, len(names)) == (1, 2))
    uses = [Use(use.profile) if i < n_first else use for i in range(len(names))]
    return [
        warning
        for name, its in zip(names, uses, strict=True)
        for warning in find_entry(name).check(labeler_settings(name, labels), its)
    ]


def check_blocks(labeler: LabelerSettings, labels: LabelsSettings, profile: str) -> None:
    """Raise SettingsError if a labeler's checkpoint needs blocks of a profile other than
    `profile`."""
    for name in chain_of(labeler.name):
        its_profile = find_entry(name).reads_profile(labeler_settings(name, labels))
        if its_profile is not None and its_profile != profile:
            raise SettingsError(
                f"the blocks are of profile {profile}, and the checkpoint of the labeler {name} reads {its_profile}: preprocess "
                f"with --set profile={its_profile} into another output"
            )


def runs_staged(labeler: LabelerSettings) -> bool:
    """Return whether pages are labelled in a separate stage.

    >>> runs_staged(LabelerSettings(name="lm"))
    True
    >>> runs_staged(LabelerSettings(name="lm", staged=False))
    False
    """
    if labeler.staged is not None:
        return labeler.staged
    return any(find_entry(name).staged for name in chain_of(labeler.name))


def split_into_stages(labeler: LabelerSettings) -> tuple[LabelerSettings | None, LabelerSettings]:
    """Split the chain of a staged run into the labelers before the `label` stage (None if there are
    none) and the labelers of the `label` stage.

    >>> [stage.name for stage in split_into_stages(LabelerSettings(name="cpu,lm"))]
    ['cpu', 'lm']
    """
    names = chain_of(labeler.name)
    cut = next((i for i, name in enumerate(names) if find_entry(name).staged), len(names) - 1)
    first, last = (
        labeler.model_copy(update={"name": ",".join(part), "escalate_share": None})
        for part in (names[:cut], names[cut:])
    )
    return first if cut else None, last


def resolve_fallback(labeler: LabelerSettings) -> str:
    """Return the `fallback` setting. If it is `auto`, return the labeler's own fallback.

    For a chain, the first labeler's fallback is used. If the labeler is not installed on this
    machine, return the default: the `extract` stage may run on machines without the labeler.

    >>> resolve_fallback(LabelerSettings(name="lm"))
    'cpu'
    >>> resolve_fallback(LabelerSettings(name="elsewhere"))
    'trafilatura'
    """
    if labeler.fallback != "auto":
        return labeler.fallback
    try:
        return find_entry(chain_of(labeler.name)[0]).fallback
    except SettingsError:
        return DEFAULT_FALLBACK
