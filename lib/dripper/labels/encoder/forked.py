"""PyTorch in processes that are forked from one that has used it, as the guard of single pages
does."""

import os
from functools import cache


@cache
def one_thread_in_children() -> None:
    """Let PyTorch use one thread in processes forked from now on: a child does not have its
    parent's pool of threads, and would wait for it for ever."""
    import torch

    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
