"""What `preprocess` returns: a page split into blocks, in the two forms that the Dripper paper (3.2) names."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """One block: the unit that a labeler marks `main` or `other`.

    item_id: 1..N in document order. text: its visible text, white space as in the page, never truncated.
    link_chars: how many characters of `text` stand inside links.
    path: the elements from the root to the block, as indexes into `Page.elements` (ancestors first, the block's own last).
    """

    item_id: int
    text: str
    link_chars: int
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page, split. All sequences are in document order.

    simplified_html: what a language model reads: one element a block, each with `_item_id`.
    mapping_html: the whole page with the same ids, from which the main HTML is cut.
    item_ids: 1..N. blocks: N blocks. title: of `<title>`, or "".
    """

    simplified_html: str
    mapping_html: str
    item_ids: Sequence[int]
    blocks: Sequence[Block]
    title: str = ""
