"""Creates training examples for the `reader` labeler from labelled pages about which `cpu` is
unsure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dripper.errors import PageError
from dripper.labels import Labeler
from dripper.labels.arrays import FloatArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.cpu.decide import decide
from dripper_lab.datasets import LabelledPage
from dripper_lab.train.reader.base import BaseModel
from dripper_lab.train.reader.pieces import choose_pieces, read_words
from dripper_lab.truth import Truth, read_truths
from dripper_labelers.reader.weights import Matrix, Tables, make_tokenizer
from dripper_labelers.reader.windows import TAGS, UNKNOWN_DRAFT, PageReader, ReadPage, Window

BELOW = 0.95
"""Only pages with a lower expected F1, according to `cpu`, are used for training."""
SURE_WEIGHT = 0.2
"""Weight of a block about which `cpu` is sure. Other blocks have weight 1."""
FIRST_SHARE = 3
"""The minimum length of a page's first window is the maximum divided by this number. The length is
random, so that the positions of blocks in windows differ between epochs."""
SEEN_BY_DRAFT = "web-kinds"
"""The data set on which the draft-making `cpu` weights were trained. Half of its windows are shown
to the reader without drafts.
"""
WITHOUT_DRAFT = 0.1
"""The fraction of windows from other sets that the reader sees without drafts, so that it does not
rely on drafts."""
_COUNTED_CHARACTERS, _COUNTED_TOKENS = 200, 32


class Doubtful(NamedTuple):
    """A labelled page about which `cpu` is unsure."""

    page: SimplifiedPage
    truth: Truth
    probability: FloatArray
    """(n_blocks,), the probability, according to `cpu`, that each block is main."""
    texts: Sequence[str]
    """The text of each block."""


class Example(NamedTuple):
    """One page, ready to train on."""

    truth: Truth
    read: ReadPage
    probability: FloatArray
    """(n_blocks,), the probability, according to `cpu`, that each block is main."""

    def targets(self, blocks: Sequence[int]) -> FloatArray:
        """Return the fraction of each block's words that belongs to the ground truth, shape
        (n,)."""
        return np.asarray((self.truth.matched / np.maximum(self.truth.words, 1))[list(blocks)].clip(0, 1))

    def weights(self, blocks: Sequence[int]) -> FloatArray:
        """Return the weight of each block in the loss, shape (n,)."""
        weights = np.where(self.read.unsure, 1.0, SURE_WEIGHT) * (self.truth.words > 0)
        return np.asarray(weights[list(blocks)])


Drawn = tuple[Example, Window]
"""A page, and a window of it."""


def find_doubtful(pages: Iterable[LabelledPage], cpu: Labeler) -> Iterator[Doubtful]:
    """Yield the pages about which `cpu` is unsure."""
    for page, truth in read_truths(pages):
        probability = cpu.label([page])[0].probability.astype(np.float64)
        if decide(probability, truth.words).expected_f1 < BELOW:
            yield Doubtful(SimplifiedPage.of(page), truth, probability, [block.text for block in page.blocks])


def make_tables(base: BaseModel, pages: Iterable[Doubtful]) -> Tables:
    """Return the embedding tables before training. They contain the pieces that the pages use most,
    the most probable other pieces, and all single characters."""
    tokenizer, counts = make_tokenizer(base.pieces, base.unknown), np.zeros(len(base.pieces), np.int64)
    for page in pages:
        cut = [text[:_COUNTED_CHARACTERS] for text in page.texts]
        for encoded in tokenizer.encode_batch(cut, add_special_tokens=False):
            np.add.at(counts, np.array(encoded.ids[:_COUNTED_TOKENS], np.int64), 1)
    chosen, shape = choose_pieces(base, counts), base.shape
    words = read_words(base, chosen)
    places = base.tensor("emb.pos", shape.positions, shape.width)
    types = base.tensor("emb.type", shape.types, shape.width)

    def nothing(n: int) -> Matrix:
        return np.zeros((n, shape.width), np.float32)

    begin, separator, unknown = (chosen.index(token) for token in (base.begin, base.end, base.unknown))
    pieces = [base.pieces[piece] for piece in chosen]
    return Tables(
        pieces, begin, separator, unknown, words, places + types[0], nothing(len(TAGS)), nothing(UNKNOWN_DRAFT + 1)
    )


def make_examples(pages: Iterable[Doubtful], tables: Tables) -> Iterator[Example]:
    """Yield an example for each page. Leave out pages that cannot be read or have no block in
    doubt."""
    reader = PageReader(tables)
    for page in pages:
        try:
            read = reader.read(page.page, page.probability)
        except PageError:
            continue
        if read.unsure.any():
            yield Example(page.truth, read, page.probability)


def draw_windows(example: Example, n: int, room: int, draw: np.random.Generator) -> list[Drawn]:
    """Return at most `n` random windows of a page. Each contains a block in doubt.

    Args:
        room: Maximum number of tokens in a window.
    """
    shown = example.read.cut(int(draw.integers(room // FIRST_SHARE, room + 1)))
    without = 0.5 if example.truth.key[0] == SEEN_BY_DRAFT else WITHOUT_DRAFT
    return [
        (example, example.read.show(shown[int(at)], is_drafted=draw.random() >= without))
        for at in draw.permutation(len(shown))[:n]
    ]
