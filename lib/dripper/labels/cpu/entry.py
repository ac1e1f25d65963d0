"""The labeler `cpu` for the registry."""

from dripper.labels.base import Labeler
from dripper.labels.cpu.settings import CpuSettings
from dripper.labels.entry import LabelerEntry


def _load(settings: CpuSettings) -> Labeler:
    from dripper.labels.cpu.conventions import Conventions
    from dripper.labels.cpu.labeler import CpuLabeler

    return CpuLabeler.load(conventions=Conventions(settings.comments, settings.title))


CPU = LabelerEntry(name="cpu", load=_load, settings=CpuSettings, fallback="body", tells_confidence=True)
"""Its fallback is every block: it marks none only where no block has a word."""
