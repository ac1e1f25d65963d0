"""Trains the model of the `encoder` labeler in PyTorch, on batches of chunks, with AdamW."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dripper_lab.train.descent import batches_of_like_length, descend
from dripper_lab.train.encoder.base import Recipe
from dripper_lab.train.encoder.examples import Example, random_chunk
from dripper_lab.train.encoder.losses import Drawn, Objective
from dripper_lab.train.recipe import draw_turns, turns_an_epoch
from dripper_labelers.encoder.sequence import Sequencer

LOG_STEPS, SAVE_STEPS = 20, 100


def train(
    model: Any,
    sequencer: Sequencer,
    examples: Sequence[Example],
    recipe: Recipe,
    save: Callable[[], None],
    teacher: Any = None,
) -> None:
    """Train the weights of `model`.

    Args:
        save: Called regularly, so that an interrupted run leaves weights behind.
        teacher: A model that reads the same tokens, to learn from in addition to the labels.
    """
    import torch

    draw, objective = np.random.default_rng(recipe.seed), Objective.of(recipe, examples, teacher)
    torch.manual_seed(recipe.seed)
    batches = [batch for _ in range(recipe.epochs) for batch in epoch(examples, sequencer, recipe, draw)]
    descend(
        model,
        torch.optim.AdamW(_groups(model, recipe), lr=recipe.learning_rate),
        batches,
        lambda batch: objective.loss(model, batch),
        lambda step: pace(step, len(batches), recipe.warmup),
        LOG_STEPS,
        lambda n_steps: save() if n_steps % SAVE_STEPS == 0 else None,
    )
    save()


def epoch(
    examples: Sequence[Example], sequencer: Sequencer, recipe: Recipe, draw: np.random.Generator
) -> Iterator[list[Drawn]]:
    """Yield the batches of one epoch in random order."""
    turns = draw_turns(turns_an_epoch([example.truth.kind for example in examples], recipe.balance), draw)
    order = draw.permutation(np.repeat(turns, recipe.chunks_a_page))
    chunks = [(examples[index], random_chunk(examples[index], sequencer, draw)) for index in order]
    yield from batches_of_like_length(chunks, lambda drawn: len(drawn[1].ids), recipe.batch_chunks, draw)


def pace(step: int, steps: int, warmup: float) -> float:
    """Return the fraction of the learning rate at a step: it rises linearly, and then falls
    linearly to 0.

    >>> [pace(step, 10, 0.2) for step in (0, 1, 2, 6, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.125]
    """
    rising = max(1, round(steps * warmup))
    return min((step + 1) / rising, (steps - step) / max(1, steps - rising))


def _groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Return the parameters in two groups. Biases and norms have no weight decay."""
    plain = [value for value in model.parameters() if value.ndim < 2]
    decaying = [value for value in model.parameters() if value.ndim >= 2]
    return [{"params": decaying, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}]
