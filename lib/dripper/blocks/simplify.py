"""Writes a page as simplified HTML and as mapping HTML (Dripper paper 3.2, A.10). Simplified HTML
is the input of language models. Mapping HTML is the whole page, with an `_item_id` on every block.

In simplified HTML, elements keep only their `class` and `id`, and images also `src` and `alt`. As
in MinerU-HTML 1.1, lists are shortened to their first and last item, text is truncated after 500
characters, and white space is collapsed.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dripper.blocks.block import Block
from dripper.tree.elements import LISTS
from dripper.tree.tree import Tree, escape, unescape

HEAD = '<html><head><meta charset="utf-8"></head><body>'
TAIL = "</body></html>"

CUTOFF = 500
"""Maximum number of characters that the model sees of a block's text (MinerU-HTML 1.1)."""
TABLE_CUTOFF = 8000
"""The cutoff for text in tables. MinerU-HTML has none, so a table of 100,000 cells would be a block
of 2 MB."""

ELLIPSIS = "<span>...</span>"
_ODD_SPACES = re.compile(r"\s{2,}|[^\S ]")
_KEPT_SPACE = re.compile("\0([0-9a-f]+);")
"""An escape that protects white space in attributes. White space is collapsed in the whole markup
at once, so the white space in attributes is escaped first."""
_QUOTED = re.compile(r"""[\t\n\f\r ](=?[^\t\n\f\r =>/]+)=("[^"]*"|'[^']*')""")
_IMAGE_KEYS = tuple((key, f' {key}="') for key in ("src", "alt", "class", "id"))
_KEYS = _IMAGE_KEYS[2:]
_OPAQUE = frozenset({"math", "table"})
"""The block's cutoff does not apply inside these elements (MinerU-HTML 1.1)."""


def simplify(tree: Tree, blocks: Sequence[Block], cutoff: int, table_cutoff: int) -> str:
    """Write a page's simplified HTML, `<html>…</html>`. Each block is a child of `body`, with
    `_item_id` as its last attribute.

    Args:
        cutoff: Maximum number of text characters in each block.
        table_cutoff: Maximum number of text characters in the tables and formulas of each block.
            `cutoff` does not apply to them.
    """
    parts = tree.parts.copy()
    shorten_lists(tree, parts, [(element, first, last) for _, _, element, _, first, last in blocks])
    for _, text, _, is_run, first, last in blocks:
        if is_run:
            parts[first] = parts[first].lstrip()
        if len(text) > cutoff:
            truncate(tree, parts, first, last, cutoff, table_cutoff)
    return HEAD + write_simplified(tree, parts, ShortTags(tree.names), blocks) + TAIL


class Around(NamedTuple):
    """Markup around a block. `start` and `end` are the tags of an element, and `start` gets the id.
    `opening` and `closing` are the markup between these tags and the block."""

    start: str
    opening: str
    closing: str
    end: str


_DIV = Around("<div>", "", "", "</div>")


def write_simplified(
    tree: Tree,
    parts: list[str],
    short: "ShortTags",
    blocks: Iterable[Block],
    surround: "Callable[[Block], Around | None] | None" = None,
) -> str:
    """Write the simplified markup of the blocks, with short tags and collapsed white space.

    `parts` are the tree's parts with lists and text already shortened. So no time is spent on tags
    that are left out (nine out of ten in a list of 10,000 items).

    Args:
        surround: Returns the markup around a block. If None, this is the block's own tags or, for a
            run, the tags of the element that contains the run.
    """
    # Alternating strings and tags, as in `parts`.
    out, starts = [""], list[int]()
    for block in blocks:
        _, _, element, is_run, first, last = block
        starts.append(len(out))
        around = surround(block) if surround is not None else None
        if not is_run and around is None:
            out += parts[first : last + 1]
            out.append("")
            continue
        if around is None:
            # A parser drops a body inside the body, so MinerU-HTML 1.1 loses such runs.
            is_body = tree.tags[element] == "body"
            start, end = tree.parts[tree.opens[element]], tree.parts[tree.closes[element]]
            around = _DIV if is_body else Around(start, "", "", end)
        out += (around.start, around.opening) if first % 2 else (around.start,)
        out += parts[first : last + 1]
        out += (around.closing, around.end, "") if last % 2 else (around.end, "")
    out[1::2] = map(short.__getitem__, out[1::2])
    for item_id, index in enumerate(starts, 1):
        out[index] = add_id(out[index], item_id)
    markup = " ".join("".join(out).split())
    return _KEPT_SPACE.sub(lambda match: chr(int(match[1], 16)), markup) if "\0" in markup else markup


