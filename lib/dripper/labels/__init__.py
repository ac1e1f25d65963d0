"""Labelers, which decide which blocks of a page are main content. :func:`load` loads a labeler by
name. To add a labeler, write a `LabelerEntry`."""

from dripper.labels.base import (
    Closable,
    ExplainingLabeler,
    Labeler,
    LabelerStoppedError,
    Labels,
    SimplifiedLabeler,
    SimplifiedPage,
)
from dripper.labels.entry import LabelerEntry, Use
from dripper.labels.fallback import Fallback, fall_back
from dripper.labels.registry import load

__all__ = [
    "Closable",
    "ExplainingLabeler",
    "Fallback",
    "Labeler",
    "LabelerEntry",
    "LabelerStoppedError",
    "Labels",
    "SimplifiedLabeler",
    "SimplifiedPage",
    "Use",
    "fall_back",
    "load",
]
