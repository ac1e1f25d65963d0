"""Pages packed end to end into batches of one fixed shape, so that the training step is compiled once."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.network import BlockSequence
from dripper.train.examples import Example

PAGES_PER_BATCH = 64
# Longer pages are trained on by random windows of this share of a batch, else 1 % of the pages (over 1,024 blocks, with
# batches of 4,096) would fill a quarter of every epoch.
WINDOW_SHARE = 4


class Batch(NamedTuple):
    """blocks: padded to the size of the batch, ranges in the packed order. words, matched: (size,).

    page: (size,), which page of the batch a block belongs to; PAGES_PER_BATCH for padding.
    truth_words, present: (PAGES_PER_BATCH,), the size of each page's truth and whether there is such a page (0 or 1).
    """

    blocks: BlockSequence
    page: npt.NDArray[np.int32]
    words: npt.NDArray[np.float32]
    matched: npt.NDArray[np.float32]
    truth_words: npt.NDArray[np.float32]
    present: npt.NDArray[np.float32]


def training_batches(
    examples: Sequence[Example], size: int, draw: np.random.Generator, crowded_share: float = 0.0
) -> Iterator[Batch]:
    """Yield one epoch: every example once, in random order, long ones as one random window.

    size: blocks of a batch. crowded_share: how often an example is replaced by one of its crowded variants.
    """
    order = draw.permutation(len(examples))
    windows = [
        _random_window(_variant(examples[index], crowded_share, draw), size // WINDOW_SHARE, draw) for index in order
    ]
    for group in grouped(windows, size):
        yield pack(group, size)


def grouped(examples: Sequence[Example], size: int) -> Iterator[list[Example]]:
    """Yield runs of examples that fit into one batch; one that is too long alone is refused by :func:`pack`."""
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


def pack(group: Sequence[Example], size: int) -> Batch:
    """Return the batch of a group of examples, whose features are standardised. Raises ValueError if it is too long."""
    lengths = [len(example.words) for example in group]
    offsets = np.cumsum([0, *lengths])
    if offsets[-1] > size or len(group) > PAGES_PER_BATCH:
        raise ValueError(f"{len(group)} pages of {offsets[-1]} blocks do not fit into one batch")

    def joined(parts: Sequence[npt.NDArray[Any]], fill: float, kind: type) -> npt.NDArray[Any]:
        whole = np.full((size, *parts[0].shape[1:]), fill, kind)
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


def _variant(example: Example, crowded_share: float, draw: np.random.Generator) -> Example:
    if not (crowded_share and example.crowded) or draw.random() >= crowded_share:
        return example
    return example.crowded[int(draw.integers(len(example.crowded)))]


def _random_window(example: Example, window: int, draw: np.random.Generator) -> Example:
    length = len(example.words)
    if length <= window:
        return example
    start = int(draw.integers(0, length - window + 1))
    return example.window(start, start + window)