class ShortTags(dict[str, str]):
    """Maps each tag to its short form, computed on first use, because only half of a page's tags
    are in blocks.

    names: the element name of each tag. clean: a function to apply to each tag before shortening.
    """

    def __init__(self, names: Mapping[str, str], clean: Callable[[str], str] = str) -> None:
        super().__init__({"": "", "<div>": "<div>", "</div>": "</div>"})
        self._names = names
        self._clean = clean

    def __missing__(self, tag: str) -> str:
        short = shorten_tag(self._names[tag], self._clean(tag))
        if "  " in short or not short.isprintable():
            short = _ODD_SPACES.sub(lambda odd: "".join(f"\0{ord(space):x};" for space in odd[0]), short)
        self[tag] = short
        return short


def add_id(tag: str, item_id: int) -> str:
    """Add `_item_id` to a start tag as its last attribute."""
    return f'{tag[:-1]} _item_id="{item_id}">'


def shorten_tag(name: str, tag: str) -> str:
    """Reduce a tag to the attributes that the model sees. Values are stripped. Empty values and
    `data:` images are left out.

    >>> shorten_tag("a", '<a href="/x" id=" i " class="">')
    '<a id="i">'
    """
    if tag[1] == "/" or len(tag) == len(name) + 2:
        return tag
    if name != "img" and " class=" not in tag and " id=" not in tag:
        return f"<{name}>"
    if "'" in tag or tag.count('"') != 2 * tag.count('="'):
        return _shorten_odd_tag(name, tag)
    short = "<" + name
    for key, marker in _IMAGE_KEYS if name == "img" else _KEYS:
        start = tag.find(marker)
        if start >= 0:
            start += len(marker)
            value = tag[start : tag.index('"', start)].strip()
            if value and not (key == "src" and value.startswith("data:image/")):
                short += f'{marker}{value}"'
    return short + ">"


def _shorten_odd_tag(name: str, tag: str) -> str:
    """Shorten a tag that has quotes in attribute names or single quotes around values."""
    # If a name is repeated, the first value wins.
    values = dict(reversed(_QUOTED.findall(tag)))
    short = "<" + name
    for key, marker in _IMAGE_KEYS if name == "img" else _KEYS:
        quoted = values.get(key, '""')
        value = quoted[1:-1].strip()
        if value and not (key == "src" and value.startswith("data:image/")):
            short += f"{marker[:-1]}{quoted[0]}{value}{quoted[0]}"
    return short + ">"


def shorten_lists(tree: Tree, parts: list[str], spans: Sequence[tuple[int, int, int]]) -> None:
    """Shorten the lists inside blocks by changing `parts`. `ul` and `ol` keep their first and last
    item, and `dl` keeps its first and last term.

    Args:
        spans: (element, first, last) of each block. A run inside a list is shortened like a list,
            even if its elements are not items.
    """
    lists = tree.named(LISTS)
    firsts = [first for _, first, _ in spans] if lists else []
    for each in lists:
        holder = bisect_right(firsts, tree.opens[each]) - 1
        if holder >= 0 and tree.opens[each] <= spans[holder][2]:
            _shorten(tree, parts, each, tree.children(each))
    for element, first, last in spans:
        if tree.tags[element] in LISTS and first != tree.opens[element]:
            _shorten(tree, parts, element, tree.siblings(first, last))


