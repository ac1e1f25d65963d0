"""Registers the `neuscraper` labeler and defines its settings. Importing this module does not load
PyTorch or a tokenizer."""

from collections.abc import Sequence

from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry, Use, local_folder
from dripper.settings import Section
from dripper_labelers.folders import check_presence
from dripper_labelers.neuscraper.checkpoint import Shape


class NeuScraperSettings(Section):
    """Settings for the `neuscraper` labeler, a PyTorch model small enough for a CPU."""

    model: str = ""
    """A folder with a checkpoint written by `python -m dripper_lab.train.neuscraper`."""


def _load(settings: NeuScraperSettings) -> Labeler:
    from dripper_labelers.neuscraper.labeler import NeuScraperLabeler

    return NeuScraperLabeler.load(settings)


def _check(settings: NeuScraperSettings, use: Use) -> Sequence[str]:
    if not settings.model and (not use.stages or "label" in use.stages):
        raise SettingsError(
            "the labeler neuscraper needs a checkpoint: set labels.neuscraper.model to a folder that "
            "`python -m dripper_lab.train.neuscraper` wrote"
        )
    if "label" in use.stages and (folder := local_folder(settings.model)).is_dir():
        Shape.load(folder).check_stages()
    return check_presence("labels.neuscraper.model", settings.model, use)


NEUSCRAPER = LabelerEntry(
    name="neuscraper", load=_load, settings=NeuScraperSettings, staged=True, gpus=True, fallback="cpu", check=_check
)
