"""Labelers by name."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from dripper.config import cpu_settings, lm_settings
from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.baselines import AllLabeler, TrafilaturaLabeler
from dripper.labels.cpu.conventions import Conventions
from dripper.labels.cpu.labeler import CpuLabeler
from dripper.optional import needed


def load(name: str, **options: Any) -> Labeler:
    """Return the labeler of that name, ready to use: weights are read here, once, not on the first page.

    options: the settings of the section `labels.<name>`, for instance `load("lm", model="…", decoder="fsm")`; most labelers
    have none. Raises SettingsError for an unknown name or option, saying which is nearest and which there are, and
    MachineError where the labeler's weights or packages cannot be had.
    """
    if name not in LABELERS:
        near = difflib.get_close_matches(name, LABELERS, n=1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise SettingsError(f"no labeler {name!r}{hint}. There are: {', '.join(LABELERS)}")
    return LABELERS[name](options)


def _plain(name: str, make: Callable[[], Labeler]) -> Callable[[Mapping[str, Any]], Labeler]:
    """A labeler without settings."""

    def made(options: Mapping[str, Any]) -> Labeler:
        if options:
            raise SettingsError(f"the labeler {name!r} has no settings; given: {', '.join(options)}")
        return make()

    return made


def _cpu(options: Mapping[str, Any]) -> Labeler:
    settings = cpu_settings(options)
    return CpuLabeler.load(conventions=Conventions(settings.comments, settings.title))


def _lm(options: Mapping[str, Any]) -> Labeler:
    # Beside it the other labelers need nothing of what this one imports.
    with needed("the labeler lm", "lm"):
        from dripper.labels.lm import LmLabeler

    return LmLabeler.load(lm_settings(options))


LABELERS: Mapping[str, Callable[[Mapping[str, Any]], Labeler]] = {
    "cpu": _cpu,
    "trafilatura": _plain("trafilatura", TrafilaturaLabeler),
    "all": _plain("all", AllLabeler),
    "lm": _lm,
}
