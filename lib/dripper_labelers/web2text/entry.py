"""Registers the `web2text` labeler."""

from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry


def _load(_: object) -> Labeler:
    from dripper_labelers.web2text.labeler import Web2TextLabeler

    return Web2TextLabeler.load()


WEB2TEXT = LabelerEntry(name="web2text", load=_load, fallback="cpu", tells_confidence=True)
