"""What a model that is in training says of a page."""

from typing import Any

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.encoder.sequence import Sequencer, cut
from dripper.labels.lm.windows import merge_windows
from dripper.train.encoder.examples import Example


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
