"""Converts serialised markup to a `Tree`. Splits the markup with a regular expression, reads each
distinct tag once, and loops over all tags.

If a C compiler was available during installation (see setup.py), the C versions in `scan_c.c` are
used. Results are the same.
"""

import re
from collections.abc import Callable, Collection, Iterable
from itertools import accumulate
from typing import NamedTuple

from dripper.tree.elements import HTML_VOID
from dripper.tree.tree import KEYS, Tree, cut_parts, read_values
from dripper.tree.visibility import HIDDEN_SHARE, Sight, without_texts

try:
    from dripper.tree import scan_c

    # Do not use a module that was compiled from older code.
    IN_C = hasattr(scan_c, "read_names")
except ImportError:
    IN_C = False

TOKEN = re.compile(r"(<!--.*?-->|<[^>]*>)", re.DOTALL)
START, VOID, HIDDEN, END, DROP, MARKED = range(6)
"""Kinds of tags. A MARKED tag becomes START or HIDDEN after its element has been examined."""


_ROUNDS = 6
"""Maximum number of passes. Each pass searches the newly shown elements for hidden elements."""


class UnbalancedMarkupError(ValueError):
    """The markup has unbalanced tags, so it does not come from a serialiser."""

    def __init__(self) -> None:
        super().__init__("unbalanced markup: not what a serialiser writes")


class StartTag(NamedTuple):
    """A profile's decision about a start tag: the markup to write (possibly changed), and whether
    to cut out the element as hidden."""

    markup: str
    hidden: bool = False


Names = tuple[dict[str, str], dict[str, int], list[str], dict[str, dict[str, str]]]
ReadTags = Callable[[list[str]], dict[str, StartTag]]
Elements = tuple[list[int], list[int], list[int], list[int], list[tuple[int, int]]]
"""The `parents`, `opens`, `closes` and `lasts` of a `Tree`, and the first and last index of each
range to cut out."""


def scan(
    markup: str,
    void: Collection[str],
    read_tags: ReadTags | None = None,
    hidden_share: float = HIDDEN_SHARE,
    *,
    has_blanks: bool = False,
    sight: Sight | None = None,
) -> Tree:
    """Build the tree of a serialised page. Comments and the doctype are removed, and the strings
    around them are joined.

    Takes linear time.

    Args:
        markup: The page as serialised by a parser (see `tree`).
        void: Names of elements without end tags.
        read_tags: Called once with all distinct start tags. Returns the tags to rewrite and the
            tags of elements to cut out.
        hidden_share: An element with more than this fraction of the page's text is not cut out.
        sight: Decides which elements are hidden. If given, `hidden_share` is ignored.
        has_blanks: Whether non-breaking spaces are written as references (`&nbsp;`), as lexbor
            does.

    Raises:
        UnbalancedMarkupError: If tags do not balance, because `markup` does not come from a
            serialiser.
    """
    parts = split(markup, has_blanks=has_blanks)
    names, kinds_of, start_tags, values = _read_names(set(parts[1::2]), void)
    tree = Tree(parts, names, void, _values=values, _n_read=len(names))
    rewritten = _read_tags(tree, start_tags, kinds_of, read_tags, sight)
    if sight is not None:
        kinds_of |= dict.fromkeys(sight.marked, MARKED)
    kinds = bytes(map(kinds_of.__getitem__, parts[1::2]))
    if sight is not None and MARKED in kinds:
        marked = [match.start() * 2 + 1 for match in re.finditer(bytes([MARKED]), kinds)]
        kinds = _change(_change(kinds, START, marked), HIDDEN, sight.blank_unseen(parts, marked))
    text_before = list(accumulate(map(len, map(str.strip, parts[::2])), initial=0)) if HIDDEN in kinds else []
    arrays = _find_elements(kinds, text_before, hidden_share if sight is None else 1.0)
    for rounds_left in range(_ROUNDS if text_before else 0, 0, -1):
        if sight is None or arrays is None or not (shown := sight.choose_shown(parts, arrays[-1], text_before)):
            break
        kinds = _change(kinds, START, shown)
        arrays = _find_elements(kinds, text_before, 1.0 if rounds_left > 1 else HIDDEN_SHARE)
    if arrays is None:
        raise UnbalancedMarkupError
    tree.parents, tree.opens, tree.closes, tree.lasts, cuts = arrays
    if cuts:
        tree.parts = cut_parts(parts, cuts)
    tree.tags = list(map(names.__getitem__, map(tree.parts.__getitem__, tree.opens)))
    if rewritten:
        tags = tree.parts[1::2]
        tree.parts[1::2] = map(rewritten.get, tags, tags)
    return tree


def make_tree(parts: list[str]) -> Tree:
    """Build a tree from the parts of HTML, which are strings and tags as `split` returns them. An
    empty tag counts as an element without name and markup.

    Raises:
        UnbalancedMarkupError: If tags do not balance.
    """
    names, kinds, _, values = _read_names(set(parts[1::2]) - {""}, HTML_VOID)
    names[""], kinds[""] = "", VOID
    arrays = _find_elements(bytes(map(kinds.__getitem__, parts[1::2])), [], 1.0)
    if arrays is None:
        raise UnbalancedMarkupError
    parents, opens, closes, lasts, _ = arrays
    tags = list(map(names.__getitem__, map(parts.__getitem__, opens)))
    return Tree(parts, names, HTML_VOID, tags, parents, lasts, opens, closes, values, len(names))


