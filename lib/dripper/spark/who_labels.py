"""Who labels in which stage, by the settings of a run."""

from dripper.config import LabelerSettings, Settings
from dripper.errors import SettingsError
from dripper.labels.chain import chain_of
from dripper.labels.registry import find_entry, in_stages, runs_staged


def who_labels(settings: Settings) -> tuple[LabelerSettings | None, LabelerSettings | None]:
    """Return who labels on the way to the middle stage of a staged run, and who in it."""
    return (settings.labeler, None) if settings.sites.enabled else in_stages(settings.labeler)


def is_staged(settings: Settings) -> bool:
    """Tell whether a run of these settings is staged. Raises SettingsError where sites.enabled is,
    and cannot be."""
    labeler = settings.labeler
    if not settings.sites.enabled:
        return runs_staged(labeler)
    if labeler.staged is False:
        raise SettingsError(
            "sites.enabled makes a run staged, and labeler.staged=false forbids it: leave one of them out"
        )
    if len(chain_of(labeler.name)) > 1:
        raise SettingsError(
            f"labeler.name={labeler.name}: sites.enabled is for one labeler; leave the chain or sites.enabled out"
        )
    if not find_entry(labeler.name).tells_confidence:
        raise SettingsError(
            f"labeler.name={labeler.name}: sites.enabled goes by probabilities and a confidence, which this labeler does not "
            "give; cpu does"
        )
    return True
