"""Registers the labeler `web2text` and declares its settings."""

from pydantic import Field

from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry
from dripper.settings import Section


class Web2TextSettings(Section):
    """The labeler `web2text`."""

    pair_weight: float | None = Field(default=None, ge=0)
    """Weight of the potentials of pairs of neighbours beside those of single blocks (the paper's
    lambda). null: as the weights were chosen with; 0: each block by itself."""


def _load(settings: Web2TextSettings) -> Labeler:
    from dripper_labelers.web2text.labeler import Web2TextLabeler

    return Web2TextLabeler.load(pair_weight=settings.pair_weight)


WEB2TEXT = LabelerEntry(name="web2text", load=_load, settings=Web2TextSettings, fallback="cpu", tells_confidence=True)
