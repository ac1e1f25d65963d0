"""From paragraphs to numbered blocks with their text: what labelers look at (profile `dripper`)."""

from collections.abc import Iterable
from typing import NamedTuple

from dripper.blocks.segment import Paragraph
from dripper.markup.tree import Tree, attribute, plain_parts, unescape


class Block(NamedTuple):
    """One block: the unit that a labeler marks `main` or `other`."""

    item_id: int
    """1..N in document order."""
    text: str
    """Its visible text, never truncated; stripped, but inside white space as in the page, and a
    line break at every `br`, cell, item, … inside."""
    element: int
    """The block's element, an index into the page's tree. `tree.path(element)` has its ancestors.
    """
    is_run: bool
    """The block is only a run of texts and inline elements inside `element`, which may hold other
    blocks too."""
    first: int
    last: int
    """Both: the slice `Page.elements.parts[first : last + 1]` is the block's markup."""


def number(tree: Tree, texts: list[str], paragraphs: Iterable[Paragraph], *, check: bool = True) -> list[Block]:
    """Return the paragraphs that show something (text that is not blank, or an image with an
    address) as blocks 1..N.

    texts: `tree.parts`, perhaps with texts changed and elements blanked. check: False if all are
    known to show
        something.
    """
    plain = plain_parts(tree, texts)
    blocks: list[Block] = []
    for element, first, last, is_run in paragraphs:
        text = "".join(plain[first : last + 1]).strip()
        if check and not text and not _has_shown_image(texts[first | 1 : last + 1 : 2]):
            continue
        text = unescape(text) if "&" in text else text
        blocks.append(Block(len(blocks) + 1, text, element, is_run, first, last))
    return blocks


def _has_shown_image(tags: list[str]) -> bool:
    for tag in tags:
        if tag[:5] == "<img ":
            address = (attribute(tag, "src") or "").strip()
            if address and not address.startswith("data:image/"):
                return True
    return False
