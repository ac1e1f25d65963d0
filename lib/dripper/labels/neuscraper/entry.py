"""The labeler `neuscraper` for the registry; importing this loads neither PyTorch nor a
tokenizer."""

from collections.abc import Sequence

from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry, Use, absent
from dripper.labels.neuscraper.settings import NeuScraperSettings


def _load(settings: NeuScraperSettings) -> Labeler:
    from dripper.labels.neuscraper.labeler import NeuScraperLabeler

    return NeuScraperLabeler.load(settings)


def _check(settings: NeuScraperSettings, use: Use) -> Sequence[str]:
    if not settings.model and (not use.stages or "label" in use.stages):
        raise SettingsError(
            "the labeler neuscraper needs a checkpoint: set labels.neuscraper.model to a folder that "
            "`python -m dripper.train.neuscraper` wrote"
        )
    return absent("labels.neuscraper.model", settings.model, use)


NEUSCRAPER = LabelerEntry(
    name="neuscraper", load=_load, settings=NeuScraperSettings, staged=True, gpus=True, fallback="cpu", check=_check
)
