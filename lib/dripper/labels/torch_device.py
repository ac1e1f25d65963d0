"""Chooses the device for PyTorch models, limits threads in forked processes, and measures memory.
Importing this module does not import PyTorch."""

import os
import resource
from functools import cache
from typing import Literal

from dripper.errors import MachineError

Device = Literal["auto", "cpu", "cuda"]
"""`auto` selects a GPU if there is one."""


@cache
def limit_children_to_one_thread() -> None:
    """Limit PyTorch to one thread in processes that are forked after this call. A child lacks its
    parent's thread pool, and would wait for the pool forever."""
    import torch

    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def choose_device(device: str = "auto", setting: str = "") -> str:
    """Choose between `cuda` and `cpu`.

    Args:
        device: `cuda`, `cpu` or `auto`.
        setting: The name of the setting, for messages.

    Raises:
        MachineError: If `device` is `cuda` and there is no GPU.
    """
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise MachineError(
            f"{setting}=cuda: PyTorch {torch.__version__} sees no GPU here; `nvidia-smi` says whether there is one, and whether "
            f"its driver is old for this PyTorch. {setting}=cpu runs without"
        )
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


def peak_memory(device: str) -> int:
    """Return this process's peak memory so far, in bytes. On a GPU, this is only the memory of
    PyTorch's tensors. On a CPU, it is main memory."""
    import torch

    if device == "cuda":
        return int(torch.cuda.max_memory_allocated())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
