"""Splits inputs into batches for forward passes in PyTorch, and chooses the device for them."""

import os
from collections.abc import Sequence
from functools import cache

from dripper.errors import MachineError


@cache
def limit_children_to_one_thread() -> None:
    """Let PyTorch use one thread in processes forked from now on: a child does not have its
    parent's pool of threads, and would wait for it for ever."""
    import torch

    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def choose_device(device: str, setting: str) -> str:
    """Return `cuda` or `cpu`.

    Args:
        device: One of the two, or `auto`.
        setting: Its name.

    Raises:
        MachineError: If a GPU is asked for and there is none.
    """
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise MachineError(f"{setting}=cuda: PyTorch sees no GPU here")
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


def split_into_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return the indexes of chunks, those of like length together, shorter ones first.

    Args:
        lengths: Tokens of each.
        budget: Tokens of a batch with padding, so its longest times their number; a chunk that
            is longer goes alone.

    >>> split_into_batches([5, 2, 9, 3], 6)
    [[1, 3], [0], [2]]
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batches and lengths[index] * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
