"""Finds the nodes of a page (paper 3.1) in document order. A node is a string, a list or a
table."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dripper.blocks.block import Block
from dripper.blocks.page import Page
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import split_blocks
from dripper.tree.tree import Tree, unescape

CONTAINERS = frozenset({"table", "ol", "ul", "dl"})
# The model reads only the first few tokens of a node, and tokenizing text to discard it is slow.
READ_CHARACTERS = 120

ANNOTATIONS = ("heading", "title", "paragraph", "table", "list")
"""Node annotations other than main (paper 3.2, after ClueWeb22). A title is also a heading."""
_ANNOTATED_BY = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
    **dict.fromkeys(("ol", "ul", "dl"), "list"),
    "p": "paragraph",
    "table": "table",
}
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s>/]*)(?:[^"'>]|"[^"]*"|'[^']*')*>""")


class Node(NamedTuple):
    """A string of the page, a list or a table."""

    block: int
    """The index of the node's block in the page, from 0."""
    text: str
    """The beginning of the node's text, with white space collapsed."""
    size: int
    """The node's weight in its block, in characters. Lists and tables have 0, because the strings
    in them are separate nodes."""
    inside: frozenset[str] = frozenset()
    """The node's `ANNOTATIONS`, from its own element and its ancestors; never `title`."""


def find_nodes(page: SimplifiedPage) -> list[Node]:
    """Return the nodes of a page. Raises PageError (labeler_failed) if the HTML does not contain
    the blocks that the page lists.

    >>> blocks = '<p _item_id="1">One <b>two</b></p><ul _item_id="2"><li>three</ul>'
    >>> html = f"<html><body>{blocks}</body></html>"
    >>> [tuple(node)[:3] for node in find_nodes(SimplifiedPage(html, 2))]
    [(0, 'One', 3), (0, 'two', 3), (1, 'three', 0), (1, 'three', 5)]
    """
    if not page.n_blocks:
        return []
    return [node for number, markup in enumerate(split_blocks(page).blocks) for node in _read_markup(markup, number)]


def find_nodes_of_page(page: Page, reads: str) -> list[Node]:
    """Return the nodes of a whole page. Raises the same errors as `find_nodes`.

    Args:
        reads: See `Shape.reads`.
    """
    if reads == "simplified":
        return find_nodes(SimplifiedPage.of(page))
    return [node for number, block in enumerate(page.blocks) for node in _read_tree(page.elements, block, number)]


def _read_markup(markup: str, number: int) -> Iterator[Node]:
    texts, tags, last = list[str](), list[tuple[str, bool]](), 0
    for tag in _TAG.finditer(markup):
        texts.append(markup[last : tag.start()])
        tags.append((tag[2].lower(), bool(tag[1])))
        last = tag.end()
    texts.append(markup[last:])
    return _find_nodes_in(texts, tags, number, Counter())


def _read_tree(tree: Tree, block: Block, number: int) -> Iterator[Node]:
    parts = tree.parts[block.first : block.last + 1]
    if block.first % 2:
        parts.insert(0, "")
    tags = [(tree.names[tag], tag.startswith("</")) for tag in parts[1::2]]
    above = tree.path(block.element) if block.is_run else tree.path(block.element)[:-1]
    around = Counter(_ANNOTATED_BY[tree.tags[element]] for element in above if tree.tags[element] in _ANNOTATED_BY)
    return _find_nodes_in(parts[::2], tags, number, around)


def _find_nodes_in(
    texts: Sequence[str], tags: Sequence[tuple[str, bool]], number: int, depths: Counter[str]
) -> Iterator[Node]:
    """Yield the nodes of a block.

    Args:
        texts: The strings before, between and after the block's tags.
        tags: The name of each tag, and whether it is an end tag.
        number: The index of the block.
        depths: For each of `ANNOTATIONS`, the number of open elements around the block.
    """
    for index, text in enumerate(texts):
        line = " ".join(unescape(text).split())
        if line:
            yield Node(number, line[:READ_CHARACTERS], len(line), _names(depths))
        if index == len(tags):
            return
        name, closes = tags[index]
        if annotation := _ANNOTATED_BY.get(name):
            depths[annotation] += -1 if closes else 1
        if name in CONTAINERS and not closes:
            inside = " ".join(unescape(" ".join(texts[index + 1 : _find_end(tags, index) + 1])).split())
            if inside:
                yield Node(number, inside[:READ_CHARACTERS], 0, _names(depths))


def _names(depths: Counter[str]) -> frozenset[str]:
    return frozenset(name for name, depth in depths.items() if depth > 0)


def _find_end(tags: Sequence[tuple[str, bool]], start: int) -> int:
    """Return the index of the end tag that matches the start tag at `start`. If there is none,
    return the index of the last tag."""
    name, depth = tags[start][0], 0
    for index in range(start, len(tags)):
        if tags[index][0] == name:
            depth += -1 if tags[index][1] else 1
            if not depth:
                return index
    return len(tags) - 1
