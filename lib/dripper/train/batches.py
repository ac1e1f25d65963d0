"""Pages packed end to end into batches of one fixed shape, so that the training step is compiled once."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.network import BlockSequence
from dripper.train.examples import Example

BLOCKS_PER_BATCH = 4096
PAGES_PER_BATCH = 64
# Longer pages are trained on by random windows, else 1 % of the pages would fill a quarter of every epoch.
WINDOW = 1024


class Batch(NamedTuple):
    """blocks: padded to BLOCKS_PER_BATCH, ranges in the packed order. words, matched: (BLOCKS_PER_BATCH,).

    page: (BLOCKS_PER_BATCH,), which page of the batch a block belongs to; PAGES_PER_BATCH for padding.
    truth_words, present: (PAGES_PER_BATCH,), the size of each page's truth and whether there is such a page (0 or 1).
    """

    blocks: BlockSequence
    page: npt.NDArray[np.int32]
    words: npt.NDArray[np.float32]
    matched: npt.NDArray[np.float32]
    truth_words: npt.NDArray[np.float32]
    present: npt.NDArray[np.float32]


def training_batches(examples: Sequence[Example], draw: np.random.Generator) -> Iterator[Batch]:
    """Yield one epoch: every example once, in random order, long ones as one random window."""
    windows = [_random_window(examples[index], draw) for index in draw.permutation(len(examples))]
    for group in grouped(windows):
        yield pack(group)


def grouped(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Yield runs of examples that fit into one batch. An example longer than a batch raises ValueError in `pack`."""
    group: list[Example] = []
    blocks = 0
    for example in examples:
        if group and (blocks + len(example.words) > BLOCKS_PER_BATCH or len(group) == PAGES_PER_BATCH):
            yield group
            group, blocks = [], 0
        group.append(example)
        blocks += len(example.words)
    if group:
        yield group


def pack(group: Sequence[Example]) -> Batch:
    """Return the batch of a group of examples, whose features are standardised. Raises ValueError if it is too long."""
    lengths = [len(example.words) for example in group]
    offsets = np.cumsum([0, *lengths])
    if offsets[-1] > BLOCKS_PER_BATCH or len(group) > PAGES_PER_BATCH:
        raise ValueError(f"{len(group)} pages of {offsets[-1]} blocks do not fit into one batch")

    def joined(parts: Sequence[npt.NDArray[Any]], fill: float, kind: type) -> npt.NDArray[Any]:
        whole = np.full((BLOCKS_PER_BATCH, *parts[0].shape[1:]), fill, kind)
        whole[: offsets[-1]] = np.concatenate(parts)
        return whole

    shifted = list(zip(group, offsets, strict=False))
    blocks = BlockSequence(
        joined([example.blocks.features for example in group], 0, np.float32),
        joined([example.blocks.starts + offset for example, offset in shifted], 0, np.int32),
        joined([example.blocks.ends + offset for example, offset in shifted], 1, np.int32),
    )
    per_page = np.zeros((2, PAGES_PER_BATCH), np.float32)
    per_page[0, : len(group)] = [example.truth_words for example in group]
    per_page[1, : len(group)] = 1
    page = joined([np.full(length, number) for number, length in enumerate(lengths)], PAGES_PER_BATCH, np.int32)
    words = joined([example.words for example in group], 0, np.float32)
    matched = joined([example.matched for example in group], 0, np.float32)
    return Batch(blocks, page, words, matched, per_page[0], per_page[1])


def _random_window(example: Example, draw: np.random.Generator) -> Example:
    length = len(example.words)
    if length <= WINDOW:
        return example
    start = int(draw.integers(0, length - WINDOW + 1))
    return example.window(start, start + WINDOW)
