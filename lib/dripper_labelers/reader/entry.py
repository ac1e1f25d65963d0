"""Registers the `reader` labeler, which runs after another labeler in a chain. Importing this
module does not load ONNX Runtime or a tokenizer."""

from collections.abc import Sequence

from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry, Use, check_packages
from dripper.settings import Section


def _load(_: Section) -> Labeler:
    from dripper_labelers.reader.labeler import ReaderLabeler

    return ReaderLabeler.load()


def _check(_: Section, use: Use) -> Sequence[str]:
    return check_packages(use, "reader", "onnxruntime", "tokenizers")


READER = LabelerEntry(
    name="reader",
    load=_load,
    fallback="cpu",
    check=_check,
    tells_confidence=True,
    needs_draft=True,
    escalate_below=0.85,
)
