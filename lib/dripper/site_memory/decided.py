"""From log odds to labels, as `cpu` decides."""

from dataclasses import replace

import numpy as np

from dripper.labels import Labels
from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decode import PROBABILITY_STEPS, decide
from dripper.site_memory.statistics import PageBlocks


def decided(page: PageBlocks, labels: Labels, log_odds: FloatArray) -> Labels:
    """Return labels by other log odds of the page's blocks, shape (n_blocks,), with the confidence
    of that choice; all else as in `labels`."""
    probability = np.rint(PROBABILITY_STEPS / (1 + np.exp(-log_odds))) / PROBABILITY_STEPS
    decision = decide(probability, page.words.astype(np.int64))
    return replace(
        labels, main=decision.main, probability=probability.astype(np.float32), confidence=decision.expected_f1
    )
