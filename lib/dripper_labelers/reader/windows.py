"""Cuts a page into the windows that the reader reads: the beginnings of blocks' texts in a row, a
separator behind each, wherever the labeler before was unsure of one of them."""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.html.tree.tree import unescape
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import split_blocks
from dripper.labels.words import words_of
from dripper_labelers.encoder.sequence import TAG, Chunk
from dripper_labelers.reader.base import BaseModel, make_tokenizer

BLOCK_TOKENS = 32
BLOCK_CHARACTERS = 400
"""So much of a block's text is read. Tokenizers are slow on text that is thrown away."""
READ_WINDOWS = 16
"""So many windows of a page are read at most, those with the most blocks in doubt: else a page of
100,000 blocks could stall its worker. Of 1,938 labelled pages in doubt 99 in 100 have 12 or
fewer."""
UNSURE = 0.03
"""A block with a probability from here to 1 - it is in doubt; the others keep theirs. On 939
held-out pages 0.01 and 0.03 gave the same, and 0 gave 0.005 less F1."""


class ReadPage(NamedTuple):
    """A page as the reader sees it."""

    words: IntArray
    """(n_blocks,), the number of words of each block."""
    windows: Sequence[Chunk]
    """`separators` are the places of all tokens of the blocks, `blocks` of which one that is."""
    blocks: Sequence[IntArray]
    """For each window the numbers of the blocks that it shows, ascending."""
    sizes: Sequence[IntArray]
    """For each window the tokens of each of these blocks, with the separator."""


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
        shown = [blocks for blocks in self.cut(ids) if unsure[blocks].any()]
        doubts = [int(unsure[blocks].sum()) for blocks in shown]
        read = sorted(np.argsort([-doubt for doubt in doubts], kind="stable")[:READ_WINDOWS].tolist())
        return ReadPage(
            words,
            [self.join(ids, shown[at]) for at in read],
            [np.array(shown[at]) for at in read],
            [np.array([len(ids[block]) + 1 for block in shown[at]]) for at in read],
        )

    def encode(self, page: SimplifiedPage) -> tuple[IntArray, list[list[int]]]:
        """Return the number of words of each block, shape (n_blocks,), and the tokens that are read
        of it. Raises as `read`."""
        texts = [" ".join(unescape(TAG.sub(" ", markup)).split()) for markup in split_blocks(page).blocks]
        # A page could else write separators of its own.
        safe = [self._special.sub(_break_up, text[:BLOCK_CHARACTERS]) for text in texts]
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

    def join(self, ids: Sequence[Sequence[int]], blocks: Sequence[int]) -> Chunk:
        """Return the window that shows these blocks."""
        row = [self._begin, *(token for block in blocks for token in (*ids[block], self._separator))]
        return Chunk(blocks[0], blocks[-1] + 1, row, range(1, len(row)))


def _break_up(special: re.Match[str]) -> str:
    return f"{special[0][0]} {special[0][1:]}"


def average_blocks(margins: FloatArray, sizes: IntArray) -> FloatArray:
    """Return the mean of each block's tokens.

    >>> average_blocks(np.array([1.0, 3.0, 5.0]), np.array([2, 1]))
    array([2., 5.])
    """
    starts = list(accumulate(sizes[:-1].tolist(), initial=0))
    return np.asarray(np.add.reduceat(margins, starts) / sizes)
