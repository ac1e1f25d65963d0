"""Reads a checkpoint's configuration, and lists how the public checkpoints were trained."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dripper.errors import MachineError, SettingsError
from dripper.labels.entry import local_folder
from dripper.labels.hub import fetch_snapshot, is_hub_name
from dripper.labels.lm.settings import import_extra

CONFIG_FILES = ["*.json", "*.txt", "*.jinja", "*.model", "*.tiktoken"]
# Number of bytes to read from every weight file. This is enough to distinguish two training
# runs of the same architecture.
FINGERPRINT_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Training:
    """The setup in which a checkpoint was trained: the prompt's name, the answer form, the way in
    which the chat template is applied, the preprocessing profile (None if unknown), and the number
    of tokens in the context that the checkpoint's authors use."""

    prompt: str
    answer: str
    chat: str
    profile: str | None = None
    context: int = 32_768


OWN = Training(prompt="own", answer="json", chat="once")
# Taken from the published inference code, the only public evidence of how the weights were trained:
# - v1.0 (PyPI mineru-html 1.0.0; github.com/opendatalab/MinerU-HTML, commit 3679996) passes the
#   prompt to the engine as it is, without a chat template, and answers in JSON.
# - v1.1 (PyPI mineru-html 1.1.2, vLLM backend) applies the chat template in process() and again,
#   with a system message, in generate(); the answer is compact within <answer> tags.
DRIPPER_1_0 = Training(prompt="v0", answer="json", chat="none", profile="mineru-1.0")
DRIPPER_1_1 = Training(prompt="short_compact", answer="tagged", chat="twice", profile="mineru-1.1", context=262_144)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The location, architecture and version of a causal language model."""

    name: str
    folder: Path
    """Folder with the tokenizer and config.json, and with the weights unless `name` is on a hub."""
    architecture: str
    context: int
    """Maximum number of positions, in tokens."""
    version: str
    """Name and fingerprint, for the `labeler` column."""

    @property
    def training(self) -> Training:
        """The checkpoint's training, derived from its name; `OWN` if it is not one of Dripper's
        checkpoints."""
        return _training_of(self.name, self.architecture)


def _training_of(name: str, architecture: str) -> Training:
    if "mineru-html" not in name.lower() and "dripper" not in name.lower():
        return OWN
    return DRIPPER_1_1 if "hunyuan" in architecture.lower() else DRIPPER_1_0


def find_checkpoint(model: str) -> Checkpoint:
    """Return the checkpoint in a folder or on the Hugging Face hub. From the hub, only config and
    tokenizer are fetched.

    Raises SettingsError if no model is set, and MachineError if there is no checkpoint.
    """
    if not model:
        raise SettingsError(
            "the labeler lm needs a model: set labels.lm.model to the folder of a checkpoint or its name on the hub, "
            "for instance opendatalab/MinerU-HTML-v1.1-hunyuan0.5B-compact"
        )
    folder = local_folder(model)
    here = folder.is_dir()
    if not here:
        folder = _from_hub(model)
    config = read_config(folder)
    architecture = next(iter(config.get("architectures") or ["?"]))
    if not architecture.endswith("ForCausalLM"):
        raise MachineError(f"{model} is not a causal language model: its config.json says {architecture}")
    context = int(config.get("max_position_embeddings") or 0)
    if context < 1:
        raise MachineError(f"{model}: config.json has no max_position_embeddings")
    name = folder.name if here else model
    original = str(config.get("_name_or_path") or "")
    return Checkpoint(
        name if not original or original in name else f"{name} ({original})",
        folder,
        architecture,
        context,
        # The hub keeps a snapshot in a folder named after its commit.
        f"{name}@{fingerprint(folder) if here else folder.name[:12]}",
    )


def foreign_profile(model: str, profile: str) -> str | None:
    """Return the profile that a checkpoint in a folder was trained on, if the profile is known and
    differs from `profile`."""
    trained = trained_profile(model) if local_folder(model).is_dir() else None
    return trained if trained != profile else None


def trained_profile(model: str) -> str | None:
    """Return the profile that a checkpoint was trained on; None if it is not known, or if the
    folder is not on this machine. Nothing is fetched: a hub checkpoint's profile is derived from
    its name."""
    if local_folder(model).is_dir():
        return find_checkpoint(model).training.profile
    return _training_of(model, model).profile if is_hub_name(model) else None


def fingerprint(folder: Path) -> str:
    """Return 12 hexadecimal digits that identify a checkpoint: a hash of config.json and of the
    names, sizes and last bytes of the weight files."""
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")]):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}".encode())
        with file.open("rb") as stream:
            stream.seek(max(0, size - FINGERPRINT_BYTES))
            digest.update(stream.read())
    return digest.hexdigest()[:12]


def read_config(folder: Path) -> dict[str, Any]:
    """Return the config.json in a checkpoint's folder. Raises MachineError."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MachineError(f"{folder} is not a checkpoint: config.json: {error}") from None
    if not isinstance(config, dict):
        raise MachineError(f"{folder} is not a checkpoint: config.json holds no object")
    return config


def _from_hub(model: str) -> Path:
    if ":/" in model:
        raise MachineError(
            f"labels.lm.model={model} is an address: fetch the checkpoint, and set the path of its folder"
        )
    if not is_hub_name(model):
        raise MachineError(f"labels.lm.model={model}: there is no such folder")
    return fetch_snapshot("labels.lm.model", model, CONFIG_FILES, import_extra("huggingface_hub"))
