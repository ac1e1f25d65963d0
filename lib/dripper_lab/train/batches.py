"""Packs pages into batches of the same shape, so that the training step is compiled only once."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.network import BlockSequence
from dripper_lab.train.examples import Example
from dripper_lab.train.recipe import Shares, draw_turns

PAGES_PER_BATCH = 64
# The maximum length of an example is a batch divided by this number. Longer pages are represented
# by random windows of this length. Otherwise, the 1 % of pages with over 1,024 blocks would fill a
# quarter of every epoch (with batches of 4,096 blocks).
WINDOW_SHARE = 4
AS_THEY_ARE = Shares()


class TrainingBatch(NamedTuple):
    """A batch of pages for training.

    blocks: The features of all blocks, padded to the size of the batch. Ranges refer to the packed
    order.

    words, matched: (size,), as in `Example`.

    page: (size,), the index of each block's page in the batch; PAGES_PER_BATCH for padding.

    truth_words, present: (PAGES_PER_BATCH,), the number of words in each page's ground truth, and
    whether the page exists (0 or 1).
    """

    blocks: BlockSequence
    page: npt.NDArray[np.int32]
    words: npt.NDArray[np.float32]
    matched: npt.NDArray[np.float32]
    truth_words: npt.NDArray[np.float32]
    present: npt.NDArray[np.float32]


def training_batches(
    examples: Sequence[Example],
    size: int,
    draw: np.random.Generator,
    shares: Shares = AS_THEY_ARE,
    turns: FloatArray | None = None,
) -> Iterator[TrainingBatch]:
    """Yield one epoch in random order. Each long example is represented by one random window.

    Args:
        size: The number of blocks in a batch.
        shares: How often each kind of variant replaces an example. An example without variants of
            the drawn kind is used itself.
        turns: The average number of times that each example occurs in the epoch; once by default.
    """
    order = draw_turns(np.ones(len(examples)) if turns is None else turns, draw)
    windows = [_random_window(_variant(examples[index], shares, draw), size // WINDOW_SHARE, draw) for index in order]
    for group in group_examples(windows, size):
        yield pack(group, size)


def group_examples(examples: Sequence[Example], size: int) -> Iterator[list[Example]]:
    """Yield consecutive examples that fit into one batch. An example that is too long by itself is
    rejected by :func:`pack`."""
    group: list[Example] = []
    blocks = 0
    for example in examples:
        if group and (blocks + len(example.words) > size or len(group) == PAGES_PER_BATCH):
            yield group
            group, blocks = [], 0
        group.append(example)
        blocks += len(example.words)
    if group:
        yield group


def pack(group: Sequence[Example], size: int) -> TrainingBatch:
    """Return a batch of examples with standardized features. Raises ValueError if they do not
    fit."""
    lengths = [len(example.words) for example in group]
    offsets = np.cumsum([0, *lengths])
    if offsets[-1] > size or len(group) > PAGES_PER_BATCH:
        raise ValueError(f"{len(group)} pages of {offsets[-1]} blocks do not fit into one batch")

    def join_padded(parts: Sequence[npt.NDArray[Any]], fill: float, kind: type) -> npt.NDArray[Any]:
        whole = np.full((size, *parts[0].shape[1:]), fill, kind)
        whole[: offsets[-1]] = np.concatenate(parts)
        return whole

    shifted = list(zip(group, offsets, strict=False))
    blocks = BlockSequence(
        join_padded([example.blocks.features for example in group], 0, np.float32),
        join_padded([example.blocks.starts + offset for example, offset in shifted], 0, np.int32),
        join_padded([example.blocks.ends + offset for example, offset in shifted], 1, np.int32),
    )
    per_page = np.zeros((2, PAGES_PER_BATCH), np.float32)
    per_page[0, : len(group)] = [example.truth_words for example in group]
    per_page[1, : len(group)] = 1
    page = join_padded([np.full(length, number) for number, length in enumerate(lengths)], PAGES_PER_BATCH, np.int32)
    words = join_padded([example.words for example in group], 0, np.float32)
    matched = join_padded([example.matched for example in group], 0, np.float32)
    return TrainingBatch(blocks, page, words, matched, per_page[0], per_page[1])


def _variant(example: Example, shares: Shares, draw: np.random.Generator) -> Example:
    chance, below = draw.random(), 0.0
    for kind, share in asdict(shares).items():
        below += share
        if chance < below:
            variants = example.variants.get(kind, ())
            return variants[int(draw.integers(len(variants)))] if variants else example
    return example


def _random_window(example: Example, window: int, draw: np.random.Generator) -> Example:
    length = len(example.words)
    if length <= window:
        return example
    start = int(draw.integers(0, length - window + 1))
    return example.window(start, start + window)
