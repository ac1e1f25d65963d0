"""Creates examples for the `encoder` labeler from labeled pages, and computes the predictions of a
model in training."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import merge_windows
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import Truth, read_truths
from dripper_labelers.encoder.sequence import Chunk, Sequencer, cut


class Example(NamedTuple):
    """A page prepared for training."""

    truth: Truth
    ids: Sequence[Sequence[int]]
    """The tokens of each block."""


def read_examples(pages: Iterable[LabelledPage], sequencer: Sequencer) -> Iterator[Example]:
    """Yield one example per usable page (see `read_truths`)."""
    for page, truth in read_truths(pages):
        yield Example(truth, sequencer.block_ids(SimplifiedPage.of(page)))


def random_chunk(example: Example, sequencer: Sequencer, draw: np.random.Generator) -> Chunk:
    """Return a chunk that starts at a random block. A chunk that reaches the end of the page starts
    earlier, so that it is as long as possible."""
    sizes = [len(ids) + 1 for ids in example.ids]
    start = end = int(draw.integers(len(sizes)))
    used = 0
    while end < len(sizes) and (end == start or used + sizes[end] <= sequencer.room):
        used += sizes[end]
        end += 1
    while start and end == len(sizes) and used + sizes[start - 1] <= sequencer.room:
        start -= 1
        used += sizes[start]
    return sequencer.chunk(example.ids, start, end)


def probabilities(model: Any, sequencer: Sequencer, example: Example) -> FloatArray:
    """Return the probability of main for each block, computed as in the labeler."""
    import torch

    spans = cut([len(ids) + 1 for ids in example.ids], sequencer.room, sequencer.reading.overlap_blocks)
    chunks = [sequencer.chunk(example.ids, start, end) for start, end in spans]
    by_chunk = []
    with torch.inference_mode():
        for chunk in chunks:
            logits = model(input_ids=torch.tensor([chunk.ids], device=model.device)).logits[0, chunk.separators]
            by_chunk.append(torch.softmax(logits, 1)[:, 1].cpu().numpy().astype(np.float64))
    return merge_windows(chunks, by_chunk)
