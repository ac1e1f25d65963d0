"""The training loop (paper 4): AdamW on the binary cross-entropy of nodes, in PyTorch. The node
encoder is either frozen or trained with the rest."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dripper_lab.train.descent import batches_of_like_length, descend
from dripper_lab.train.neuscraper.examples import Example, Vectors
from dripper_lab.train.recipe import draw_turns, turns_an_epoch
from dripper_labelers.neuscraper.checkpoint import Shape
from dripper_labelers.neuscraper.labeler import tokenize_nodes
from dripper_labelers.neuscraper.nodes import Node

LOG_STEPS = 50


@dataclass(frozen=True, slots=True)
class Recipe:
    """The hyperparameters; the model card prints them."""

    epochs: int = 6
    """30 in the paper."""
    batch_chunks: int = 32
    """1,024 in the paper."""
    learning_rate: float = 6e-4
    warmup: float = 0.05
    """Fraction of the steps in which the learning rate rises. Afterwards, it falls along a
    cosine."""
    weight_decay: float = 0.01
    balance: float = 0.5
    """Balance between kinds of pages. 0: each page comes once per epoch. 1: each kind of page comes
    equally often. For values between, see `dripper_lab.train.recipe.turns_an_epoch`."""
    seed: int = 0
    warm_first_layer: bool = False
    """Whether the first layer of the language model is trained, too, as in the paper. Otherwise,
    the vectors of nodes are computed only once, and an epoch is about ten times as fast."""


Embed = Callable[[Sequence[Node]], Any]
"""Returns the vectors of nodes, a tensor of shape (n_nodes, hidden)."""
Piece = tuple[Example, int]
"""A chunk: its page, and the index of its first node."""


def train(model: Any, tokenizer: Any, examples: Sequence[Example], shape: Shape, recipe: Recipe) -> None:
    """Train the weights of `model`: the transformer, which reads vectors of nodes, and with
    `warm_first_layer` also the first layer, which computes these vectors."""
    import torch

    draw = np.random.default_rng(recipe.seed)
    batches = [batch for _ in range(recipe.epochs) for batch in epoch(examples, shape, recipe, draw)]
    if recipe.warm_first_layer:
        learning, embed = model, _embed_anew(model, tokenizer, shape)
    else:
        learning, embed = model.classifier, _embed_once(model, tokenizer, examples, shape)
    optimizer = torch.optim.AdamW(
        learning.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.98), eps=1e-6, weight_decay=recipe.weight_decay
    )
    descend(
        learning,
        optimizer,
        batches,
        lambda batch: loss_of(model.classifier, embed, batch, shape),
        lambda step: pace(step, len(batches), recipe.warmup),
        LOG_STEPS,
    )


def _embed_anew(model: Any, tokenizer: Any, shape: Shape) -> Embed:
    import torch

    device = next(model.parameters()).device

    def embed(nodes: Sequence[Node]) -> Any:
        tokens = tokenize_nodes(tokenizer, [node.text for node in nodes], shape.node_tokens)
        return model.nodes(torch.from_numpy(tokens.ids).to(device), torch.from_numpy(tokens.inside).to(device))

    return embed


def _embed_once(model: Any, tokenizer: Any, examples: Sequence[Example], shape: Shape) -> Embed:
    import torch

    vectors = Vectors(model, tokenizer, shape, (node.text for example in examples for node in example.nodes))
    device = next(model.parameters()).device
    return lambda nodes: torch.from_numpy(vectors.of(nodes)).to(device)


def epoch(
    examples: Sequence[Example], shape: Shape, recipe: Recipe, draw: np.random.Generator
) -> Iterator[list[Piece]]:
    """Yield the batches of one epoch, in random order. Chunks of similar length share a batch."""
    turns = draw_turns(turns_an_epoch([example.truth.kind for example in examples], recipe.balance), draw)
    steps = shape.context_nodes
    pieces = [(examples[i], start) for i in turns for start in range(0, len(examples[i].nodes), steps)]
    yield from batches_of_like_length(pieces, lambda piece: len(piece[0].nodes) - piece[1], recipe.batch_chunks, draw)


def pace(step: int, steps: int, warmup: float) -> float:
    """Return the factor of the learning rate at a step.

    >>> [round(pace(step, 100, 0.05), 2) for step in (0, 4, 50, 99)]
    [0.2, 1.0, 0.54, 0.0]
    """
    rising = max(1, round(steps * warmup))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))


def loss_of(classifier: Any, embed: Embed, batch: Sequence[Piece], shape: Shape) -> Any:
    """Return the binary cross-entropy of a batch (equation 4). It is summed over the outputs of
    each node, and averaged over the nodes."""
    import torch

    cut = [slice(start, start + shape.context_nodes) for _, start in batch]
    embedded = [embed(page.nodes[part]) for (page, _), part in zip(batch, cut, strict=True)]
    targets = [torch.from_numpy(page.targets(shape.outputs, part)) for (page, _), part in zip(batch, cut, strict=True)]
    padded = torch.nn.utils.rnn.pad_sequence(embedded, batch_first=True)
    inside = torch.arange(padded.shape[1])[None] < torch.tensor([len(each) for each in targets])[:, None]
    inside = inside.to(padded.device)
    logits = classifier(padded, ~inside)[inside]
    right = torch.cat(targets).to(padded.device)
    return shape.outputs * torch.nn.functional.binary_cross_entropy_with_logits(logits, right)
