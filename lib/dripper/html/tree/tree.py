"""Holds a page as flat arrays: the serialised markup, cut into texts and tags, and the element tree
over it.

One Python object per node makes tree walks slow. Here a page is one list of strings, `parts`, in
which texts and tags alternate (`text, tag, text, tag, …, text`; a text may be empty). An element is
an integer, numbered from 0 in document order. Subtrees are ranges, so blocks, simplified HTML,
mapping HTML and pruned pages are all slices of one list. There is no recursion, so there is no
limit on depth.

The input must be a parser's own serialisation: every tag balanced, attributes quoted, `<` and `>`
escaped in texts and attribute values. Then `<[^>]*>` is exact.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass, field
from itertools import islice

from dripper.html.tree.loops import choose

_NAME = re.compile(r"</?([^\t\n\f\r />]+)")
KEYS = (
    "class", "id", "style", "role", "rel", "name", "itemprop", "aria-controls", "hidden", "aria-hidden", "popover", "cc-no-block",
    "_item_id",
)  # fmt: skip
"""The attributes that are looked up in all tags of a page."""
_VALUES = re.compile(f' ({"|".join(KEYS)})="([^"]*)"')
_ATTRIBUTE = re.compile(r"""[\t\n\f\r ](=?[^\t\n\f\r =>/]*)(?:=(?:"([^"]*)"|'([^']*)'))?""")


@dataclass(slots=True)
class Tree:
    """Elements 0..n-1 in document order over `parts`; element 0 is the root (`html`)."""

    parts: list[str]
    """Texts at even, tags at odd indexes, both as serialised (escaped)."""
    names: dict[str, str]
    """The element name of each distinct tag."""
    void: Collection[str]
    """Names of the elements that have no end tag."""
    tags: list[str] = field(default_factory=list)
    """Name of each element."""
    parents: list[int] = field(default_factory=list)
    """Parent of each element, -1 for the root."""
    lasts: list[int] = field(default_factory=list)
    """Last descendant of each element, or the element itself if it has none."""
    opens: list[int] = field(default_factory=list)
    closes: list[int] = field(default_factory=list)
    """`opens` and `closes`: indexes into `parts` of each element's start and end tag (equal for
    void elements). So the text before an element's first child is `parts[opens[i] + 1]`, and the
    text after the element is `parts[closes[i] + 1]`."""
    _values: dict[str, dict[str, str]] = field(default_factory=dict, repr=False, compare=False)
    _n_read: int = field(default=0, repr=False, compare=False)
    """Number of tags in `names` that have been read into `_values`."""

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self.tags)

    def start_tag(self, element: int) -> str:
        """Return the element's start tag as serialised: equal strings mean equal name and
        attributes."""
        return self.parts[self.opens[element]]

    def find(self, name: str) -> list[int]:
        """Return the elements with the given name, in document order."""
        return choose(self.tags, {name})

    def named(self, names: Set[str]) -> list[int]:
        """Return the elements with one of the given names, in document order."""
        return choose(self.tags, names)

    def text(self, element: int) -> str:
        """Return the text in an element, unescaped."""
        return unescape("".join(self.parts[self.opens[element] + 1 : self.closes[element] : 2]))

    def tagged(self, start_tags: Collection[str]) -> list[int]:
        """Return the elements that have one of these start tags, in document order."""
        return choose(self.parts, start_tags, self.opens) if start_tags else []

    def starts_element(self, index: int) -> bool:
        """Return whether the tag `parts[index]` is a start tag with an end tag, so that the text
        after it is inside the element."""
        tag = self.parts[index]
        return tag[1:2] != "/" and self.names.get(tag, "br") not in self.void

    def values(self, key: str) -> dict[str, str]:
        """Return the serialised value of the attribute `key`, one of `KEYS`, for each distinct
        start tag that has it."""
        if self._n_read < len(self.names):
            for name, found in read_values(islice(self.names, self._n_read, None)).items():
                self._values.setdefault(name, {}).update(found)
            self._n_read = len(self.names)
        return self._values[key]

    def attributes(self, element: int) -> dict[str, str]:
        """Return the element's attributes with unescaped values. Names are lower case except in
        SVG."""
        return attributes(self.start_tag(element))

    def path(self, element: int) -> tuple[int, ...]:
        """Return the elements from the root to this element, which is last."""
        path = []
        while element >= 0:
            path.append(element)
            element = self.parents[element]
        return tuple(reversed(path))

    def nearest(self, element: int, count: int) -> tuple[int, ...]:
        """Return the last `count` elements of the path to this element, or all if there are fewer.
        The cost does not grow with the page's depth."""
        path: list[int] = []
        while element >= 0 and len(path) < count:
            path.append(element)
            element = self.parents[element]
        return tuple(reversed(path))

    def retag(self, element: int, start: str, end: str) -> None:
        """Replace the element's start and end tag with other markup."""
        self.parts[self.opens[element]], self.parts[self.closes[element]] = start, end

    def replace(self, element: int, markup: str) -> None:
        """Replace the element and its content with markup; the emptied parts and elements keep
        their indexes."""
        first, last, n_elements = self.opens[element], self.closes[element], self.lasts[element] + 1 - element
        self.parts[first : last + 1] = [markup] + [""] * (last - first)
        self.tags[element : element + n_elements] = [""] * n_elements
        self.names[""] = ""

    def children(self, element: int) -> list[int]:
        """Return the child elements in document order."""
        return self.siblings(self.opens[element] + 1, self.closes[element])

    def siblings(self, first: int, last: int) -> list[int]:
        """Return the outermost elements in the slice `parts[first : last + 1]`, in document
        order."""
        elements, element = [], bisect_left(self.opens, first)
        while element < len(self.opens) and self.opens[element] <= last:
            elements.append(element)
            element = self.lasts[element] + 1
        return elements

    def outermost(self, elements: Iterable[int]) -> list[int]:
        """Return the outermost of the given elements, which must be in document order."""
        found, end = list[int](), -1
        for element in elements:
            if element > end:
                found.append(element)
                end = self.lasts[element]
        return found


