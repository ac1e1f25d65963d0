"""The training loop: cross-entropy at the separators, AdamW, in PyTorch."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper_lab.train.descent import batches_of_like_length, descend
from dripper_lab.train.encoder.base import Recipe
from dripper_lab.train.encoder.examples import Example, random_chunk
from dripper_lab.train.recipe import draw_turns, turns_an_epoch
from dripper_labelers.encoder.sequence import Chunk, Sequencer

LOG_STEPS, SAVE_STEPS = 20, 100

Drawn = tuple[Example, Chunk]


def train(
    model: Any, sequencer: Sequencer, examples: Sequence[Example], recipe: Recipe, save: Callable[[], None]
) -> None:
    """Train the model in place.

    Args:
        save: Called now and then, so that a run that is cut off leaves weights.
    """
    import torch

    draw = np.random.default_rng(recipe.seed)
    torch.manual_seed(recipe.seed)
    batches = [batch for _ in range(recipe.epochs) for batch in epoch(examples, sequencer, recipe, draw)]
    descend(
        model,
        torch.optim.AdamW(_groups(model, recipe), lr=recipe.learning_rate),
        batches,
        lambda batch: loss_of(model, batch, recipe),
        lambda step: pace(step, len(batches), recipe.warmup),
        LOG_STEPS,
        lambda done: save() if done % SAVE_STEPS == 0 else None,
    )
    save()


def epoch(
    examples: Sequence[Example], sequencer: Sequencer, recipe: Recipe, draw: np.random.Generator
) -> Iterator[list[Drawn]]:
    """Yield the batches of one epoch, in random order."""
    turns = draw_turns(turns_an_epoch([example.truth.kind for example in examples], recipe.balance), draw)
    order = draw.permutation(np.repeat(turns, recipe.chunks_a_page))
    chunks = [(examples[index], random_chunk(examples[index], sequencer, draw)) for index in order]
    yield from batches_of_like_length(chunks, lambda drawn: len(drawn[1].ids), recipe.batch_chunks, draw)


def pace(step: int, steps: int, warmup: float) -> float:
    """Return the share of the learning rate at a step: up in a line, then down to 0.

    >>> [pace(step, 10, 0.2) for step in (0, 1, 2, 6, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.125]
    """
    rising = max(1, round(steps * warmup))
    return min((step + 1) / rising, (steps - step) / max(1, steps - rising))


def weights_of(example: Example, chunk: Chunk, edge_words: int) -> FloatArray:
    """Return what each block of a chunk weighs in the loss, shape (end - start,)."""
    return np.asarray(np.sqrt(example.truth.words[chunk.start : chunk.end] + float(edge_words)))


def loss_of(model: Any, batch: Sequence[Drawn], recipe: Recipe) -> Any:
    """Return the weighted mean cross-entropy over the blocks of a batch."""
    import torch

    padding, longest = int(model.config.pad_token_id or 0), max(len(chunk.ids) for _, chunk in batch)
    ids = torch.full((len(batch), longest), padding)
    inside = torch.zeros((len(batch), longest), dtype=torch.int64)
    rows, places, main, weights = list[int](), list[int](), list[bool](), list[float]()
    for row, (example, chunk) in enumerate(batch):
        ids[row, : len(chunk.ids)] = torch.tensor(chunk.ids)
        inside[row, : len(chunk.ids)] = 1
        rows += [row] * len(chunk.separators)
        places += chunk.separators
        main += example.truth.main[chunk.start : chunk.end].tolist()
        weights += weights_of(example, chunk, recipe.edge_words).tolist()
    with torch.autocast("cpu", torch.bfloat16, enabled=recipe.bfloat16):
        logits = model(input_ids=ids, attention_mask=inside).logits[rows, places]
    losses = torch.nn.functional.cross_entropy(logits.float(), torch.tensor(main).long(), reduction="none")
    share = torch.tensor(weights)
    return (losses * share).sum() / share.sum()


def _groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Return the parameters; biases and norms do not decay."""
    plain = [value for value in model.parameters() if value.ndim < 2]
    decaying = [value for value in model.parameters() if value.ndim >= 2]
    return [{"params": decaying, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}]
