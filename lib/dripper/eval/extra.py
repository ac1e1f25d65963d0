"""The packages of the extra `[eval]`: loaded when first used, with a sentence for people when they are not there."""

from importlib import import_module
from typing import Any

from dripper.errors import MachineError


def load(module: str) -> Any:
    """Import a module of an optional package. Raises MachineError naming the extra where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise MachineError(f"evaluation needs {package} ({error}): pip install 'dripper-spark[eval]'") from error
