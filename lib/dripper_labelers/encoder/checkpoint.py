"""Finds and configures a checkpoint for the `encoder` labeler."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dripper.errors import MachineError, SettingsError
from dripper.extras import needed
from dripper.labels.arrays import FloatArray
from dripper.labels.entry import local_folder
from dripper.labels.hub import fetch_snapshot, is_hub_name
from dripper.labels.lm.checkpoint import CONFIG_FILES, fingerprint, read_config
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.sequence import Sequencer
from dripper_labelers.encoder.settings import EncoderSettings
from dripper_labelers.folders import require_folder

FILES = [*CONFIG_FILES, "*.safetensors"]
"""The files to download from a checkpoint on the hub. They never include code."""
PULPIE_SMALL = "feyninc/pulpie-orange-small"
MAIN_NAMES = ("main", "content", "1", "label_1")
"""Names for the outcome `main` in a checkpoint's `id2label`. Pulpie's checkpoint has no names, and
its second outcome is `main`."""


@dataclass(frozen=True, slots=True)
class EncoderCheckpoint:
    """A checkpoint's folder and configuration."""

    folder: Path
    version: str
    """Name and fingerprint, for the `labeler_version` column."""
    reading: Reading
    context: int
    """The number of tokens in a chunk."""
    outcomes: int
    """The number of logits at each separator: 2 for both labels, or 1 for `main` only."""
    main: int
    """The index of the logit for `main`."""
    vocabulary: int | None = None
    """The number of tokens that the weights cover; None if the configuration does not say."""
    first_place: int = 0
    """The position of a chunk's first token."""

    @classmethod
    def find(cls, settings: EncoderSettings) -> "EncoderCheckpoint":
        """Return the checkpoint that the settings name, downloading it if it is on the hub.

        Raises SettingsError if no checkpoint is set, or MachineError if the folder contains no
        checkpoint that can label blocks.
        """
        if not settings.model:
            raise SettingsError(
                "the labeler encoder needs a model: set labels.encoder.model to the folder of a checkpoint or its name on the "
                f"hub, for instance {PULPIE_SMALL}; `make encoder` trains a small one"
            )
        fetched = is_fetched(settings.model)
        folder = _fetch(settings.model) if fetched else require_folder("labels.encoder.model", settings.model)
        config, reading = read_config(folder), Reading.load(folder)
        names = _read_names(config, folder)
        outcomes = len(names) or 2
        if outcomes > 2:
            raise MachineError(f"{folder} tells {outcomes} classes apart: main and other are two")
        return cls(
            folder,
            # The hub's cache stores a snapshot in a folder named after its commit.
            f"{settings.model}@{folder.name[:12]}" if fetched else f"{folder.name}@{fingerprint(folder)}",
            reading,
            _read_context(config, reading.context_tokens),
            outcomes,
            _find_main(names, outcomes),
            config.get("vocab_size"),
            _find_first_place(config),
        )

    def margins(self, logits: FloatArray) -> FloatArray:
        """Convert logits to margins, (n,). A margin above 0 means main.

        Args:
            logits: The logits at the separators of the blocks, (n, outcomes).
        """
        return logits[:, 0] if self.outcomes == 1 else logits[:, self.main] - logits[:, 1 - self.main]

    def sequencer(self) -> Sequencer:
        """Return the sequencer that converts pages to tokens. Raises MachineError (see
        `Sequencer.load`)."""
        return Sequencer.load(self.folder, self.reading, self.context, self.vocabulary)


def is_fetched(model: str) -> bool:
    """Return whether `model` is a checkpoint on the hub."""
    return is_hub_name(model) and not local_folder(model).is_dir()


def _fetch(model: str) -> Path:
    with needed("a checkpoint of the hub", "encoder"):
        import huggingface_hub
    return fetch_snapshot("labels.encoder.model", model, FILES, huggingface_hub)


def _read_context(config: dict[str, Any], tokens: int) -> int:
    """Return the number of tokens in a chunk: `tokens`, or fewer if the model has fewer
    positions."""
    reach = config.get("max_position_embeddings")
    if not isinstance(reach, int) or reach < 1:
        return tokens
    return min(tokens, reach - _find_first_place(config))


def _find_first_place(config: dict[str, Any]) -> int:
    """Return the position of a chunk's first token. This is the padding token's ID plus 1 for
    RoBERTa, and 0 for all other models."""
    return int(config.get("pad_token_id") or 0) + 1 if "roberta" in str(config.get("model_type")) else 0


def _read_names(config: dict[str, Any], folder: Path) -> list[str]:
    """Return the names of the outcomes in lower case. The list is empty if the configuration has
    none."""
    id2label = config.get("id2label") or {}
    if not isinstance(id2label, dict) or {str(index) for index in id2label} != {
        str(index) for index in range(len(id2label))
    }:
        raise MachineError(
            f'{folder}: id2label in config.json is {id2label!r}; it has to name outcomes by number: {{"0": "other", "1": "main"}}'
        )
    return [str(id2label[index]).lower() for index in sorted(id2label, key=int)]


def _find_main(names: Sequence[str], outcomes: int) -> int:
    return 0 if outcomes == 1 else next((names.index(name) for name in MAIN_NAMES if name in names), 1)