def read_values(tags: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return, for each attribute in `KEYS`, its value by tag, for the tags that have it."""
    values: dict[str, dict[str, str]] = {key: {} for key in KEYS}
    for tag in tags:
        if '="' in tag:
            for key, value in _VALUES.findall(tag):
                values[key].setdefault(tag, value)
    return values


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a serialised start tag with unescaped values. If a name is repeated,
    the first value counts.

    >>> attributes('<p class="a &amp; b" hidden="">')
    {'class': 'a & b', 'hidden': ''}
    """
    values: dict[str, str] = {}
    for name, value in raw_attributes(tag):
        values.setdefault(name, unescape(value) if "&" in value else value)
    return values


def attribute(tag: str, key: str) -> str | None:
    """Return the unescaped value of one attribute of a serialised start tag, or None. Fast even if
    other values are megabytes long.

    >>> attribute('<p class="a" hidden="">', "hidden"), attribute("<p>", "id")
    ('', None)
    """
    start = tag.find(f" {key}")
    if start < 0:
        return None
    start = tag.find(f' {key}="', start)
    before = tag[:start]
    if start >= 0 and "='" not in before and before.count('"') == 2 * before.count('="'):
        # Every value before the match is in double quotes and has none inside, so the match is not
        # part of another value.
        start += len(key) + 3
        value = tag[start : tag.index('"', start)]
        return unescape(value) if "&" in value else value
    return next((unescape(value) for name, value in raw_attributes(tag) if name == key), None)


def raw_attributes(tag: str) -> list[tuple[str, str]]:
    """Return the name and value, as serialised, of each attribute of a start tag."""
    start = _NAME.match(tag)
    found = _ATTRIBUTE.findall(tag, start.end() if start else 0)
    return [(name, double or single) for name, double, single in found]


def unescape(text: str) -> str:
    """Return a serialised text or attribute value, unescaped: only the five references that
    serialisers write.
    """
    if "&" not in text:
        return text
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&nbsp;", "\u00a0")
    return text.replace("&amp;", "&")


def escape(text: str) -> str:
    """Return text escaped for serialisation."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut_parts(parts: list[str], cuts: list[tuple[int, int]]) -> list[str]:
    """Return `parts` without the ranges `cuts` (first and last tag index, ascending, disjoint). The
    texts on both sides of a range are joined.
    """
    remaining: list[str] = []
    position, carried = 0, ""
    for first, last in cuts:
        if first - 1 > position:
            remaining.append(carried + parts[position])
            remaining.extend(parts[position + 1 : first - 1])
            carried = parts[first - 1]
        else:
            carried += parts[position]
        position = last + 1
    remaining.append(carried + parts[position])
    remaining.extend(parts[position + 1 :])
    return remaining


def escape_attribute(value: str) -> str:
    """Return text escaped as the value of a double-quoted attribute."""
    return escape(value).replace('"', "&quot;")
