"""Reads a checkpoint for the `neuscraper` labeler. A checkpoint consists of the first layer of a
language model, its tokenizer, the transformer over nodes, and `neuscraper.json`, which defines
their shape."""

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
    """The number of tokens per node, including the begin and end tokens of the language model."""
    pooling: str = "mean"
    """The source of a node's vector. `first`: the vector of the first token, as in the paper.
    `mean`: the mean over all tokens."""
    reads: str = "simplified"
    """The text that is read. `page`: all text on the page, as in the paper. `simplified`: the text
    in the simplified HTML, which has only the first and last item of each list. Staged runs support
    only `simplified`."""
    positions: str = "single"
    """`pairs`: two consecutive nodes share a position, as in the published code."""
    outputs: int = 1
    """The number of outputs per node. 1: whether the node is main. 6: also each of
    `nodes.ANNOTATIONS`, as in the paper."""
    threshold: float = 0.5

    @classmethod
    def load(cls, folder: Path) -> "Shape":
        """Read the shape of a checkpoint. Raises MachineError if the file is missing or invalid."""
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
        """Raise MachineError if the checkpoint does not support staged runs."""
        if self.reads == "page":
            raise MachineError(
                "this checkpoint of the labeler neuscraper reads whole pages, and a run in stages has only their "
                "simplified HTML: label in one pass (labeler.staged=false), or train one with --reads simplified"
            )

    def save(self, folder: Path) -> None:
        """Write `neuscraper.json`."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def find_folder(model: str) -> Path:
    """Return the checkpoint's folder. Raises SettingsError if none is set, or MachineError if the
    folder does not exist."""
    if not model:
        raise SettingsError(
            "the labeler neuscraper needs a model: set labels.neuscraper.model to a folder that "
            "`python -m dripper_lab.train.neuscraper` wrote"
        )
    return require_folder("labels.neuscraper.model", model)


def hash_weights(folder: Path) -> str:
    """Return the name and the fingerprint of a checkpoint, for the `labeler_version` column."""
    return f"{folder.name}@{fingerprint(folder)}"


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a checkpoint. Raises MachineError if it is missing or has no padding
    token."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, ImportError) as error:
        raise MachineError(f"{folder} has no tokenizer that can be read: {str(error).splitlines()[0]}") from None
    if tokenizer.pad_token_id is None:
        raise MachineError(f"the tokenizer in {folder} has no token for padding")
    return tokenizer
