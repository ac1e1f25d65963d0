"""Cuts a page into the windows that the reader reads: the beginnings of blocks' texts in a row, a
separator behind each, wherever the labeler before was unsure of one of them."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.html.tree.tree import unescape
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import split_blocks
from dripper.labels.words import words_of
from dripper_labelers.encoder.sequence import TAG, Chunk, break_up
from dripper_labelers.reader.base import BaseModel, make_tokenizer

BLOCK_TOKENS = 32
BLOCK_CHARACTERS = 400
"""Characters of a block's text that are read. Tokenizers are slow on text that is thrown away."""
READ_WINDOWS = 16
"""Windows of a page that are read at most, those with the most blocks in doubt: else a page of
100,000 blocks could stall its worker. Of 1,938 labelled pages in doubt 99 in 100 have 12 or
fewer."""
UNSURE = 0.03
"""A block with a probability from here to 1 - it is in doubt; the others keep theirs. On 939
held-out pages 0.01 and 0.03 gave the same, and 0 gave 0.005 less F1."""


class Window(NamedTuple):
    """A window: some blocks of a page, as the reader sees them."""

    chunk: Chunk
    """`separators` are the places of all tokens of the blocks."""
    blocks: Sequence[int]
    """The numbers of the blocks, ascending."""
    sizes: IntArray
    """The tokens of each block, with its separator."""

    def average(self, margins: FloatArray) -> FloatArray:
        """Return the mean over each block's tokens, shape (n_blocks,), of what is said of each
        token."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.asarray(np.add.reduceat(margins, starts) / self.sizes)


class ReadPage(NamedTuple):
    """A page as the reader sees it."""

    words: IntArray
    """(n_blocks,), the number of words of each block."""
    windows: Sequence[Window]


class WindowMaker:
    """Makes windows of pages."""

    def __init__(self, base: BaseModel) -> None:
        self._tokenizer: Any = make_tokenizer(base)
        self._begin, self._separator, self.padding = base.begin, base.end, base.padding
        specials = (base.pieces[token][0] for token in (base.begin, base.end, base.padding, base.unknown))
        self._special = re.compile("|".join(map(re.escape, specials)))
        self.room = base.shape.positions - 1

    def read(self, page: SimplifiedPage, unsure: npt.NDArray[np.bool_]) -> ReadPage:
        """Return the windows of a page in which a block is unsure, in order.

        Args:
            unsure: (n_blocks,).

        Raises:
            PageError: As `split_blocks`.
        """
        words, ids = self.encode(page)
        return ReadPage(words, self.choose(ids, unsure))

    def choose(self, ids: Sequence[Sequence[int]], unsure: npt.NDArray[np.bool_]) -> list[Window]:
        """Return the windows of a page that are read, in order.

        Args:
            ids: The tokens of each block.
            unsure: (n_blocks,).
        """
        shown = [blocks for blocks in self.cut(ids) if unsure[blocks].any()]
        doubts = np.array([int(unsure[blocks].sum()) for blocks in shown])
        read = sorted(np.argsort(-doubts, kind="stable")[:READ_WINDOWS].tolist())
        return [self.show(ids, shown[at]) for at in read]

    def encode(self, page: SimplifiedPage) -> tuple[IntArray, list[list[int]]]:
        """Return the number of words of each block, shape (n_blocks,), and the tokens that are read
        of it. Raises as `read`."""
        texts = [" ".join(unescape(TAG.sub(" ", markup)).split()) for markup in split_blocks(page).blocks]
        # A page could else write separators of its own.
        safe = [break_up(self._special, text[:BLOCK_CHARACTERS]) for text in texts]
        encoded = self._tokenizer.encode_batch(safe, add_special_tokens=False)
        words = np.array([len(words_of(text)) for text in texts], np.int64)
        return words, [each.ids[:BLOCK_TOKENS] for each in encoded]

    def cut(self, ids: Sequence[Sequence[int]], first: int = 0) -> list[list[int]]:
        """Return the blocks of each window; those without text are in none.

        Args:
            first: Tokens of the first window; 0: as many as fit.
        """
        windows: list[list[int]] = []
        used = self.room
        for block, tokens in enumerate(ids):
            if not tokens:
                continue
            if used + len(tokens) + 1 > self.room:
                used = 0 if windows or not first else max(0, self.room - first)
                windows.append([])
            windows[-1].append(block)
            used += len(tokens) + 1
        return windows

    def show(self, ids: Sequence[Sequence[int]], blocks: Sequence[int]) -> Window:
        """Return the window that shows these blocks."""
        row = [self._begin, *(token for block in blocks for token in (*ids[block], self._separator))]
        sizes = np.array([len(ids[block]) + 1 for block in blocks])
        return Window(Chunk(blocks[0], blocks[-1] + 1, row, range(1, len(row))), blocks, sizes)


def find_unsure(probability: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which blocks are in doubt by their probability to be main, (n_blocks,).

    >>> find_unsure(np.array([0.01, 0.5, 0.99])).tolist()
    [False, True, False]
    """
    return np.asarray((probability > UNSURE) & (probability < 1 - UNSURE))
