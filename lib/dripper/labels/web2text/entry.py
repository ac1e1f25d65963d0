"""The labeler `web2text` for the registry."""

from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry
from dripper.labels.web2text.settings import Web2TextSettings


def _load(settings: Web2TextSettings) -> Labeler:
    from dripper.labels.web2text.labeler import Web2TextLabeler

    return Web2TextLabeler.load(pair_weight=settings.pair_weight)


WEB2TEXT = LabelerEntry(name="web2text", load=_load, settings=Web2TextSettings, fallback="cpu", tells_confidence=True)
