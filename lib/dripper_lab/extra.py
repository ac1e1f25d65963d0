"""The packages of the extra `[eval]`."""

from typing import Any

from dripper import extras as optional


def import_extra(module: str) -> Any:
    """Import a module of an optional package. Raises MachineError naming the extra if it is not
    installed."""
    return optional.import_extra(module, "evaluation needs", optional.explain_install("eval"))
