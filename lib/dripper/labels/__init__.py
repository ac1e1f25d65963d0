"""Who decides which blocks are main content: :func:`load` gives a labeler by name."""

from dripper.labels.base import ExplainingLabeler, Labeler, Labels, SimplifiedLabeler, SimplifiedPage
from dripper.labels.fallback import Fallback, fall_back
from dripper.labels.registry import load

__all__ = [
    "ExplainingLabeler",
    "Fallback",
    "Labeler",
    "Labels",
    "SimplifiedLabeler",
    "SimplifiedPage",
    "fall_back",
    "load",
]
