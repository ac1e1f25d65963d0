"""Defines how a checkpoint reads a page. The `dripper_encoder.json` file beside the weights
specifies this; without the file, the checkpoint is assumed to read pages as Pulpie's checkpoints
do."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from dripper.errors import MachineError

FILE = "dripper_encoder.json"
PULPIE_SEPARATOR = "<|sep|>"
PULPIE_PROFILE = "mineru-1.1"
"""The profile of the pages that Pulpie reads. They are simplified as in MinerU-HTML."""


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Reading:
    """The form of input that a model was trained on. The defaults come from Pulpie's published
    code."""

    form: Literal["html", "outline"] = "html"
    """html: a block's simplified HTML, unchanged. outline: the result of `sequence.outline`."""
    block_tokens: Annotated[int, Field(ge=0)] = 0
    """The maximum number of tokens per block; 0 means no limit."""
    context_tokens: Annotated[int, Field(ge=1)] = 8192
    overlap_blocks: Annotated[int, Field(ge=0)] = 0
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    separator: str = PULPIE_SEPARATOR

    @classmethod
    def load(cls, folder: Path) -> "Reading":
        """Read the file in a checkpoint's folder. Without the file, return Pulpie's values. Raises
        MachineError if the file is unreadable, or has an unknown field or invalid value."""
        path = folder / FILE
        if not path.exists():
            return cls()
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except ValidationError as error:
            wrong = "; ".join(
                f"{each['loc'][0]}={each['input']!r}: {each['msg'][0].lower()}{each['msg'][1:]}"
                for each in error.errors()
            )
        except TypeError:
            wrong = "it holds no object"
        except (OSError, ValueError) as error:
            wrong = str(error)
        allowed = ", ".join(field.name for field in fields(cls))
        raise MachineError(f"{path} cannot be used ({wrong}); it may hold: {allowed}")

    def save(self, folder: Path) -> None:
        """Write the file to a checkpoint's folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
