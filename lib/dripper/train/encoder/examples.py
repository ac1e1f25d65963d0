"""From labelled pages to examples for the labeler `encoder`: the tokens of blocks, and which of
them are main."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage
from dripper.errors import PageError
from dripper.html import preprocess
from dripper.labels.align import matched_shares
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.encoder.sequence import Chunk, Sequencer
from dripper.labels.words import words_of
from dripper.train.web2text.examples import between
from dripper.warc import decode

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on; in block order."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    kind: str
    """The page's type: `nothing` where it has no main content; sets that name none are of
    articles."""
    ids: Sequence[Sequence[int]]
    """Tokens of each block."""
    words: IntArray
    """(n_blocks,)."""
    matched: FloatArray
    """(n_blocks,) how many words of each block belong to the truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_blocks,) whether at least half of a block's words do; one without words (an image) is main
    between main blocks."""

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of blocks against the truth."""
        return float(2 * self.matched[main].sum() / max(1, int(self.words[main].sum()) + self.truth_words))


def read_examples(pages: Iterable[LabelledPage], sequencer: Sequencer) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach (nothing of the truth in their blocks) are
    left out, logged. A page without a truth teaches that nothing of it is main."""
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        own, truth = [words_of(block.text) for block in page.blocks], words_of(labelled.truth_text)
        words = np.array([len(each) for each in own], np.int64)
        matched = matched_shares(own, truth).astype(np.float64) * words
        main = between((matched >= 0.5 * words) & (words > 0), words)
        if not len(own) or (truth and not main.any()):
            log.warning("%s/%s left out: no block holds its truth", labelled.data_set, labelled.id)
            continue
        ids = sequencer.block_ids(SimplifiedPage(page.simplified_html, len(page.blocks)))
        kind = (labelled.page_type or "article") if truth else "nothing"
        key = (labelled.data_set, labelled.id)
        yield Example(key, labelled.host, kind, ids, words, matched, len(truth), main)


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
