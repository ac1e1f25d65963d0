"""The training of the reader's adapters in PyTorch: everything else of the model stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper_lab.train.descent import descend
from dripper_lab.train.reader.examples import Drawn, Example, draw_windows
from dripper_labelers.reader.adapters import SCALE, Adapters
from dripper_labelers.reader.base import LAYER_PARTS, BaseModel, Matrix, part_shape
from dripper_labelers.reader.labeler import make_model
from dripper_labelers.reader.windows import WindowMaker

LOG_STEPS = 20


@dataclass(frozen=True, slots=True)
class Recipe:
    """Chosen on pages of sites that were held out: there F1 rose from five epochs (+0.042) to ten
    (+0.054), though the loss rose from the second on."""

    rank: int = 32
    epochs: int = 10
    windows_a_page: int = 4
    """Windows of a page an epoch."""
    batch_windows: int = 16
    learning_rate: float = 4e-4
    head_learning_rate: float = 1e-3
    """Learning rate of the last layer, which begins at 0."""
    warmup_steps: int = 60
    steady: float = 0.5
    """Share of the steps before the learning rate falls, in a line to a tenth."""
    dropout: float = 0.1
    averaging: float = 0.99
    """The weights that are saved are means over the last steps, which count less by this factor a
    step."""
    seed: int = 0


def empty_adapters(base: BaseModel, rank: int, draw: np.random.Generator) -> Adapters:
    """Return adapters that change nothing yet."""
    inner, outer = dict[str, Matrix](), dict[str, Matrix]()
    for layer in range(base.shape.layers):
        for part in LAYER_PARTS:
            name = f"l{layer}.{part}"
            n_outputs, n_inputs = part_shape(base.shape, part)
            inner[name] = draw.normal(0, n_inputs**-0.5, (rank, n_inputs)).astype(np.float32)
            outer[name] = np.zeros((n_outputs, rank), np.float32)
    return Adapters(inner, outer, np.zeros((1, base.shape.width), np.float32), 0.0, "")


def train(base: BaseModel, maker: WindowMaker, examples: Sequence[Example], recipe: Recipe, device: str) -> Adapters:
    """Return the adapters that the examples teach.

    Args:
        device: `cpu` or `cuda`.
    """
    import torch

    torch.manual_seed(recipe.seed)
    draw = np.random.default_rng(recipe.seed)
    start = empty_adapters(base, recipe.rank, draw)
    model, pairs = _adapt(make_model(base, start), base, start, recipe.dropout)
    model.to(device)
    if device == "cuda":
        for part in model.modules():
            if isinstance(part, torch.nn.Linear) and not part.weight.requires_grad:
                part.to(torch.bfloat16)  # Else autocast does it anew in every step.
    learning = [value for value in model.parameters() if value.requires_grad]
    head = list(model.classifier.parameters())
    groups = [
        {"params": [value for value in learning if not any(value is each for each in head)]},
        {"params": head, "lr": recipe.head_learning_rate},
    ]
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, weight_decay=0.01, fused=device == "cuda")
    batches = [batch for _ in range(recipe.epochs) for batch in _epoch(examples, maker, recipe, draw)]
    means = [value.detach().clone() for value in learning]
    move_means = torch.optim.swa_utils.get_ema_multi_avg_fn(recipe.averaging)

    descend(
        model, optimizer, batches, lambda batch: _loss(model, maker, batch, device),
        lambda step: pace(step, len(batches), recipe), LOG_STEPS, lambda n_steps: move_means(means, learning, n_steps),
    )  # fmt: skip
    with torch.no_grad():
        for mean, value in zip(means, learning, strict=True):
            value.copy_(mean)
    return Adapters(
        {name: _matrix(inner) for name, (inner, _) in pairs.items()},
        {name: _matrix(outer) for name, (_, outer) in pairs.items()},
        _matrix(model.classifier.weight), float(model.classifier.bias.detach()), "",
    )  # fmt: skip


def pace(step: int, steps: int, recipe: Recipe) -> float:
    """Return the share of the learning rate at a step: up in a line, steady, then down in a line.

    >>> recipe = Recipe(warmup_steps=2, steady=0.5)
    >>> [round(pace(step, 10, recipe), 2) for step in (0, 1, 5, 6, 9)]
    [0.5, 1.0, 1.0, 0.82, 0.28]
    """
    fallen = max(0.0, (step / steps - recipe.steady) / (1 - recipe.steady))
    return min(1.0, (step + 1) / recipe.warmup_steps) * (1 - 0.9 * fallen)


def _epoch(
    examples: Sequence[Example], maker: WindowMaker, recipe: Recipe, draw: np.random.Generator
) -> list[list[Drawn]]:
    windows = [window for example in examples for window in draw_windows(example, maker, recipe.windows_a_page, draw)]
    order = draw.permutation(len(windows))
    size = recipe.batch_windows
    return [[windows[int(at)] for at in order[first : first + size]] for first in range(0, len(order), size)]


def _adapt(model: Any, base: BaseModel, start: Adapters, dropout: float) -> tuple[Any, dict[str, tuple[Any, Any]]]:
    """Return the model with adapters beside its linear parts, and these, by name: all that learns
    is them and the last layer."""
    import torch

    class Adapted(torch.nn.Module):  # type: ignore[misc]
        """A linear part with the product of two small matrices added."""

        def __init__(self, part: Any, inner: Matrix, outer: Matrix) -> None:
            super().__init__()
            self.part = part
            self.inner = torch.nn.Parameter(torch.from_numpy(inner))
            self.outer = torch.nn.Parameter(torch.from_numpy(outer))

        def forward(self, states: Any) -> Any:
            linear = torch.nn.functional.linear
            return self.part(states) + SCALE * linear(linear(states, self.inner), self.outer)

    model.requires_grad_(False)
    model.classifier.requires_grad_(True)
    for module in model.bert.encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    pairs: dict[str, tuple[Any, Any]] = {}
    for layer in range(base.shape.layers):
        for ours, theirs in LAYER_PARTS.items():
            name = f"l{layer}.{ours}"
            where, _, attribute = f"bert.encoder.layer.{layer}.{theirs}".rpartition(".")
            parent = model.get_submodule(where)
            adapted = Adapted(getattr(parent, attribute), start.inner[name], start.outer[name])
            setattr(parent, attribute, adapted)
            pairs[name] = adapted.inner, adapted.outer
    return model, pairs


def _loss(model: Any, maker: WindowMaker, batch: Sequence[Drawn], device: str) -> Any:
    """Return the cross-entropy of the batch's blocks, as a weighted mean."""
    import torch

    rows = [window.chunk.ids for _, window in batch]
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), maker.padding)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row)
    sizes = np.concatenate([window.sizes for _, window in batch])
    with torch.autocast(device, torch.bfloat16):
        inside = (ids != maker.padding).to(device)
        logits = model(input_ids=ids.to(device), attention_mask=inside).logits[..., 0].float()
    tokens = torch.cat([logits[at, 1 : len(row)] for at, row in enumerate(rows)])
    owner = torch.repeat_interleave(torch.arange(len(sizes)), torch.from_numpy(sizes)).to(device)
    sums = torch.zeros(len(sizes), device=device).index_add(0, owner, tokens)
    margins = sums / torch.from_numpy(sizes).to(device)
    targets, weights = (
        torch.from_numpy(np.concatenate(parts).astype(np.float32)).to(device)
        for parts in (
            [example.targets(window.blocks) for example, window in batch],
            [example.weights(window.blocks) for example, window in batch],
        )
    )
    losses = torch.nn.functional.binary_cross_entropy_with_logits(margins, targets, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1)


def read_margins(model: Any, maker: WindowMaker, example: Example) -> FloatArray:
    """Return how much speaks for each block of a page to be main, shape (n_blocks,); NaN where no
    window shows it."""
    import torch

    margins = np.full(len(example.ids), np.nan)
    with torch.inference_mode():
        for window in maker.choose(example.ids, example.unsure):
            logits = model(input_ids=torch.tensor([window.chunk.ids], device=model.device)).logits[0, 1:, 0]
            margins[window.blocks] = window.average(logits.float().cpu().numpy().astype(np.float64))
    return margins


def _matrix(value: Any) -> Matrix:
    return np.asarray(value.detach().float().cpu().numpy())
