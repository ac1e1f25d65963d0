"""From labelled pages to examples for the labeler `encoder`: the tokens of blocks, and which of
them are main."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dripper.datasets import LabelledPage
from dripper.labels.base import SimplifiedPage
from dripper.labels.encoder.sequence import Chunk, Sequencer
from dripper.train.truth import Truth, read_truths


class Example(NamedTuple):
    """One page, ready to train on."""

    truth: Truth
    ids: Sequence[Sequence[int]]
    """Tokens of each block."""


def read_examples(pages: Iterable[LabelledPage], sequencer: Sequencer) -> Iterator[Example]:
    """Yield one example a page that can teach (`read_truths`)."""
    for page, truth in read_truths(pages):
        yield Example(truth, sequencer.block_ids(SimplifiedPage(page.simplified_html, len(page.blocks))))


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
