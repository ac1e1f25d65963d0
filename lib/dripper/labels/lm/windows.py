"""Cuts pages that do not fit the model's context into overlapping windows of whole blocks, and
merges the labels of the windows. Each window is labelled as if it were a page."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from dripper.errors import ErrorCode, PageError
from dripper.labels.base import SimplifiedPage

# Matches any start tag; a block's start tag has `_item_id` as its last attribute. All start tags
# are matched, one after another, because an attribute value may look like the start of a block:
# `<span class='<p _item_id="9">'>`. Outside tags, `<` is always `&lt;`, but a tag name may contain
# `<`, as in `<li<b>`.
_START_TAG = re.compile(
    r"""<[a-zA-Z][^\s>/]*(?:\s+[^\s=<>"']+(?:=(?:"[^"]*"|'[^']*'))?)*?(?: _item_id="(\d+)")?\s*/?>"""
)
Number = TypeVar("Number", bound=np.generic)
_ITEM_ID = re.compile(r' _item_id="\d+">')


@dataclass(frozen=True, slots=True)
class BlockTexts:
    """The parts of a simplified page: the markup before the first block, the markup of each block,
    and the markup after the last block."""

    head: str
    blocks: Sequence[str]
    tail: str

    def html(self, start: int, end: int) -> str:
        """Return the simplified HTML of the blocks from `start` to `end` (0-based, end excluded),
        with ids from 1."""
        numbered = (
            _ITEM_ID.sub(f' _item_id="{item}">', block, count=1) for item, block in enumerate(self.blocks[start:end], 1)
        )
        return f"{self.head}{''.join(numbered)}{self.tail}"


@dataclass(frozen=True, slots=True)
class PageWindow:
    """The blocks of a page from `start` to `end` (0-based, end excluded). `html` is the model's
    input, with ids from 1."""

    start: int
    end: int
    html: str


def split_blocks(page: SimplifiedPage) -> BlockTexts:
    """Return the parts of a simplified page. Joining the parts reproduces the page.

    Raises PageError (labeler_failed) if the HTML does not have the blocks 1..n_blocks in order.
    """
    html = page.simplified_html
    starts = [tag for tag in _START_TAG.finditer(html) if tag[1]]
    if [int(start[1]) for start in starts] != list(range(1, page.n_blocks + 1)):
        raise PageError(
            ErrorCode.LABELER_FAILED,
            f"the simplified HTML has {len(starts)} blocks that are not numbered 1 to {page.n_blocks}",
        )
    end = html.rfind("</body>") if html.endswith("</body></html>") else len(html)
    edges = [start.start() for start in starts] + [end]
    return BlockTexts(html[: edges[0]], [html[a:b] for a, b in pairwise(edges)], html[end:])


OVERLAP_BLOCKS = 8
"""The maximum number of blocks that two neighbouring windows share, so that no block is labelled
without context."""


def cut_windows(
    page: SimplifiedPage,
    budget: Callable[[int], int],
    count_tokens: Callable[[str], int],
    overlap: int = OVERLAP_BLOCKS,
) -> list[PageWindow]:
    """Return windows that cover the page and fit the context. Each window starts at most `overlap`
    blocks before the end of the previous window. A block that does not fit even alone is clipped.

    Args:
        budget: Returns the maximum number of tokens in the HTML of a window with a given number of
            blocks (the context minus the prompt and the answer).
        count_tokens: Returns the number of tokens of an HTML text.

    Raises:
        PageError: As in `split_blocks`, or if the prompt leaves no room for even an empty block.
    """
    if count_tokens(page.simplified_html) <= budget(page.n_blocks):
        return [PageWindow(0, page.n_blocks, page.simplified_html)]
    texts = split_blocks(page)
    sizes = _Sizes(texts, count_tokens)
    windows = [_window(texts, sizes, 0, budget, count_tokens)]
    while (end := windows[-1].end) < page.n_blocks:
        start = max(end - overlap, windows[-1].start + 1)
        # The first new block must fit into the window together with the repeated blocks.
        while start < end and sizes.of(start, end + 1) > budget(end + 1 - start):
            start += 1
        window = _window(texts, sizes, start, budget, count_tokens)
        windows.append(window if window.end > end else _window(texts, sizes, end, budget, count_tokens))
    return windows


class Span(Protocol):
    """The blocks of a page from `start` to `end` (0-based, end excluded)."""

    @property
    def start(self) -> int:
        """The first block."""
        ...

    @property
    def end(self) -> int:
        """The block after the last."""
        ...


def merge_windows(windows: Sequence[Span], labels: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """Merge the windows' values, each of shape (end - start,), into one value per block of the
    page.

    The first half of an overlap is taken from the earlier window, and the second half from the
    later window. Each block gets its label from the window that has more context around the block.
    """
    cuts = [(later.start + earlier.end) // 2 for earlier, later in pairwise(windows)]
    edges = [0, *cuts, windows[-1].end]
    parts = [
        values[start - window.start : end - window.start]
        for window, values, (start, end) in zip(windows, labels, pairwise(edges), strict=True)
    ]
    return np.concatenate(parts)


class _Sizes:
    """Estimates the token counts of ranges of blocks from the counts of single blocks. Callers
    confirm the estimate with a real count."""

    def __init__(self, texts: BlockTexts, count_tokens: Callable[[str], int]) -> None:
        self._frame = count_tokens(texts.head) + count_tokens(texts.tail)
        self._before = [0, *accumulate(count_tokens(block) for block in texts.blocks)]

    def of(self, start: int, end: int) -> int:
        return self._frame + self._before[end] - self._before[start]


def _window(
    texts: BlockTexts,
    sizes: _Sizes,
    start: int,
    budget: Callable[[int], int],
    count_tokens: Callable[[str], int],
) -> PageWindow:
    """Return the longest window from `start` on, with at least one block."""
    end = start + 1
    while end < len(texts.blocks) and sizes.of(start, end + 1) <= budget(end + 1 - start):
        end += 1
    html = texts.html(start, end)
    # Tokens can merge or split at the boundary of two blocks.
    while end > start + 1 and count_tokens(html) > budget(end - start):
        end -= 1
        html = texts.html(start, end)
    return PageWindow(start, end, clip(html, budget(end - start), count_tokens) if end == start + 1 else html)


def clip(html: str, tokens: int, count_tokens: Callable[[str], int]) -> str:
    """Shorten `html` to at most `tokens` tokens. The result keeps about as much of the beginning as
    possible.

    Raises PageError (labeler_failed) if `tokens` is below 1, because the prompt alone fills the
    context.
    """
    if tokens < 1:
        raise PageError(
            ErrorCode.LABELER_FAILED,
            "the prompt alone fills the model's context; raise labels.lm.context_tokens or choose a shorter prompt",
        )
    while (n_tokens := count_tokens(html)) > tokens:
        html = html[: min(len(html) - 1, len(html) * tokens // n_tokens)]
    return html
