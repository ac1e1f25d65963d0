"""A checkpoint of the labeler `encoder`: a folder, what it says of itself, and what of it is
used."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dripper.errors import MachineError, SettingsError
from dripper.labels.arrays import FloatArray
from dripper.labels.encoder.reading import Reading
from dripper.labels.encoder.sequence import Sequencer
from dripper.labels.encoder.settings import EncoderSettings
from dripper.labels.lm.checkpoint import fingerprint, read_config

MAIN_NAMES = ("main", "content", "1", "label_1")
"""What the outcome `main` is called in a checkpoint's `id2label`; Pulpie's says nothing, and has it
second."""


@dataclass(frozen=True, slots=True)
class EncoderCheckpoint:
    """See the module."""

    folder: Path
    version: str
    """Name and fingerprint, for the column `labeler_version`."""
    reading: Reading
    context: int
    """Tokens of a chunk."""
    outcomes: int
    """Logits at each separator: 2, or 1 that is of `main` alone."""
    main: int
    """Which of them is of `main`."""

    @classmethod
    def find(cls, settings: EncoderSettings) -> "EncoderCheckpoint":
        """Return the checkpoint that the settings name.

        Raises SettingsError where none is set, MachineError where the folder holds none that can
        label blocks.
        """
        if not settings.model:
            raise SettingsError(
                "the labeler encoder needs a model: set labels.encoder.model to the folder of a checkpoint; `make encoder` "
                "trains a small one"
            )
        folder = Path(settings.model).expanduser()
        if not folder.is_dir():
            raise MachineError(
                f"labels.encoder.model={settings.model}: there is no such folder. A checkpoint of a model hub has to be "
                "fetched first"
            )
        config, reading = read_config(folder), Reading.load(folder)
        outcomes = len(config.get("id2label") or {}) or 2
        if outcomes > 2:
            raise MachineError(f"{folder} tells {outcomes} classes apart: main and other are two")
        return cls(
            folder,
            f"{folder.name}@{fingerprint(folder)}",
            reading,
            _context(config, settings.context_tokens or reading.context_tokens),
            outcomes,
            _main(config, outcomes),
        )

    def margins(self, logits: FloatArray) -> FloatArray:
        """Return how much speaks for each block to be main, shape (n,). logits: at their
        separators, shape (n, outcomes)."""
        return logits[:, 0] if self.outcomes == 1 else logits[:, self.main] - logits[:, 1 - self.main]

    def sequencer(self) -> Sequencer:
        """Return what makes tokens of pages. Raises MachineError as `Sequencer.load`."""
        return Sequencer.load(self.folder, self.reading, self.context)


def _context(config: dict[str, Any], wanted: int) -> int:
    """Return the tokens of a chunk: what is wanted, or what the model's positions reach."""
    reach = config.get("max_position_embeddings")
    if not isinstance(reach, int) or reach < 1:
        return wanted
    # RoBERTa numbers its positions from the one after padding on.
    lost = int(config.get("pad_token_id") or 0) + 1 if "roberta" in str(config.get("model_type")) else 0
    return min(wanted, reach - lost)


def _main(config: dict[str, Any], outcomes: int) -> int:
    if outcomes == 1:
        return 0
    names = {str(name).lower(): int(index) for index, name in (config.get("id2label") or {}).items()}
    return next((names[name] for name in MAIN_NAMES if name in names), 1)