def _shorten(tree: Tree, parts: list[str], element: int, kids: list[int]) -> None:
    kids = [kid for kid in kids if parts[tree.opens[kid]]]
    terms = [kid for kid in kids if tree.tags[kid] == "dt"] if tree.tags[element] == "dl" else kids
    if len(kids) <= 2 or len(terms) < 2:
        return
    opens, start, end = tree.opens, tree.closes[kids[0]] + 2, tree.opens[terms[-1]]
    if terms is not kids:
        start = opens[terms[1]]
        parts[opens[kids[0]] : opens[terms[0]]] = [""] * (opens[terms[0]] - opens[kids[0]])
    parts[start:end] = [""] * (end - start)
    parts[end - 1] += ELLIPSIS


def truncate(tree: Tree, parts: list[str], first: int, last: int, cutoff: int, table_cutoff: float) -> None:
    """Truncate the text of the block `parts[first : last + 1]` after `cutoff` characters, by
    changing `parts`. The end tags of open elements are kept.

    `cutoff` applies to all text outside tables and formulas, and `table_cutoff` to all text inside.
    As in MinerU-HTML 1.1, text inside a table or formula also counts towards `cutoff` if it comes
    after another element. But `cutoff` never truncates the text inside.
    """
    used = used_inside = depth = 0
    for index in range(first, last + 1):
        part = parts[index]
        if not part:
            continue
        if index % 2:
            depth += _measure_depth_change(tree, index)
            continue
        text = part.removesuffix(ELLIPSIS)
        length = len(unescape(text))
        if depth:
            if not tree.starts_element(index - 1):
                used += length
            used_inside += length
            if used_inside > table_cutoff:
                parts[index] = "..."
                return _empty_after(tree, parts, index, last)
            continue
        if used + length > cutoff:
            parts[index] = escape(unescape(text)[: cutoff - used]) + "..."
            return _empty_after(tree, parts, index, last, shells=index == first or tree.starts_element(index - 1))
        used += length
        if len(part) > len(text):
            if used + 3 > cutoff:
                parts[index] = f"{text}<span>{'...'[: cutoff - used]}...</span>"
                return _empty_after(tree, parts, index, last)
            used += 3
    return None


def _measure_depth_change(tree: Tree, index: int) -> int:
    tag = tree.parts[index]
    if tree.names[tag] not in _OPAQUE:
        return 0
    return -1 if tag[1] == "/" else 1


def _empty_after(tree: Tree, parts: list[str], cut: int, last: int, *, shells: bool = False) -> None:
    """Empty the parts after index `cut`, at which the text was truncated. The end tags of open
    elements are kept.

    shells: whether the text was truncated before the element's children. If so, the children are
    kept without their text.
    """
    level = depth = 0
    for index in range(cut + 1, last + 1):
        if index % 2 == 0:
            if shells and parts[index].endswith(ELLIPSIS):
                parts[index] = ELLIPSIS if depth else "<span></span>"
            elif not (shells and depth and tree.starts_element(index - 1)):
                parts[index] = ""
            continue
        is_end = tree.parts[index][1] == "/"
        if is_end and not level:
            shells = False
            continue
        if shells:
            depth += _measure_depth_change(tree, index)
        else:
            parts[index] = ""
        level += -1 if is_end else tree.starts_element(index)


WRAPPER = "cc-alg-uc-text"
"""Name of the element around a run in mapping HTML, from MinerU-HTML.
"""


def write_mapping(tree: Tree, blocks: Sequence[Block]) -> str:
    """Write the page's markup with the item ids. Each id is on the element of a block or on a
    WRAPPER around a run."""
    parts = tree.parts.copy()
    for item_id, _, _, is_run, first, last in blocks:
        if is_run:
            parts[first] = f'<{WRAPPER} _item_id="{item_id}">{parts[first]}'
            parts[last] += f"</{WRAPPER}>"
        else:
            parts[first] = add_id(parts[first], item_id)
    return "".join(parts)
