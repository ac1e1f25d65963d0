"""Reads a checkpoint for the labeler `neuscraper`: the first layer of a language model with its
tokenizer, the transformer over nodes, and their shape in `neuscraper.json`."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from dripper.errors import MachineError, SettingsError
from dripper.labels.lm.checkpoint import fingerprint
from dripper_labelers.folders import require_folder

FILE = "neuscraper.json"
CHOICES = {
    "pooling": ("first", "mean"),
    "reads": ("page", "simplified"),
    "positions": ("single", "pairs"),
    "outputs": (1, 6),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The contents of `neuscraper.json`."""

    width: int = 256
    layers: int = 3
    heads: int = 8
    inner: int = 1024
    context_nodes: int = 384
    node_tokens: int = 10
    """The number of tokens in a node, including the language model's begin and end tokens."""
    pooling: str = "mean"
    """The source of a node's vector: `first`, the vector of its first token, as in the paper, or
    `mean`, the mean over all its tokens."""
    reads: str = "simplified"
    """`page`: all texts on the page, as in the paper. `simplified`: the texts in the simplified
    HTML, which has only the first and last item of each list, and is the only form available in
    staged runs."""
    positions: str = "single"
    """`pairs`: two consecutive nodes share a position, as in the published code."""
    outputs: int = 1
    """The number of outputs. 1: whether a node is main. 6: also each of `nodes.ANNOTATIONS`, as in
    the paper."""
    threshold: float = 0.5

    @classmethod
    def load(cls, folder: Path) -> "Shape":
        """Return a checkpoint's shape. Raises MachineError."""
        path = folder / FILE
        try:
            shape = cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise MachineError(
                f"{folder} is not a checkpoint of the labeler neuscraper: {path.name}: {error}. It may hold: "
                f"{', '.join(field.name for field in fields(cls))}"
            ) from None
        for name, values in CHOICES.items():
            if (value := getattr(shape, name)) not in values:
                raise MachineError(f"{path}: {name}={value!r} is none of {', '.join(map(str, values))}")
        return shape

    def check_stages(self) -> None:
        """Raise MachineError if the checkpoint cannot label in stages."""
        if self.reads == "page":
            raise MachineError(
                "this checkpoint of the labeler neuscraper reads whole pages, and a run in stages has only their "
                "simplified HTML: label in one pass (labeler.staged=false), or train one with --reads simplified"
            )

    def save(self, folder: Path) -> None:
        """Write the file."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def find_folder(model: str) -> Path:
    """Return the folder that the settings name. Raises SettingsError if no folder is set,
    MachineError if the folder does not exist."""
    if not model:
        raise SettingsError(
            "the labeler neuscraper needs a model: set labels.neuscraper.model to a folder that "
            "`python -m dripper_lab.train.neuscraper` wrote"
        )
    return require_folder("labels.neuscraper.model", model)


def hash_weights(folder: Path) -> str:
    """Return a checkpoint's name and fingerprint, for the column `labeler_version`."""
    return f"{folder.name}@{fingerprint(folder)}"


def load_tokenizer(folder: Path) -> Any:
    """Return the tokenizer in a checkpoint's folder. Raises MachineError."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, ImportError) as error:
        raise MachineError(f"{folder} has no tokenizer that can be read: {str(error).splitlines()[0]}") from None
    if tokenizer.pad_token_id is None:
        raise MachineError(f"the tokenizer in {folder} has no token for padding")
    return tokenizer
