"""Who labels in which stage, by the settings of a run."""

from dripper.config import LabelerSettings, Settings
from dripper.errors import SettingsError
from dripper.labels.chain import chain_of
from dripper.labels.registry import find_entry, in_stages, runs_staged


def who_labels(settings: Settings) -> tuple[LabelerSettings | None, LabelerSettings | None]:
    """Return who labels on the way to the middle stage of a staged run, and who in it."""
    if settings.sites.enabled and len(chain_of(settings.labeler.name)) == 1:
        return settings.labeler, None
    return in_stages(settings.labeler)


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
    first, *others = chain_of(labeler.name)
    if len(others) > 1 or (others and find_entry(first).staged):
        raise SettingsError(
            f"labeler.name={labeler.name}: sites.enabled is for one labeler, or for two of which the first labels every page on "
            "CPUs, as cpu,lm"
        )
    if others and labeler.escalate_share is not None:
        raise SettingsError(
            "labeler.escalate_share is for chains without sites.enabled: of a layout sites.representatives pages go on, of pages "
            "in no layout those below labeler.escalate_below"
        )
    if not find_entry(first).tells_confidence:
        raise SettingsError(
            f"labeler.name={labeler.name}: sites.enabled goes by probabilities and a confidence, which {first} does not "
            "give; cpu does"
        )
    return True
