"""Splits a page into blocks and numbers them, by the MinerU-HTML 1.1 block rules (Dripper paper 3.2
step 3, A.10). All profiles share these rules, apart from `columns_decide`; only `mineru-1.0`
classifies elements by rules of its own.

An element is a *block* unless its name is in INLINE. A cell is a block only in a layout table, and
a list item only in a layout list. Each block without a block inside becomes one paragraph, and so
does a whole data table or plain list. The texts and inline elements between paragraphs, up to the
next block or `br`, become a *run*.
"""

from bisect import bisect_left
from collections.abc import Iterable, Set
from itertools import chain, compress
from typing import NamedTuple

from dripper.html.tree import loops
from dripper.html.tree.blocks import Block
from dripper.html.tree.elements import CELLS, INLINE, ITEMS, LIST_ITEMS, LISTS, TABLE_PARTS
from dripper.html.tree.loops import spread
from dripper.html.tree.plain import plain_parts
from dripper.html.tree.tree import Tree, attribute, unescape

NOT_BLOCK = INLINE | ITEMS | CELLS | {"math"}
_COLUMNS = frozenset({"col", "colgroup"})


class Paragraph(NamedTuple):
    """A block before it is numbered: the parts `first`..`last` of the tree."""

    element: int
    """The block itself, or for a run (`is_run`) the element that contains the run."""
    first: int
    last: int
    is_run: bool


Span = tuple[int, int, int, bool]
"""A `Paragraph` as a plain tuple: a page has hundreds, and plain tuples are made ten times as
fast."""


class Kinds(NamedTuple):
    """The elements of each kind under the block rules, as flags by element number."""

    block: bytearray
    """Elements that end a line by themselves."""
    splits: bytearray
    """Elements with a block inside."""
    whole: frozenset[int]
    """Data tables, which are never split."""


def segment(tree: Tree, texts: list[str], removed: bytearray, kinds: Kinds) -> tuple[list[Span], list[int]]:
    """Return the paragraphs of the page in the order in which they end, and the elements that were
    split.

    Linear in the number of elements and parts.

    Args:
        texts: Like `tree.parts`, but texts may be changed and removed elements blanked.
        removed: Flags by element; removed elements are treated as absent.
    """
    paragraphs, entered = _walk(tree, texts, removed, kinds)
    body = tree.tags.index("body") if "body" in tree.tags else -1
    return [_walk_without_body(tree, texts, each) if each[0] == body else each for each in paragraphs], entered


def _walk(tree: Tree, texts: list[str], removed: bytearray, kinds: Kinds) -> tuple[list[Span], list[int]]:
    """Walk over the elements once, and into each element that is split."""
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
    """Return the block of the only element in a run of the body (or in a body without blocks) if
    all other text there is blank; otherwise return the run.
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
    """Decide for every element, from the last to the first, whether it is a block and whether it
    has a block inside.

    Args:
        columns_decide: Whether every table with `col` is a data table, whatever its content, as in
            MinerU-HTML 1.1. If not, a table with `col` and with another table or a form inside is a
            layout table: themes of the 2000s used `col` for the column widths of a whole page,
            which then became a single block.
        in_line: Elements that do not end a line, whatever their names.
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
    """Return the data tables, and mark the cells of all other (layout) tables as blocks."""
    tables = [element for element in tree.find("table") if not removed[element]]
    data, layout, cells = set[int](), set[int](), list[int]()
    # Tables with `col`, and tables around another table or a form.
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
    """Return a list's own items at any depth, not the items of lists inside it: `li` for `ul` and
    `ol`, `dt` and `dd` for `dl`."""
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
    """Return whether a list contains only items without a block inside; such a list is one
    paragraph."""
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
    """Mark the items of a layout list as blocks, and the elements between the items and the list as
    having blocks inside."""
    for item in items:
        block[item] = 1
        ancestor = parents[item]
        while item not in quiet and not splits[ancestor]:
            splits[ancestor] = 1
            if ancestor == element or ancestor in quiet:
                break
            ancestor = parents[ancestor]


def number(tree: Tree, texts: list[str], paragraphs: Iterable[Span], *, check: bool = True) -> list[Block]:
    """Return the paragraphs that show something (text that is not blank, or an image with an
    address) as blocks 1..N.

    Args:
        texts: `tree.parts`, perhaps with changed texts and blanked elements.
        check: False if all paragraphs are known to show something.
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
