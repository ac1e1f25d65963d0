"""What the student reads of a page: blocks in doubt, and some on each side, in windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from network import POSITIONS, TAGS, UNKNOWN_DRAFT, Student

from dripper_labelers.reader.windows import find_unsure

ROOM = POSITIONS - 1
_TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS)}
_SUREST = 1e-4


@dataclass(frozen=True, slots=True)
class Cut:
    """How much is read."""

    full: int = 24
    """Tokens of a block in doubt."""
    side: int = 8
    """Tokens of one beside it."""
    reach: int = 2
    """Blocks on each side."""
    sure_weight: float = 0.2
    """The weight of a block beside, where one in doubt has 1."""


class Window(NamedTuple):
    """Three numbers a token, and the page's blocks with the tokens of each."""

    ids: npt.NDArray[np.int64]
    tags: npt.NDArray[np.int64]
    drafts: npt.NDArray[np.int64]
    blocks: Sequence[tuple[int, int]]


class Reading:
    """One page, cut to what is read of it."""

    def __init__(self, page: Mapping[str, Any], cut: Cut, specials: Sequence[int]) -> None:
        """page: as pack.py made it. specials: tokens that begin a window, and end a block."""
        probability, words, sizes = page["p"], page["words"], page["sizes"].astype(int)
        self.page, (self._begin, self._separator) = page, specials
        self.unsure = unsure = find_unsure(probability) & (words > 0)
        near = unsure.copy()
        for distance in range(1, cut.reach + 1):
            near[distance:] |= unsure[:-distance]
            near[:-distance] |= unsure[distance:]
        starts = np.cumsum(sizes) - sizes
        self.blocks = [int(block) for block in np.flatnonzero(near & (sizes > 0))]
        self.tokens = [
            page["ids"][starts[block] :][: min(sizes[block], cut.full if unsure[block] else cut.side)]
            for block in self.blocks
        ]
        bounded = np.clip(probability, _SUREST, 1 - _SUREST)
        self._drafts = np.clip(np.rint(np.log(bounded / (1 - bounded))) + 6, 0, UNKNOWN_DRAFT - 1).astype(int)
        self._tags = [_TAG_NUMBERS.get(tag, len(TAGS) - 1) for tag in page["tags"]]
        self.target = np.clip(page["matched"] / np.maximum(words, 1), 0, 1)
        self.weight = np.where(unsure, 1.0, cut.sure_weight) * (words > 0)

    def cut(self, first: int = ROOM) -> list[list[int]]:
        """Return the places in `blocks` of each window that shows one in doubt.

        Args:
            first: Tokens of the first window.
        """
        windows: list[list[int]] = []
        used = ROOM
        for place, tokens in enumerate(self.tokens):
            if used + len(tokens) + 1 > ROOM:
                windows.append([])
                used = ROOM - first if len(windows) == 1 else 0
            windows[-1].append(place)
            used += len(tokens) + 1
        return [window for window in windows if any(self.unsure[self.blocks[place]] for place in window)]

    def show(self, places: Sequence[int], *, is_drafted: bool = True) -> Window:
        """Return the window that shows these blocks."""
        ids, tags, drafts = [np.array([self._begin])], [np.array([0])], [np.array([UNKNOWN_DRAFT])]
        blocks = [(self.blocks[place], len(self.tokens[place]) + 1) for place in places]
        for place, (block, size) in zip(places, blocks, strict=True):
            ids += [self.tokens[place], np.array([self._separator])]
            tags.append(np.full(size, self._tags[block]))
            drafts.append(np.full(size, self._drafts[block] if is_drafted else UNKNOWN_DRAFT))
        return Window(np.concatenate(ids).astype(np.int64), np.concatenate(tags), np.concatenate(drafts), blocks)


class Batch(NamedTuple):
    """Windows as tensors, padded."""

    ids: torch.Tensor
    tags: torch.Tensor
    drafts: torch.Tensor
    mask: torch.Tensor
    owners: torch.Tensor
    """(rows · tokens,), the number of the block among all of the batch; behind the last: none's."""
    sizes: torch.Tensor
    """(n_blocks,), tokens."""

    @classmethod
    def of(cls, windows: Sequence[Window], padding: int, device: str) -> "Batch":
        """Return the batch of some windows."""
        shape = len(windows), -(-max(len(window.ids) for window in windows) // 32) * 32
        sizes = [size for window in windows for _, size in window.blocks]
        ids, tags, drafts = np.full(shape, padding), np.zeros(shape, np.int64), np.full(shape, UNKNOWN_DRAFT)
        mask, owners, n_blocks = np.zeros(shape, bool), np.full(shape, len(sizes)), 0
        for row, window in enumerate(windows):
            length = len(window.ids)
            ids[row, :length], tags[row, :length], drafts[row, :length] = window[:3]
            mask[row, :length] = True
            own = np.arange(n_blocks, n_blocks + len(window.blocks))
            owners[row, 1:length] = np.repeat(own, [size for _, size in window.blocks])
            n_blocks += len(window.blocks)
        arrays = (ids, tags, drafts, mask[:, None, None, :], owners.reshape(-1), np.array(sizes, np.float32))
        return cls(*(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays))

    def average(self, model: Student) -> torch.Tensor:
        """Return the mean margin over each block's tokens, (n_blocks,)."""
        margins = model(self.ids, self.tags, self.drafts, self.mask).float().reshape(-1)
        sums = torch.zeros(len(self.sizes) + 1, device=margins.device).index_add(0, self.owners, margins)
        return sums[:-1] / self.sizes
