"""How a checkpoint reads a page: the file `dripper_encoder.json` beside its weights, or Pulpie's
way."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from dripper.errors import MachineError

FILE = "dripper_encoder.json"
FORMS = ("html", "outline")
PULPIE_SEPARATOR = "<|sep|>"
PULPIE_PROFILE = "mineru-1.1"
"""Its pages are simplified as MinerU-HTML does."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model was trained to read. The defaults are those of Pulpie's published code."""

    form: str = "html"
    """html: the simplified HTML of a block as it is; outline: see `outline`."""
    block_tokens: int = 0
    """So many tokens of a block at most; 0: all."""
    context_tokens: int = 8192
    overlap_blocks: int = 0
    threshold: float = 0.5
    separator: str = PULPIE_SEPARATOR

    @classmethod
    def load(cls, folder: Path) -> "Reading":
        """Return what a checkpoint's folder says; without the file it is Pulpie's. Raises
        MachineError for a file that cannot be read or says what this version does not know."""
        path = folder / FILE
        if not path.exists():
            return cls()
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            reading = cls(**said)
        except (OSError, ValueError, TypeError) as error:
            raise MachineError(
                f"{path} cannot be used ({error}); it may hold: {', '.join(field.name for field in fields(cls))}"
            ) from None
        if reading.form not in FORMS:
            raise MachineError(f"{path}: form={reading.form!r} is none of {', '.join(FORMS)}")
        return reading

    def save(self, folder: Path) -> None:
        """Write the file."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
