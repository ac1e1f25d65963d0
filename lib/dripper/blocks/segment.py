"""Splits a page into numbered blocks with the block rules of MinerU-HTML 1.1 (Dripper paper 3.2
step 3, A.10). All profiles share these rules, except for `columns_decide`. Only `mineru-1.0` has
its own rules for classifying elements.

An element is a *block* unless its name is in INLINE. But cells are blocks only in layout tables,
and list items only in layout lists. A block without blocks inside becomes a paragraph, and so does
a whole data table or plain list. Text and inline elements between paragraphs, up to the next block
or `br`, form a *run*.
"""

from bisect import bisect_left
from collections.abc import Iterable, Set
from itertools import chain, compress
from typing import NamedTuple

from dripper.blocks.block import Block
from dripper.tree import loops
from dripper.tree.elements import CELLS, INLINE, ITEMS, LIST_ITEMS, LISTS, TABLE_PARTS
from dripper.tree.loops import spread
from dripper.tree.plain import plain_parts
from dripper.tree.tree import Tree, attribute, unescape

NOT_BLOCK = INLINE | ITEMS | CELLS | {"math"}
_COLUMNS = frozenset({"col", "colgroup"})


class Paragraph(NamedTuple):
    """A block without a number: `tree.parts[first : last + 1]`."""

    element: int
    """The element of the block. For a run, the element that contains the run."""
    first: int
    last: int
    is_run: bool


Span = tuple[int, int, int, bool]
"""A `Paragraph` as a plain tuple, which is ten times as fast to create. A page has hundreds."""


class Kinds(NamedTuple):
    """The elements of each kind. `block` and `splits` have one flag for each element."""

    block: bytearray
    """Elements that are blocks."""
    splits: bytearray
    """Elements with blocks inside."""
    whole: frozenset[int]
    """Data tables. They are never split."""


def segment(tree: Tree, texts: list[str], removed: bytearray, kinds: Kinds) -> tuple[list[Span], list[int]]:
    """Split the page into paragraphs. Return the paragraphs in the order in which they end. Also
    return the elements that were split.

    Takes time linear in the number of elements and parts.

    Args:
        texts: `tree.parts`, possibly with modified text and blanked elements.
        removed: One flag for each element. Removed elements are ignored.
    """
    paragraphs, entered = _walk(tree, texts, removed, kinds)
    body = tree.tags.index("body") if "body" in tree.tags else -1
    return [_walk_without_body(tree, texts, each) if each[0] == body else each for each in paragraphs], entered


def _walk(tree: Tree, texts: list[str], removed: bytearray, kinds: Kinds) -> tuple[list[Span], list[int]]:
    """Walk through the elements once, descending only into elements that are split."""
    if loops.IN_C:
        return loops.loops_c.walk(texts, tree.tags, tree.opens, tree.closes, tree.lasts, removed, *kinds)
    paragraphs = list[Span]()
    tags, opens, closes, lasts = tree.tags, tree.opens, tree.closes, tree.lasts
    block, splits = kinds.block, kinds.splits
    node, child, start = 0, 1, tree.opens[0] + 1 if texts[tree.opens[0] + 1].strip() else -1
    frames: list[int] = []
    entered: list[int] = []
    while True:
        if child > lasts[node]:
            if start >= 0:
                paragraphs.append((node, start, closes[node] - 1, True))
            if not frames:
                return paragraphs, entered
            child, after, node = lasts[node] + 1, closes[node] + 1, frames.pop()
        elif removed[child]:
            child = lasts[child] + 1
            continue
        elif not (block[child] or splits[child]):
            if start < 0:
                start = opens[child]
            child = lasts[child] + 1
            continue
        elif tags[child] == "br":
            paragraphs.append((node, opens[child] if start < 0 else start, closes[child], True))
            child, after = child + 1, closes[child] + 1
        else:
            if start >= 0:
                paragraphs.append((node, start, opens[child] - 1, True))
            if splits[child] and child not in kinds.whole:
                frames.append(node)
                entered.append(child)
                node, child, after = child, child + 1, opens[child] + 1
            else:
                paragraphs.append((child, opens[child], closes[child], False))
                child, after = lasts[child] + 1, closes[child] + 1
        text = texts[after]
        start = after if text and not text.isspace() else -1


def _walk_without_body(tree: Tree, texts: list[str], paragraph: Span) -> Span:
    """If a run of the body consists of a single element and blank text, return this element as a
    block. Otherwise return the run. A body without blocks is treated like a run.
    """
    element, first, last, is_run = paragraph
    first, last = (first, last) if is_run else (first + 1, last - 1)
    inside = [index for index in range(first, last + 1) if texts[index].strip()]
    child = bisect_left(tree.opens, inside[0]) if inside else len(tree)
    if child < len(tree) and tree.opens[child] == inside[0] and tree.closes[child] >= inside[-1]:
        return child, tree.opens[child], tree.closes[child], False
    return element, first, last, True


