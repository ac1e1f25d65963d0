"""Labelers by name."""

import difflib
from collections.abc import Callable, Mapping

from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.baselines import AllLabeler, TrafilaturaLabeler
from dripper.labels.cpu import CpuLabeler

LABELERS: Mapping[str, Callable[[], Labeler]] = {
    "cpu": CpuLabeler.load,
    "trafilatura": TrafilaturaLabeler,
    "all": AllLabeler,
}


def load(name: str) -> Labeler:
    """Return the labeler of that name, ready to use: weights are read here, once, not on the first page.

    Raises SettingsError for an unknown name, saying which is nearest and which there are, and MachineError where the
    labeler's weights cannot be read.
    """
    if name not in LABELERS:
        near = difflib.get_close_matches(name, LABELERS, n=1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise SettingsError(f"no labeler {name!r}{hint}. There are: {', '.join(LABELERS)}")
    return LABELERS[name]()
