"""Imports packages of the `[eval]` extra."""

from typing import Any

from dripper import extras as optional


def import_extra(module: str) -> Any:
    """Import an optional module. Raises MachineError with the name of the extra if it is not
    installed."""
    return optional.import_extra(module, "evaluation needs", optional.explain_install("eval"))
