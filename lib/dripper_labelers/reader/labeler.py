"""Implements the `reader` labeler. It reads the blocks about which the previous labeler is unsure,
and combines its own margins with the previous probabilities."""

from collections.abc import Callable, Sequence

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import UsageError
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.cpu.decide import decide
from dripper_labelers.reader.weights import Matrix, Tables, load
from dripper_labelers.reader.windows import UNSURE, PageReader, find_unsure

# The weights of the previous labeler's log odds, of the reader's log odds, and of a constant 1. On
# 462 pages from sites that neither labeler was trained on, a logistic regression gave 0.22, 0.5 and
# -0.02. On 98 later pages, half of them forms, F1 was 0.019 higher (0.004 to 0.039) with a weight
# of 0.6 than with 0.5. A weight of 0.7 gained as much.
WEIGHTS = (0.22, 0.6, 0.0)


class ReaderLabeler:
    """The `reader` labeler. Not picklable: create it in the process that uses it."""

    name = "reader"

    def __init__(self, tables: Tables, encoder: Callable[[Matrix], Matrix], version: str) -> None:
        """`encoder` converts a window's embeddings to the margin of each token, (n_tokens,)."""
        self._tables, self._encoder, self._reader = tables, encoder, PageReader(tables)
        self.version = f"reader@{version}/{WEIGHTS[1]:g}"

    @classmethod
    def load(cls) -> "ReaderLabeler":
        """Load the weights of this package and return the labeler. Raises MachineError if the
        weights or a required package are missing."""
        return cls(*load())

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Raise UsageError, because the reader needs the draft of another labeler, and a `Page` has
        none."""
        return self.label_simplified([SimplifiedPage.of(page) for page in pages])

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, in order.

        Raises PageError (labeler_failed) if any page cannot be labeled. To find the page, label
        fewer pages per call. Raises UsageError if a page has no draft.
        """
        return [self._label(page, _draft_of(page)) for page in pages]

    def _label(self, page: SimplifiedPage, draft: Labels) -> Labels:
        probability = draft.probability.astype(np.float64)
        read = self._reader.read(page, probability)
        windows = [read.show(blocks) for blocks in read.choose()]
        for window in windows:
            margins = self._encoder(self._tables.embed(window.ids, window.tags, window.drafts))
            blocks = list(window.blocks)
            probability[blocks] = weigh(probability[blocks], window.average(margins.astype(np.float64)))
        decision = decide(probability, read.words)
        return Labels(
            decision.main,
            probability.astype(np.float32),
            decision.expected_f1,
            len(windows),
            page_kind=draft.page_kind,
        )


def weigh(probability: FloatArray, margins: FloatArray) -> FloatArray:
    """Combine the probabilities of both labelers, (n,). Blocks about which the previous labeler was
    sure keep its probability.

    Args:
        probability: The previous labeler's probabilities of main, (n,).
        margins: The reader's log odds, (n,).

    >>> weigh(np.array([0.5, 0.99]), np.array([-3.0, -3.0])).round(3).tolist()
    [0.142, 0.99]
    """
    bounded = np.clip(probability, UNSURE, 1 - UNSURE)
    before, own, constant = WEIGHTS
    odds = before * np.log(bounded / (1 - bounded)) + own * margins + constant
    return np.where(find_unsure(probability), 1 / (1 + np.exp(-odds)), probability)


def _draft_of(page: SimplifiedPage) -> Labels:
    draft = page.draft
    if draft is None or len(draft.probability) != page.n_blocks or np.isnan(draft.probability).any():
        raise UsageError(
            "the labeler reader weighs the probabilities of a labeler before it: name it in a chain, cpu,reader"
        )
    return draft
