"""Implements the training loop for PyTorch models, and batches for it."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from dripper.labels.torch_device import peak_memory
from dripper_lab.train.progress import Progress

log = logging.getLogger(__name__)

T = TypeVar("T")

CLIPPED_NORM = 1.0
SORTED_BATCHES = 8
"""The number of batches that are sorted together. Chunks of similar length share a batch, so that
there is little padding."""
_AVERAGED = 50
"""The approximate number of steps over which the logged loss is averaged."""


def descend(
    model: Any,
    optimizer: Any,
    batches: Sequence[T],
    loss_of: Callable[[T], Any],
    pace: Callable[[int], float],
    log_steps: int,
    after: Callable[[int], None] = lambda n_steps: None,
    progress: Progress | None = None,
) -> None:
    """Train the weights of a model, one step per batch.

    Args:
        pace: Returns the fraction of the learning rate at a step. Steps are counted from 0.
        log_steps: The number of steps between log lines.
        after: Called after each step with the number of completed steps.
        progress: Restores the training state before the first step, and saves it at intervals.
    """
    import torch

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, pace)
    done = progress.load(model, optimizer, schedule) if progress else 0
    model.train()
    started, mean = time.process_time(), torch.zeros(())
    for n_steps, batch in enumerate(batches[done:], done + 1):
        loss = loss_of(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIPPED_NORM)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        # The mean is only read when it is logged. Reading it after every step would make a GPU
        # wait.
        mean = torch.lerp(mean.to(loss), loss.detach(), 1 / min(n_steps - done, _AVERAGED))
        if n_steps % log_steps == 0 or n_steps == len(batches):
            seconds = time.process_time() - started
            log.info("step %d of %d, loss %.4f, %.0f CPU seconds", n_steps, len(batches), float(mean), seconds)
        after(n_steps)
        if progress:
            progress.save(model, optimizer, schedule, n_steps, is_last=n_steps == len(batches))
    model.eval()
    device = next(model.parameters()).device.type
    log.info("%s: at most %.1f GB of memory", device, peak_memory(device) / 1e9)


def batches_of_like_length(
    pieces: Sequence[T], length: Callable[[T], int], size: int, draw: np.random.Generator
) -> Iterator[list[T]]:
    """Yield all pieces in batches of `size` pieces of similar length. Groups of SORTED_BATCHES
    batches are shuffled."""
    for first in range(0, len(pieces), size * SORTED_BATCHES):
        alike = sorted(pieces[first : first + size * SORTED_BATCHES], key=length)
        groups = [alike[start : start + size] for start in range(0, len(alike), size)]
        for group in draw.permutation(len(groups)):
            yield groups[int(group)]
