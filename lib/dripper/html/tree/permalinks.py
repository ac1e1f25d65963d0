"""Recognises links in headings that point to the heading itself, such as `¶`, `#` or an icon in
manuals."""

from dripper.html.tree.elements import HEADINGS
from dripper.html.tree.tree import Tree, attribute

_HEADINGS = HEADINGS | {"dt"}
"""Headings, and the `dt` terms that a manual describes."""
_HIGHEST = 16
"""Maximum number of elements between a mark and its heading, so that the cost of the search does
not grow with the page's depth."""
_LONGEST = 2
"""Maximum number of characters in a mark; icons may have a second character that selects their
glyph."""


def is_permalink(tree: Tree, element: int) -> bool:
    """Return whether an `a` is only a link to the heading that contains it.

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
