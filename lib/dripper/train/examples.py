"""From labelled pages to examples: features of the blocks, and how much of each block the truth contains."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage
from dripper.errors import PageError
from dripper.html import preprocess
from dripper.html.page import Page
from dripper.labels.align import matched_shares
from dripper.labels.features import page_features
from dripper.labels.network import BlockSequence
from dripper.labels.words import words_of
from dripper.warc import decode

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on; arrays in block order.

    key: data set and id. blocks: features, not yet standardised, of one page. words: (n_blocks,) words of each block.
    matched: (n_blocks,) how many of them belong to the truth. truth_words: words of the truth, matched or not.
    """

    key: tuple[str, str]
    host: str
    page_type: str
    blocks: BlockSequence
    words: npt.NDArray[np.int64]
    matched: npt.NDArray[np.float64]
    truth_words: int

    @property
    def main(self) -> npt.NDArray[np.bool_]:
        """Which blocks the truth contains at least half of."""
        return (self.matched >= 0.5 * self.words) & (self.words > 0)

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of blocks against the truth: what training optimises, close to ROUGE."""
        return float(2 * self.matched[main].sum() / max(1, int(self.words[main].sum()) + self.truth_words))

    def window(self, start: int, end: int) -> "Example":
        """Return the example cut to a range of blocks; the unmatched part of the truth shrinks in proportion."""
        length = end - start
        blocks = BlockSequence(
            self.blocks.features[start:end],
            np.clip(self.blocks.starts[start:end] - start, 0, length - 1),
            np.clip(self.blocks.ends[start:end] - start, 1, length),
        )
        missing = (self.truth_words - self.matched.sum()) * length / len(self.words)
        matched = self.matched[start:end]
        return replace(
            self, blocks=blocks, words=self.words[start:end], matched=matched,
            truth_words=round(max(0.0, missing) + matched.sum()),
        )  # fmt: skip


def read_examples(pages: Iterable[LabelledPage]) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach (no blocks, nothing of the truth in them) are left out, logged."""
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        example = example_of(page, labelled)
        if example.main.any():
            yield example
        else:
            log.warning("%s/%s left out: no block holds its truth", labelled.data_set, labelled.id)


def example_of(page: Page, labelled: LabelledPage) -> Example:
    """Return the example of a page that is split already."""
    block_words = [words_of(block.text) for block in page.blocks]
    truth = words_of(labelled.truth_text)
    features = page_features(page)
    return Example(
        key=(labelled.data_set, labelled.id),
        host=labelled.host,
        page_type=labelled.page_type or "",
        blocks=features.blocks,
        words=features.words,
        matched=matched_shares(block_words, truth).astype(np.float64) * features.words,
        truth_words=len(truth),
    )
