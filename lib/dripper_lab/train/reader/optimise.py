"""Trains the reader's network: the loss of a step, and the learning rates."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from dripper.labels.arrays import FloatArray
from dripper_lab.train.descent import batches_of_like_length, descend
from dripper_lab.train.progress import Progress
from dripper_lab.train.reader.examples import Drawn, Example, draw_windows
from dripper_lab.train.reader.network import Network
from dripper_lab.train.reader.recipe import Recipe, pace

LOG_STEPS = 20


def teach(
    model: Network,
    examples: Sequence[Example],
    recipe: Recipe,
    epochs: int,
    rate: float,
    teacher: Network | None = None,
    saved: Path | None = None,
) -> None:
    """Train the weights of `model` on the labels and, if there is a teacher, also on its
    predictions.

    Args:
        rate: The learning rate.
        saved: The file to which the training's state is saved every few minutes. If the file
            exists, the training resumes from it.
    """
    torch.manual_seed(recipe.seed)
    draw = np.random.default_rng(recipe.seed)
    device = model.head.weight.device.type
    rest = [value for value in model.parameters() if not any(value is each for each in model.new)]
    groups = [{"params": rest}, {"params": model.new, "lr": recipe.head_learning_rate}]
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01, fused=device == "cuda")
    batches = [batch for _ in range(epochs) for batch in _epoch(examples, recipe, model.shape.positions - 1, draw)]
    learning = list(model.parameters())
    means = [value.detach().clone() for value in learning]
    move_means = torch.optim.swa_utils.get_ema_multi_avg_fn(recipe.averaging)
    descend(
        model, optimizer, batches, lambda batch: loss_of(model, batch, teacher, recipe.soft),
        lambda step: pace(step, len(batches), recipe), LOG_STEPS,
        lambda n_steps: move_means(means, learning, n_steps),
        Progress(saved, means) if saved else None,
    )  # fmt: skip
    with torch.no_grad():
        for mean, value in zip(means, learning, strict=True):
            value.copy_(mean)


def _epoch(examples: Sequence[Example], recipe: Recipe, room: int, draw: np.random.Generator) -> list[list[Drawn]]:
    windows = [window for example in examples for window in draw_windows(example, recipe.windows_a_page, room, draw)]
    mixed = [windows[int(at)] for at in draw.permutation(len(windows))]
    return list(batches_of_like_length(mixed, lambda drawn: len(drawn[1].ids), recipe.batch_windows, draw))


def loss_of(model: Network, batch: Sequence[Drawn], teacher: Network | None = None, soft: float = 0.0) -> torch.Tensor:
    """Return the cross-entropy of the batch's blocks, as a weighted mean.

    Args:
        teacher: A network with predictions that are used as targets, in addition to the labels.
        soft: The teacher's weight in the targets, 0 to 1.
    """
    device, windows = model.head.weight.device, [window for _, window in batch]
    targets, weights = (
        torch.from_numpy(np.concatenate(parts).astype(np.float32)).to(device)
        for parts in (
            [example.targets(window.blocks) for example, window in batch],
            [example.weights(window.blocks) for example, window in batch],
        )
    )
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        margins = model.average(windows)
        if teacher is not None:
            with torch.no_grad():
                targets = (1 - soft) * targets + soft * teacher.average(windows).sigmoid()
    losses = F.binary_cross_entropy_with_logits(margins, targets, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1)


def read_margins(model: Network, example: Example) -> FloatArray:
    """Return the margin of each block of a page, (n_blocks,). A margin above 0 means main. It is
    NaN if no window contains the block."""
    margins = np.full(len(example.probability), np.nan)
    windows = [example.read.show(blocks) for blocks in example.read.choose()]
    if windows:
        with torch.inference_mode():
            margins[[block for window in windows for block in window.blocks]] = model.average(windows).cpu().numpy()
    return margins
