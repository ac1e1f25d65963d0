"""Splits a page into windows for the reader. A window contains the beginnings of doubtful blocks
and of up to two blocks on each side of them, each followed by a separator."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import split_blocks
from dripper.labels.words import words_of
from dripper.tree.tree import unescape
from dripper_labelers.encoder.sequence import TAG, break_up
from dripper_labelers.reader.weights import Tables, make_tokenizer

BLOCK_TOKENS = 16
"""The maximum number of tokens read from a doubtful block. With 24 (and 8 for neighboring blocks),
reading took 1.14 times as long, and F1 was 0.001 lower on 385 training pages (0.007 lower to 0.005
higher)."""
SIDE_TOKENS = 4
"""The maximum number of tokens read from a neighbor of a doubtful block."""
REACH = 2
"""The number of neighbors to read on each side of a doubtful block."""
BLOCK_CHARACTERS = 120
"""The maximum number of characters to tokenize per block, because tokenizing text to discard it is
slow. With 400, only one of 15,109 blocks has different tokens."""
READ_WINDOWS = 2
"""The maximum number of windows to read per page. Windows with the most doubtful blocks are
preferred. With a limit of 16, reading takes 1.2 to 2 times as long. On 111 pages that the reader
was not trained on, F1 is 0.001 to 0.002 lower with a limit of 16. (On pages that the reader was
trained on, a limit of 2 loses 0.016 F1, but such pages cannot decide this. On 302 evaluation pages,
a limit of 2 loses 0.0017 compared with a limit of 6.)"""
UNSURE = 0.03
"""A block is doubtful if its probability is between UNSURE and 1 - UNSURE. Other blocks keep their
probability. On 939 held-out pages, 0.01 and 0.03 gave the same F1, and 0 gave 0.005 less. With 0.1,
F1 was 0.018 lower on 95 later pages (0.042 lower to 0.008 higher), and 0.016 lower on 385 training
pages (0.007 to 0.025 lower)."""
TAGS = (
    "?", "p", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "table", "a", "span", "noscript", "button",
    "picture", "figure", "img", "figcaption", "select", "dl", "dt", "dd", "pre", "form", "blockquote", "label", "legend",
    "summary", "address", "footer", "header", "nav", "article", "section", "textarea", "div",
)  # fmt: skip
"""The tags that have a number of their own. Any other tag counts as `div`."""
UNKNOWN_DRAFT = 13
"""The draft level of a token outside all blocks, or of a block without a draft."""
_TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS)}
_FIRST_TAG = re.compile(r"\s*<([a-zA-Z0-9-]+)")
_SUREST = 1e-4


class Window(NamedTuple):
    """Part of a page in the reader's input form: a token ID, a tag and a draft level per token."""

    ids: npt.NDArray[np.int64]
    tags: npt.NDArray[np.int64]
    drafts: npt.NDArray[np.int64]
    blocks: Sequence[int]
    """The indexes of the blocks, ascending."""
    sizes: IntArray
    """The number of tokens in each block, including its separator. The first token of the window
    belongs to no block."""

    def average(self, margins: FloatArray) -> FloatArray:
        """Return the mean margin over each block's tokens, (n_blocks,)."""
        starts = 1 + np.cumsum(self.sizes) - self.sizes
        return np.asarray(np.add.reduceat(margins, starts) / self.sizes)


