"""What is chosen on sites that were held out, and what it reaches there."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.encoder.sequence import Sequencer, cut
from dripper.labels.lm.windows import merge_windows
from dripper.train.by_site import fold_of
from dripper.train.encoder.examples import Example

THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


class Choice(NamedTuple):
    """The threshold of the highest mean F1 over words, and that of one half."""

    threshold: float
    f1: float
    f1_at_half: float


def split(examples: Sequence[Example], folds: int) -> tuple[list[Example], list[Example]]:
    """Return the pages to train on, and those of one site in `folds`."""
    learned, held = list[Example](), list[Example]()
    for example in examples:
        (learned if fold_of(example.host, folds) else held).append(example)
    return learned, held


def choose_threshold(model: Any, sequencer: Sequencer, examples: Sequence[Example]) -> Choice:
    """Return the best threshold on pages that the model did not see; pages without a truth do not
    count."""
    scored = [example for example in examples if example.truth_words]
    said = [probabilities(model, sequencer, example) for example in scored]

    def f1(threshold: float) -> float:
        return float(np.mean([each.f1(page > threshold) for each, page in zip(scored, said, strict=True)]))

    best = max(THRESHOLDS, key=f1)
    return Choice(best, f1(best), f1(0.5))


def probabilities(model: Any, sequencer: Sequencer, example: Example) -> FloatArray:
    """Return the probability of each block of a page to be main, as the labeler computes it."""
    import torch

    spans = cut([len(ids) + 1 for ids in example.ids], sequencer.room, sequencer.reading.overlap_blocks)
    chunks = [sequencer.chunk(example.ids, start, end) for start, end in spans]
    said = []
    with torch.inference_mode():
        for chunk in chunks:
            logits = model(input_ids=torch.tensor([chunk.ids])).logits[0, chunk.separators]
            said.append(torch.softmax(logits, 1)[:, 1].numpy().astype(np.float64))
    return merge_windows(chunks, said)