def _read_names(tags: Iterable[str], void: Collection[str]) -> Names:
    return scan_c.read_names(tags, void, KEYS) if IN_C else read_names(tags, void)


def _find_elements(kinds: bytes, text_before: list[int], hidden_share: float) -> Elements | None:
    return (scan_c.elements if IN_C else find_elements)(kinds, text_before, hidden_share)


def _change(kinds: bytes, kind: int, places: Iterable[int]) -> bytes:
    """Return `kinds` with a new `kind` for the tags at the given indexes of `parts`."""
    changed = None
    for place in places:
        changed = changed or bytearray(kinds)
        changed[place // 2] = kind
    return bytes(changed) if changed else kinds


def split(markup: str, *, has_blanks: bool = False) -> list[str]:
    """Split markup into alternating strings and tags, with strings at even indexes. Comments and
    the doctype count as tags. has_blanks: see `scan`."""
    if IN_C:
        return scan_c.split(markup, has_blanks)
    parts = TOKEN.split(markup)
    # Replacing in each part is six times as fast as replacing in the whole markup.
    return [part.replace("&nbsp;", "\u00a0") if "&" in part else part for part in parts] if has_blanks else parts


def _read_tags(
    tree: Tree, start_tags: list[str], kinds: dict[str, int], read_tags: ReadTags | None, sight: Sight | None
) -> dict[str, str]:
    """Return the new markup of changed tags. Also set the kind of each tag that hides its element,
    and register the names of new tags."""
    names, rewritten = tree.names, dict[str, str]()
    hiding = sight.read_tags(start_tags, tree) if sight is not None else ()
    for tag, (markup, hidden) in read_tags(start_tags).items() if read_tags is not None else ():
        if markup != tag:
            rewritten[tag] = markup
            names[markup] = names[tag]
        if hidden and kinds[tag] == START:
            kinds[tag] = HIDDEN
    for tag in hiding:
        if kinds[tag] == START:
            kinds[tag] = HIDDEN
        else:
            # A hidden image could be a slide that is shown later. Keep the image without its text.
            rewritten[tag] = without_texts(rewritten.get(tag, tag))
            names[rewritten[tag]] = names[tag]
    return rewritten


def read_names(tags: Iterable[str], void: Collection[str]) -> Names:
    """Read distinct tags. Return their element names, their kinds, the start tags, and the
    attribute values of the start tags (see `tree.read_values`). The kinds are START, VOID, END, and
    DROP. DROP means that the tag will be removed."""
    names: dict[str, str] = {}
    kinds: dict[str, int] = {}
    start_tags: list[str] = []
    for tag in tags:
        if tag[1] == "/":
            name = names[tag] = tag[2:-1]
            # In SVG, some elements have the name of a void HTML element, but also an end tag
            # ("<source></source>").
            kinds[tag] = DROP if name in void else END
        elif tag[1] in "!?":
            kinds[tag] = DROP
        else:
            name = names[tag] = tag[1 : tag.find(" ")]
            kinds[tag] = VOID if name in void else START
            start_tags.append(tag)
    return names, kinds, start_tags, read_values(start_tags)


def find_elements(kinds: bytes, text_before: list[int], hidden_share: float) -> Elements | None:
    """Return the elements and the ranges to cut out, or None if tags do not balance. The elements'
    indexes refer to the parts that remain after the cuts.

    Args:
        kinds: One byte per tag (START, VOID, HIDDEN, END or DROP).
        text_before: The number of text characters before each text, and the total. May be empty if
            no tag is HIDDEN.
    """
    parents, opens, cuts = list[int](), list[int](), list[tuple[int, int]]()
    closes, lasts = [0] * len(kinds), [0] * len(kinds)
    outer: list[int] = []
    hidden: dict[int, int] = {}
    number, parent, shift = 0, -1, 0
    for index, kind in zip(range(1, 2 * len(kinds), 2), kinds, strict=True):
        if kind < END:
            parents.append(parent)
            opens.append(index - shift)
            if kind == VOID:
                closes[number], lasts[number] = index - shift, number
            else:
                if kind == HIDDEN:
                    hidden[number] = index
                outer.append(parent)
                parent = number
            number += 1
        elif kind == DROP:
            cuts.append((index, index))
            shift += 2
        elif parent < 0:
            return None
        else:
            first = hidden.pop(parent, 0) if hidden else 0
            if first and text_before[index // 2 + 1] - text_before[first // 2 + 1] <= hidden_share * text_before[-1]:
                shift = index + 1 - (opens[parent] - 1)
                number = parent
                del parents[number:], opens[number:]
                while cuts and cuts[-1][0] > first:
                    cuts.pop()
                cuts.append((first, index))
            else:
                closes[parent], lasts[parent] = index - shift, number - 1
            parent = outer.pop()
    return (parents, opens, closes[:number], lasts[:number], cuts) if parent < 0 else None
