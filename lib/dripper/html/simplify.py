"""Simplified HTML: what a language model reads (Dripper paper 3.2 and A.10; the cuts of MinerU-HTML 1.1).

Of every block: its elements with `class` and `id` alone (images also `src` and `alt`), lists shortened to their first
and last item, texts cut after 500 characters, white space collapsed.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from dripper.html.blocks import Block
from dripper.html.tags import LISTS
from dripper.html.tree import Tree, attributes, escape, escape_attribute, unescape

HEAD = '<html><head><meta charset="utf-8"></head><body>'
TAIL = "</body></html>"

_ELLIPSIS = "<span>...</span>"
_SPACES = re.compile(r"\s+")
_NAMES = re.compile(r' (class|id)="([^"]*)"')
_OPAQUE = frozenset({"math", "table"})
"""The texts inside these are neither counted nor cut (MinerU-HTML 1.1)."""


def simplify(tree: Tree, blocks: Sequence[Block], cutoff: int = 500, table_cutoff: int = 8000) -> str:
    """Return the simplified HTML of a page, `<html>…</html>`; each block is one child of `body`, `_item_id` its last
    attribute.

    cutoff: characters of text a block. table_cutoff: the same for text inside tables and formulas, which `cutoff`
        spares.
    """
    short = {tag: short_tag(name, tag) for tag, name in tree.names.items()}
    parts = tree.parts.copy()
    parts[1::2] = [short[tag] for tag in parts[1::2]]
    shorten_lists(tree, parts, blocks)
    for block in blocks:
        if len(block.text) > cutoff:
            truncate(tree, parts, block.first, block.last, cutoff, table_cutoff)
    parts[::2] = collapse_spaces(parts[::2])
    body = (_simplified_block(tree, short, parts, block) for block in blocks)
    return f"{HEAD}{''.join(body)}{TAIL}"


def _simplified_block(tree: Tree, short: dict[str, str], parts: list[str], block: Block) -> str:
    inside = "".join(parts[block.first + 1 : block.last + 1])
    start = parts[block.first]
    if not block.is_run:
        return with_id(start, block.item_id) + inside
    name = tree.tags[block.element]
    if name in ("body", "html"):
        first_tag = block.first + 1 - block.first % 2
        alone = not "".join(parts[block.first : first_tag]).strip() and _is_one_element(
            tree, parts, first_tag, block.last
        )
        if alone:
            return with_id(parts[first_tag], block.item_id) + "".join(parts[first_tag + 1 : block.last + 1]).strip()
        return f'<div _item_id="{block.item_id}">{(start + inside).strip()}</div>'
    return f"{with_id(short[tree.start_tag(block.element)], block.item_id)}{(start + inside).strip()}</{name}>"


def _is_one_element(tree: Tree, parts: list[str], first: int, last: int) -> bool:
    """Tell whether the slice, which begins with a start tag, is that one element and blank text."""
    element = bisect_left(tree.opens, first)
    if element >= len(tree) or tree.opens[element] != first:
        return False
    return tree.closes[element] >= last - 1 and not "".join(parts[tree.closes[element] + 1 : last + 1]).strip()


def with_id(tag: str, item_id: int) -> str:
    """Return a start tag with `_item_id` as its last attribute."""
    return f'{tag[:-1]} _item_id="{item_id}">'


def short_tag(name: str, tag: str) -> str:
    """Return a tag with the attributes that the model sees.

    >>> short_tag("a", '<a href="/x" id=" i " class="">')
    '<a id="i">'
    """
    if name == "img":
        values = attributes(tag)
        if values.get("src", "").strip().startswith("data:image/"):
            del values["src"]
        pairs = [(key, values.get(key, "").strip()) for key in ("src", "alt", "class", "id")]
        return "<img" + "".join([f' {key}="{escape_attribute(value)}"' for key, value in pairs if value]) + ">"
    if tag[1] == "/" or len(tag) == len(name) + 2:
        return tag
    pairs = [(key, value.strip()) for key, value in _NAMES.findall(tag)]
    if len(pairs) == 2 and pairs[0][0] == "id":
        pairs.reverse()
    return "<" + name + "".join([f' {key}="{value}"' for key, value in pairs if value]) + ">"


def collapse_spaces(texts: list[str]) -> list[str]:
    """Return the texts with each run of white space as one space."""
    return _SPACES.sub(" ", "\0".join(texts)).split("\0")


def shorten_lists(tree: Tree, parts: list[str], blocks: Sequence[Block]) -> None:
    """Shorten all lists inside blocks, in `parts`: of ul and ol stay the first and last item, of dl the first and
    last term.
    """
    lists = [i for i, tag in enumerate(tree.tags) if tag in LISTS]
    opens = [tree.opens[i] for i in lists]
    for block in blocks:
        for k in range(bisect_left(opens, block.first), bisect_left(opens, block.last)):
            kids = [kid for kid in tree.children(lists[k]) if parts[tree.opens[kid]]]
            if len(kids) > 2:
                (_shorten_dl if tree.tags[lists[k]] == "dl" else _shorten_ul)(tree, parts, kids)


def _shorten_ul(tree: Tree, parts: list[str], kids: list[int]) -> None:
    _blank(parts, tree.closes[kids[0]] + 2, tree.opens[kids[-1]] - 1)
    parts[tree.opens[kids[-1]]] = _ELLIPSIS + parts[tree.opens[kids[-1]]]


def _shorten_dl(tree: Tree, parts: list[str], kids: list[int]) -> None:
    terms = [kid for kid in kids if tree.tags[kid] == "dt"]
    if len(terms) < 2:
        return
    _blank(parts, tree.opens[kids[0]], tree.opens[terms[0]] - 1)
    _blank(parts, tree.opens[terms[1]], tree.opens[terms[-1]] - 1)
    parts[tree.opens[terms[-1]]] = _ELLIPSIS + parts[tree.opens[terms[-1]]]


def _blank(parts: list[str], first: int, last: int) -> None:
    if last >= first:
        parts[first : last + 1] = [""] * (last - first + 1)


def truncate(tree: Tree, parts: list[str], first: int, last: int, cutoff: int, table_cutoff: float) -> None:
    """Cut the text of the block `parts[first : last + 1]` after `cutoff` characters, in place; tags around the cut
    stay closed.

    Counted are texts outside tables and formulas, and all texts that follow an element (MinerU-HTML 1.1 counts these
    even inside tables, but cuts only outside); texts inside tables and formulas have their own count.
    """
    used = used_inside = depth = 0
    for index in range(first, last + 1):
        part = parts[index]
        if not part:
            continue
        if index % 2:
            depth += _depth_change(tree, index)
            if part.startswith(_ELLIPSIS) and not depth:
                used += 3
            continue
        length = len(unescape(part))
        if not depth:
            if used + length > cutoff:
                parts[index] = escape(unescape(part)[: cutoff - used]) + "..."
                return _empty_after(tree, parts, index, first, last)
            used += length
            continue
        if not tree.starts_element(index - 1):
            used += length
        used_inside += length
        if used_inside > table_cutoff:
            parts[index] = "..."
            return _empty_after(tree, parts, index, first, last)
    return None


def _depth_change(tree: Tree, index: int) -> int:
    tag = tree.parts[index]
    if tree.names[tag] not in _OPAQUE:
        return 0
    return -1 if tag[1] == "/" else 1


def _empty_after(tree: Tree, parts: list[str], cut: int, first: int, last: int) -> None:
    """Empty what follows the text at index `cut`: the children of its own element stay as shells, all else goes."""
    level = depth = 0
    shells = cut == first or tree.starts_element(cut - 1)
    for index in range(cut + 1, last + 1):
        if index % 2 == 0:
            if not (shells and depth and tree.starts_element(index - 1)):
                parts[index] = ""
            continue
        if shells:
            depth += _depth_change(tree, index)
        tag = tree.parts[index]
        if tag[1] != "/":
            level += tree.starts_element(index)
            if not shells:
                parts[index] = ""
        elif level:
            level -= 1
            if not shells:
                parts[index] = ""
        else:
            shells = False
