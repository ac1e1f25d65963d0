"""The training loop in PyTorch: AdamW on the cross-entropy of the answer and of block labels."""

import copy
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dripper_lab.train.descent import batches_of_like_length, descend
from dripper_lab.train.lm.base import Recipe
from dripper_lab.train.lm.examples import Example

log = logging.getLogger(__name__)

LOG_STEPS = 20


def train(
    model: Any,
    pages: Sequence[Sequence[Example]],
    recipe: Recipe,
    sizes: Sequence[int],
    save: Callable[[Any, int], None],
) -> None:
    """Train the weights of `model` in one pass over the pages.

    Args:
        pages: The windows of each page, in training order.
        sizes: Numbers of pages after which to save. A number above the number of pages means all
            pages.
        save: Called with the averaged model and the number of pages seen.
    """
    import torch

    batches, ends = _make_batches(pages, recipe, sizes)
    averaged = copy.deepcopy(model).eval()

    def after(n_steps: int) -> None:
        _average(averaged, model, min(n_steps // 4 + 1, recipe.averaged_steps))
        if n_steps in ends:
            save(averaged, ends[n_steps])

    torch.manual_seed(recipe.seed)
    weights = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.95), weight_decay=recipe.weight_decay
    )
    descend(
        model, weights, batches, lambda batch: loss_of(model, batch, recipe),
        lambda step: min(1.0, (step + 1) / recipe.warmup_steps), LOG_STEPS, after,
    )  # fmt: skip


def _make_batches(
    pages: Sequence[Sequence[Example]], recipe: Recipe, sizes: Sequence[int]
) -> tuple[list[list[Example]], dict[int, int]]:
    """Return the batches of windows in training order, and a mapping: number of batches → number of
    pages that are complete after them."""
    sizes = sorted({min(size, len(pages)) for size in sizes})
    draw = np.random.default_rng(recipe.seed)
    batches, ends = list[list[Example]](), dict[int, int]()
    for first, last in zip([0, *sizes], sizes, strict=False):
        windows = [window for page in pages[first:last] for window in page]
        order = draw.permutation(len(windows))
        batches += batches_of_like_length(
            [windows[at] for at in order], lambda window: len(window.tokens), recipe.batch_windows, draw
        )
        ends[len(batches)] = last
    return batches, ends


def _average(averaged: Any, model: Any, steps: int) -> None:
    import torch

    with torch.no_grad():
        for mean, now in zip(averaged.parameters(), model.parameters(), strict=True):
            mean.lerp_(now, 1.0 / steps)


def loss_of(model: Any, batch: Sequence[Example], recipe: Recipe) -> Any:
    """Return the weighted mean cross-entropy of a batch: labels in the answer have weight 1. The
    recipe contains the weights of other tokens and of labels at block ends."""
    import torch

    longest = max(len(one.tokens) for one in batch)
    ids = torch.full((len(batch), longest), int(model.config.pad_token_id))
    for row, one in enumerate(batch):
        ids[row, : len(one.tokens)] = torch.tensor(one.tokens)
    device = model.device
    with torch.autocast(device.type, torch.bfloat16, enabled=recipe.bfloat16 or device.type == "cuda"):
        # Padding follows the tokens. A causal model does not look ahead, so no mask is needed.
        states = model.model(ids.to(device)).last_hidden_state
        rows, places, targets, weights = _targets(batch, recipe)
        logits = model.lm_head(states[rows, places])
    losses = torch.nn.functional.cross_entropy(logits.float(), torch.tensor(targets, device=device), reduction="none")
    share = torch.tensor(weights, device=device)
    return (losses * share).sum() / share.sum()


def _targets(batch: Sequence[Example], recipe: Recipe) -> tuple[list[int], list[int], list[int], list[float]]:
    """Return lists with a value for each prediction: row, position, correct next token, and
    weight."""
    rows, places, targets, weights = list[int](), list[int](), list[int](), list[float]()
    for row, one in enumerate(batch):
        labels = set(one.labels)
        places += range(one.answer - 1, len(one.tokens) - 1)
        targets += one.tokens[one.answer :]
        weights += [1.0 if at in labels else recipe.form_weight for at in range(one.answer, len(one.tokens))]
        if recipe.block_weight and one.block_ends:
            places += one.block_ends
            targets += [one.tokens[at] for at in one.labels]
            weights += [recipe.block_weight] * len(one.block_ends)
        rows += [row] * (len(places) - len(rows))
    return rows, places, targets, weights


def label_errors(model: Any, windows: Sequence[Example], recipe: Recipe) -> tuple[float, float]:
    """Return the mean loss of the labels and the fraction of wrong labels on held-out windows. This
    check is quick, because each label is predicted after the correct labels before it."""
    import torch

    loss, wrong, count = 0.0, 0, 0
    with torch.inference_mode():
        for one in windows:
            states = model.model(torch.tensor([one.tokens], device=model.device)).last_hidden_state[0]
            right = torch.tensor([one.tokens[at] for at in one.labels], device=model.device)
            logits = model.lm_head(states[[at - 1 for at in one.labels]])
            loss += float(torch.nn.functional.cross_entropy(logits, right, reduction="sum"))
            wrong += int((logits.argmax(1) != right).sum())
            count += len(right)
    return (loss / count, wrong / count) if count else (math.nan, math.nan)
