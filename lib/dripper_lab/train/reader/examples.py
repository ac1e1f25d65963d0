"""Makes examples for the labeler `reader`: labelled pages of which `cpu` is unsure, as windows of
their blocks' texts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.errors import PageError
from dripper.html.blocks.page import Page
from dripper.labels import Labeler
from dripper.labels.arrays import FloatArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.cpu.decide import decide
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import Truth, read_truths
from dripper_labelers.reader.windows import Window, WindowMaker, find_unsure

BELOW = 0.95
"""Pages are learned from of which `cpu` expects less F1."""
SURE_WEIGHT = 0.2
"""Weight of a block of which `cpu` is sure, beside 1."""
FIRST_SHARE = 3
"""The first window of a page has a random length, from the whole divided by this on: so that blocks
stand in other places from epoch to epoch."""


class Example(NamedTuple):
    """One page, ready to train on."""

    truth: Truth
    ids: Sequence[Sequence[int]]
    """Tokens of each block."""
    probability: FloatArray
    """(n_blocks,), by `cpu`."""

    @property
    def unsure(self) -> npt.NDArray[np.bool_]:
        """Which blocks are in doubt, (n_blocks,)."""
        return find_unsure(self.probability) & (self.truth.words > 0)

    def targets(self, blocks: Sequence[int]) -> FloatArray:
        """Return the share of each block's words that is main, shape (n,)."""
        return np.asarray((self.truth.matched / np.maximum(self.truth.words, 1))[list(blocks)].clip(0, 1))

    def weights(self, blocks: Sequence[int]) -> FloatArray:
        """Return what each block weighs in the loss, shape (n,)."""
        weights = np.where(self.unsure, 1.0, SURE_WEIGHT) * (self.truth.words > 0)
        return np.asarray(weights[list(blocks)])


Drawn = tuple[Example, Window]
"""A page, and a window of it."""


def read_examples(pages: Iterable[LabelledPage], maker: WindowMaker, cpu: Labeler) -> Iterator[Example]:
    """Yield one example a page of which `cpu` is unsure."""
    for page, truth in read_truths(pages):
        probability = _label(page, cpu)
        if not decide(probability, truth.words).expected_f1 < BELOW:
            continue
        try:
            _, ids = maker.encode(SimplifiedPage.of(page))
        except PageError:
            continue
        yield Example(truth, ids, probability)


def _label(page: Page, cpu: Labeler) -> FloatArray:
    return cpu.label([page])[0].probability.astype(np.float64)


def draw_windows(example: Example, maker: WindowMaker, n: int, draw: np.random.Generator) -> list[Drawn]:
    """Return random windows of a page that show a block in doubt, `n` at most."""
    first = int(draw.integers(maker.room // FIRST_SHARE, maker.room + 1))
    unsure = example.unsure
    shown = [blocks for blocks in maker.cut(example.ids, first) if unsure[blocks].any()]
    chosen = draw.permutation(len(shown))[:n]
    return [(example, maker.show(example.ids, shown[int(at)])) for at in chosen]