class ReadPage:
    """A tokenized page that can be split into windows."""

    def __init__(
        self,
        words: IntArray,
        ids: Mapping[int, Sequence[int]],
        tags: Sequence[int],
        probability: FloatArray,
        tables: Tables,
    ) -> None:
        """`ids` maps the index of each shown block, in ascending order, to the block's tokens.
        `tags` contains a number (see `TAGS`) for every block of the page."""
        self.words = words
        self.unsure = find_unsure(probability) & (words > 0)
        self._begin, self._separator, self._room = tables.begin, tables.separator, len(tables.places) - 1
        self._tags, self._steps = tags, step_of(probability)
        self._ids = {
            block: list(tokens[: BLOCK_TOKENS if self.unsure[block] else SIDE_TOKENS])
            for block, tokens in ids.items()
            if tokens
        }

    def cut(self, first: int = 0) -> list[list[int]]:
        """Return the blocks of each window that contains a doubtful block.

        Args:
            first: The maximum number of tokens in the first window; 0 means no special limit.
        """
        windows: list[list[int]] = []
        used = self._room
        for block, tokens in self._ids.items():
            if used + len(tokens) + 1 > self._room:
                used = 0 if windows or not first else max(0, self._room - first)
                windows.append([])
            windows[-1].append(block)
            used += len(tokens) + 1
        return [blocks for blocks in windows if self.unsure[blocks].any()]

    def choose(self) -> list[list[int]]:
        """Choose the windows to read. Return the blocks of each window, in page order."""
        windows = self.cut()
        doubts = np.array([int(self.unsure[blocks].sum()) for blocks in windows])
        return [windows[at] for at in sorted(np.argsort(-doubts, kind="stable")[:READ_WINDOWS].tolist())]

    def show(self, blocks: Sequence[int], *, is_drafted: bool = True) -> Window:
        """Return a window of the given blocks.

        Args:
            is_drafted: Whether the window contains the draft of the previous labeler.
        """
        sizes = np.array([len(self._ids[block]) + 1 for block in blocks])
        ids = [self._begin, *(token for block in blocks for token in (*self._ids[block], self._separator))]
        tags = np.repeat([0, *(self._tags[block] for block in blocks)], [1, *sizes])
        steps = self._steps[list(blocks)] if is_drafted else np.full(len(blocks), UNKNOWN_DRAFT)
        drafts = np.repeat([UNKNOWN_DRAFT, *steps], [1, *sizes])
        return Window(np.array(ids, np.int64), tags.astype(np.int64), drafts.astype(np.int64), blocks, sizes)


class PageReader:
    """Tokenizes pages for the reader."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._tokenizer = make_tokenizer(tables.pieces, tables.unknown)
        specials = (tables.pieces[token][0] for token in (tables.begin, tables.separator, tables.unknown))
        self._special = re.compile("|".join(map(re.escape, specials)))

    def read(self, page: SimplifiedPage, probability: FloatArray) -> ReadPage:
        """Tokenize a page.

        Args:
            probability: The previous labeler's probability that each block is main, (n_blocks,).

        Raises:
            PageError: See `split_blocks`.
        """
        markups = split_blocks(page).blocks
        texts = [" ".join(unescape(TAG.sub(" ", markup)).split()) for markup in markups]
        words = np.array([len(words_of(text)) for text in texts], np.int64)
        shown = find_shown(find_unsure(probability) & (words > 0))
        # Special tokens are broken up. Otherwise, a page could insert its own separators.
        safe = [break_up(self._special, texts[block][:BLOCK_CHARACTERS]) for block in shown]
        encoded = self._tokenizer.encode_batch(safe, add_special_tokens=False)
        ids = {block: each.ids for block, each in zip(shown, encoded, strict=True)}
        return ReadPage(words, ids, [number_of_tag(markup) for markup in markups], probability, self._tables)


def find_shown(unsure: npt.NDArray[np.bool_]) -> list[int]:
    """Return the indexes of the blocks to read, ascending: doubtful blocks and `REACH` neighbors on
    each side.

    >>> find_shown(np.array([False, False, False, True, False]))
    [1, 2, 3, 4]
    """
    near = unsure.copy()
    for distance in range(1, REACH + 1):
        near[distance:] |= unsure[:-distance]
        near[:-distance] |= unsure[distance:]
    return np.flatnonzero(near).tolist()


def number_of_tag(markup: str) -> int:
    """Return the number of a block's own tag; see `TAGS`.

    >>> [TAGS[number_of_tag(markup)] for markup in ('<LI _item_id="1">', "<o:p>", "text")]
    ['li', 'div', '?']
    """
    tag = _FIRST_TAG.match(markup)
    return _TAG_NUMBERS.get(tag[1].lower(), len(TAGS) - 1) if tag else 0


def step_of(probability: FloatArray) -> npt.NDArray[np.int64]:
    """Convert probabilities to levels from 0 to 12: their log odds, rounded to integers from -6 to
    6, plus 6.

    >>> step_of(np.array([0.0, 0.5, 0.73, 1.0])).tolist()
    [0, 6, 7, 12]
    """
    bounded = np.clip(probability, _SUREST, 1 - _SUREST)
    return np.asarray(np.clip(np.rint(np.log(bounded / (1 - bounded))) + 6, 0, UNKNOWN_DRAFT - 1), np.int64)


def find_unsure(probability: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether each block is doubtful, given its probability of being main, (n_blocks,).

    >>> find_unsure(np.array([0.01, 0.5, 0.99])).tolist()
    [False, True, False]
    """
    return np.asarray((probability > UNSURE) & (probability < 1 - UNSURE))
