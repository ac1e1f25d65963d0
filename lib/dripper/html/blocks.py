"""From paragraphs to numbered blocks with their text: what labelers look at (profile `dripper`)."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from dripper.html.segment import Paragraph
from dripper.html.tags import LINE_BREAKING
from dripper.html.tree import Tree, attributes, unescape


@dataclass(frozen=True, slots=True)
class Block:
    """One block: the unit that a labeler marks `main` or `other`.

    item_id: 1..N in document order.
    text: its visible text, never truncated; stripped, but inside white space as in the page, and a line break
        at every `br`, cell, item, … inside.
    link_chars: how many characters of the page's text in it stand inside links (white space at the ends of a link not
        counted).
    element: the block's element, an index into the page's tree. `tree.path(element)` has its ancestors.
    is_run: the block is only a run of texts and inline elements inside `element`, which may hold other blocks too.
    first, last: the slice `Page.elements.parts[first : last + 1]` is the block's markup.
    """

    item_id: int
    text: str
    link_chars: int
    element: int
    is_run: bool
    first: int
    last: int


def number(tree: Tree, paragraphs: Iterable[Paragraph]) -> list[Block]:
    """Return the paragraphs that show something (text that is not blank, or an image with an address) as blocks
    1..N.
    """
    images = [tree.opens[i] for i, tag in enumerate(tree.tags) if tag == "img" and _has_address(tree.start_tag(i))]
    plain = plain_parts(tree, tree.parts)
    shown = [
        paragraph
        for paragraph in paragraphs
        if not is_blank(plain[paragraph.first : paragraph.last + 1])
        or bisect_left(images, paragraph.first) < bisect_left(images, paragraph.last + 1)
    ]
    return make_blocks(tree, tree.parts, shown)


def is_blank(texts: Iterable[str]) -> bool:
    """Tell whether all texts are empty or white space."""
    return not any(text and not text.isspace() for text in texts)


def make_blocks(tree: Tree, texts: list[str], paragraphs: Iterable[Paragraph]) -> list[Block]:
    """Return the paragraphs as blocks 1..N; `texts` is `tree.parts`, perhaps with texts changed and elements
    blanked.
    """
    plain, linked = plain_parts(tree, texts), link_chars_before(tree, texts)
    return [
        Block(
            item_id,
            unescape("".join(plain[first : last + 1]).strip()),
            linked[last + 1] - linked[first],
            element,
            is_run,
            first,
            last,
        )
        for item_id, (element, first, last, is_run) in enumerate(paragraphs, 1)
    ]


def plain_parts(tree: Tree, texts: list[str]) -> list[str]:
    """Return `texts` with each tag replaced by what it means in plain text: a line break, or nothing."""
    breaks = {tag: "\n" if name in LINE_BREAKING else "" for tag, name in tree.names.items()}
    breaks[""] = ""
    plain = texts.copy()
    plain[1::2] = [breaks[tag] for tag in plain[1::2]]
    return plain


def link_chars_before(tree: Tree, texts: list[str]) -> list[int]:
    """Return for each index into `texts` how many characters inside links stand in the texts before it."""
    counts = [0] * len(texts)
    covered = -1
    for element, tag in enumerate(tree.tags):
        if tag == "a" and tree.opens[element] > covered:
            covered = tree.closes[element]
            for index in range(tree.opens[element] + 1, covered, 2):
                counts[index] = len(unescape(texts[index].strip()))
    return list(accumulate(counts, initial=0))


def _has_address(tag: str) -> bool:
    return " src=" in tag and _is_address(attributes(tag).get("src", ""))


def _is_address(src: str) -> bool:
    return bool(src.strip()) and not src.strip().startswith("data:image/")
