"""Where PyTorch runs: on a GPU or not, and in processes that are forked from one that has used it,
as the guard of single pages does."""

import os
from functools import cache

from dripper.errors import MachineError


@cache
def one_thread_in_children() -> None:
    """Let PyTorch use one thread in processes forked from now on: a child does not have its
    parent's pool of threads, and would wait for it for ever."""
    import torch

    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def choose_device(asked: str, setting: str) -> str:
    """Return `cuda` or `cpu`. asked: one of the two, or `auto`. setting: its name. Raises
    MachineError where a GPU is asked for and there is none."""
    import torch

    if asked == "cuda" and not torch.cuda.is_available():
        raise MachineError(f"{setting}=cuda: PyTorch sees no GPU here")
    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return asked
