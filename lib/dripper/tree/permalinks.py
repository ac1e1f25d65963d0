"""Detects permalinks: links in a heading to the heading itself. Their text is often `¶`, `#` or an
icon."""

from dripper.tree.elements import HEADINGS
from dripper.tree.tree import Tree, attribute

_HEADINGS = HEADINGS | {"dt"}
"""Elements that can have a permalink. In manuals, each term is a `dt`."""
_HIGHEST = 16
"""Maximum number of ancestors to search for a heading. Limits the cost on deep pages."""
_LONGEST = 2
"""Maximum number of characters in a permalink's text. An icon may have a second character that
selects its glyph."""


def is_permalink(tree: Tree, element: int) -> bool:
    """Return whether an `a` is only a permalink of the heading around it.

    >>> from dripper.html import preprocess
    >>> tree = preprocess('<h1>Rain<a href="#rain">¶</a></h1>').elements
    >>> [is_permalink(tree, element) for element, tag in enumerate(tree.tags) if tag == "a"]
    [True]
    """
    if "#" not in (attribute(tree.start_tag(element), "href") or ""):
        return False
    mark = tree.text(element).strip()
    if not 0 < len(mark) <= _LONGEST or any(map(str.isalnum, mark)):
        return False
    above = tree.parents[element]
    for _ in range(_HIGHEST):
        if above < 0 or tree.tags[above] in _HEADINGS:
            break
        above = tree.parents[above]
    return above >= 0 and tree.tags[above] in _HEADINGS
