"""Makes examples for the labeler `encoder` from labelled pages, and reads the predictions of a
model in training.
"""

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
    """One page, ready to train on."""

    truth: Truth
    ids: Sequence[Sequence[int]]
    """Tokens of each block."""


def read_examples(pages: Iterable[LabelledPage], sequencer: Sequencer) -> Iterator[Example]:
    """Yield one example a page that can teach (`read_truths`)."""
    for page, truth in read_truths(pages):
        yield Example(truth, sequencer.block_ids(SimplifiedPage.of(page)))


def random_chunk(example: Example, sequencer: Sequencer, draw: np.random.Generator) -> Chunk:
    """Return a chunk of a page from a random block on; one that reaches the page's end begins
    earlier, so that it is as long as fits."""
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
    """Return the probability of each block of a page to be main, as the labeler computes it."""
    import torch

    spans = cut([len(ids) + 1 for ids in example.ids], sequencer.room, sequencer.reading.overlap_blocks)
    chunks = [sequencer.chunk(example.ids, start, end) for start, end in spans]
    by_chunk = []
    with torch.inference_mode():
        for chunk in chunks:
            logits = model(input_ids=torch.tensor([chunk.ids], device=model.device)).logits[0, chunk.separators]
            by_chunk.append(torch.softmax(logits, 1)[:, 1].cpu().numpy().astype(np.float64))
    return merge_windows(chunks, by_chunk)
