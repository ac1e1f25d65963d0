"""The packages of the extra `[eval]`."""

from typing import Any

from dripper import optional


def load(module: str) -> Any:
    """Import a module of an optional package. Raises MachineError naming the extra where it is not installed."""
    return optional.load(module, "evaluation needs", optional.install("eval"))
