"""What a page's visible elements state about it: microdata, `rel`, `time`, and class names that say
"byline" or "published".

Looks at the tree's distinct start tags first, of which few say any of it, so that nothing is paid
for the other elements.
"""

import re
from collections.abc import Callable, Iterator

from dripper.markup.tree import Tree, attribute, unescape
from dripper.metadata.dates import iso_date

_LONGEST_TAG = 2000
"""Characters; longer start tags hold pictures and data."""
_BYLINE = re.compile(r"(?:^|[\s_-])(?:author|byline)(?:[\s_-]*name)?(?:[\s_-]|$)", re.IGNORECASE)
_DATE_CLASS = re.compile(r"(?:^|[\s_-])(?:date|published|pubdate|datetime|timestamp)(?:[\s_-]|$)", re.IGNORECASE)
_HOLDERS = frozenset({"a", "span", "div", "p", "strong", "address", "cite", "b", "li"})
_LONGEST = 200


class Visible:
    """The elements of a page that state something, by what they state."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        marked = {tag for tag in tree.names if len(tag) <= _LONGEST_TAG and _may_state(tag)}
        starts = map(tree.parts.__getitem__, tree.opens)
        self._elements = [(element, tag) for element, tag in enumerate(starts) if tag in marked]

    def items(self, name: str) -> Iterator[str]:
        """Yield the values of a microdata property (`itemprop`)."""
        for element, tag in self._elements:
            if name in (attribute(tag, "itemprop") or "").split():
                yield attribute(tag, "content") or attribute(tag, "datetime") or self._text(self._name_in(element))

    def related(self, kind: str) -> Iterator[str]:
        """Yield the texts of links of a `rel`."""
        for element, tag in self._elements:
            if kind in (attribute(tag, "rel") or "").lower().split():
                yield self._text(element)

    def bylines(self) -> Iterator[str]:
        """Yield the texts of elements that a class calls author or byline."""
        yield from self._of_class(_BYLINE, lambda tag: self._tree.names[tag] in _HOLDERS)

    def dates(self) -> Iterator[str]:
        """Yield the dates of `time` elements and of those that a class calls a date: those after
        the first heading first, since those before it are of menus."""
        first = next((element for element, tag in self._elements if self._tree.names[tag] == "h1"), 0)
        after = [pair for pair in self._elements if pair[0] > first]
        before = [pair for pair in self._elements if pair[0] < first]
        for element, tag in [*after, *before]:
            if self._tree.names[tag] == "time":
                yield attribute(tag, "datetime") or self._text(element)
            elif _DATE_CLASS.search(attribute(tag, "class") or ""):
                yield self._text(element)

    def headings(self) -> Iterator[str]:
        """Yield the texts of headings of the first level."""
        for element, tag in self._elements:
            if self._tree.names[tag] == "h1":
                yield self._text(element)

    def _name_in(self, element: int) -> int:
        """The element within this one that holds the name of the thing it describes, else
        itself."""
        last = self._tree.lasts[element]
        inner = (at for at, tag in self._elements if element < at <= last and attribute(tag, "itemprop") == "name")
        return next(inner, element)

    def _of_class(self, pattern: re.Pattern[str], admits: Callable[[str], bool]) -> Iterator[str]:
        for element, tag in self._elements:
            if admits(tag) and pattern.search(attribute(tag, "class") or ""):
                yield self._text(element)

    def _text(self, element: int) -> str:
        """The element's text; "" of a long one, which holds more than is looked for."""
        first, last = self._tree.opens[element], self._tree.closes[element]
        text = " ".join("".join(self._tree.parts[first + 1 : last : 2]).split()) if last - first < _LONGEST else ""
        return unescape(text) if len(text) <= _LONGEST else ""


def _may_state(tag: str) -> bool:
    """Tell whether a start tag may be one of those looked for. A search for one expression takes
    three times as long."""
    return (
        " itemprop=" in tag
        or "uthor" in tag
        or "yline" in tag
        or "date" in tag
        or "Date" in tag
        or "ublish" in tag
        or 'tag"' in tag
        or tag.startswith(("<time", "<h1"))
    )


def first_date(texts: Iterator[str]) -> str | None:
    """Return the first date that a text states."""
    return next((found for text in texts if (found := iso_date(text))), None)