def classify(
    tree: Tree, texts: list[str], removed: bytearray, columns_decide: bool, in_line: Set[int] = frozenset()
) -> Kinds:
    """Decide for every element whether it is a block and whether it has blocks inside.

    Args:
        columns_decide: Whether every table with `col` is a data table, as in MinerU-HTML 1.1. If
            False, a table with `col` is still a layout table if another table or a form is inside.
            Themes of the 2000s used `col` to set the column widths of a whole page, and the whole
            page became a single block.
        in_line: Elements that are not blocks, regardless of their names.
    """
    tags, parents = tree.tags, tree.parents
    is_block = {tag: tag not in NOT_BLOCK for tag in set(tags)}
    block = bytearray(map(is_block.__getitem__, tags))
    for element in in_line:
        block[element] = 0
    splits = bytearray(len(tags))
    whole = _find_tables(tree, removed, block, columns_decide, in_line) if "table" in is_block else frozenset[int]()
    marked = tree.values("cc-no-block")
    quiet = {*tree.tagged([tag for tag, value in marked.items() if value == "true"]), *tree.find("math")}
    special = quiet.union(tree.named(LISTS))
    for element in compress(range(len(tags)), removed):
        block[element] = 0
        special.discard(element)
    end = len(tags)
    for element in sorted(special - {0}, reverse=True):
        spread(block, splits, parents, element + 1, end)
        end = element + 1
        if tags[element] in LISTS and not _is_content_list(tree, texts, removed, splits, element):
            _break_up(_find_items(tree, removed, element), element, parents, block, splits, quiet)
        if element in quiet:
            splits[element] = splits[element] and tags[element] != "math"
            end = element
    spread(block, splits, parents, 1, end)
    return Kinds(block, splits, whole)


def _find_tables(
    tree: Tree, removed: bytearray, block: bytearray, columns_decide: bool, in_line: Set[int]
) -> frozenset[int]:
    """Return the data tables. Mark the cells of all other tables (layout tables) as blocks."""
    tables = [element for element in tree.find("table") if not removed[element]]
    data, layout, cells = set[int](), set[int](), list[int]()
    # Tables with `col`, and tables with another table or a form inside.
    with_columns, with_frames = set[int](), set[int]()
    nearest = [-1] * len(tree)
    inside = (range(table, tree.lasts[table] + 1) for table in tree.outermost(tables))
    for element in chain.from_iterable(inside):
        if removed[element]:
            continue
        tag, table = tree.tags[element], nearest[tree.parents[element]]
        nearest[element] = element if tag == "table" else table
        if tag == "table":
            with_frames.add(table)
            values = tree.attributes(element)
            if values.get("role") == "table" or values.get("data-table"):
                data.add(element)
        elif tag in CELLS:
            cells.append(element)
            if " headers" in tree.parts[tree.opens[element]] and "headers" in tree.attributes(element):
                data.add(table)
        elif tag == "caption":
            data.add(table)
        elif tag in _COLUMNS:
            with_columns.add(table)
        elif tag == "form":
            with_frames.add(table)
        elif tag not in INLINE and tag not in TABLE_PARTS and element not in in_line:
            layout.add(table)
    data |= with_columns if columns_decide else with_columns - with_frames
    layout = (layout | with_frames) - data
    for cell in cells:
        block[cell] = nearest[cell] in layout
    return frozenset(tables) - layout


def _find_items(tree: Tree, removed: bytearray, element: int) -> list[int]:
    """Return a list's items at any depth, without the items of nested lists. Items are `li` in `ul`
    and `ol`, and `dt` and `dd` in `dl`."""
    tags, items = tree.tags, LIST_ITEMS[tree.tags[element]]
    lists = ("dl",) if tags[element] == "dl" else ("ul", "ol")
    own_items, inner = [], element + 1
    while inner <= tree.lasts[element]:
        if removed[inner] or tags[inner] in lists:
            inner = tree.lasts[inner] + 1
            continue
        if tags[inner] in items:
            own_items.append(inner)
        inner += 1
    return own_items


def _is_content_list(tree: Tree, texts: list[str], removed: bytearray, splits: bytearray, element: int) -> bool:
    """Return whether a list contains only items, and no item has blocks inside. Such a list becomes
    one paragraph."""
    item_tags, has_items = LIST_ITEMS[tree.tags[element]], False
    if texts[tree.opens[element] + 1].strip():
        return False
    child = element + 1
    while child <= tree.lasts[element]:
        if not removed[child]:
            if tree.tags[child] not in item_tags or splits[child]:
                return False
            has_items = True
        if not removed[child] and texts[tree.closes[child] + 1].strip():
            return False
        child = tree.lasts[child] + 1
    return has_items


def _break_up(
    items: list[int], element: int, parents: list[int], block: bytearray, splits: bytearray, quiet: set[int]
) -> None:
    """Mark the items of a layout list as blocks, and the list and the elements in between as having
    blocks inside."""
    for item in items:
        block[item] = 1
        ancestor = parents[item]
        while item not in quiet and not splits[ancestor]:
            splits[ancestor] = 1
            if ancestor == element or ancestor in quiet:
                break
            ancestor = parents[ancestor]


def number(tree: Tree, texts: list[str], paragraphs: Iterable[Span], *, check: bool = True) -> list[Block]:
    """Number the paragraphs with visible content as blocks 1 to N. Visible content is text that is
    not blank, or an image with a URL.

    Args:
        texts: `tree.parts`, possibly with modified text and blanked elements.
        check: False if all paragraphs are known to have visible content.
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
