"""Holds a page as flat arrays: the serialised markup, cut into texts and tags, and the element tree
over it.

Python objects per node are what makes tree walks slow. Here a page is one list of strings, `parts`,
in which texts and tags alternate (`text, tag, text, tag, …, text`; a text may be empty), and an
element is an integer, numbered from 0 in document order. Subtrees are ranges, so that blocks,
simplified HTML, mapping HTML and pruned pages are all slices of one list. There is no recursion,
hence no limit on depth.

The input must be a parser's own serialisation: every tag balanced, attributes quoted, `<` and `>`
escaped in texts and attribute values. Then `<[^>]*>` is exact.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress

_NAME = re.compile(r"</?([^\t\n\f\r />]+)")
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
    """Its parent element, -1 for the root."""
    lasts: list[int] = field(default_factory=list)
    """Its last descendant, or itself."""
    opens: list[int] = field(default_factory=list)
    closes: list[int] = field(default_factory=list)
    """Both: indexes into `parts` of its start and end tag (the same one for void elements). So the
    text before an element's first child is `parts[opens[i] + 1]`, the text after the element
    `parts[closes[i] + 1]`."""
    _values: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self.tags)

    def start_tag(self, element: int) -> str:
        """Return the element's start tag as serialised: equal strings mean equal name and
        attributes."""
        return self.parts[self.opens[element]]

    def find(self, name: str) -> list[int]:
        """Return the elements of a name. Most pages have few, which `index` finds at the speed of
        C."""
        elements, element = list[int](), -1
        with suppress(ValueError):
            while True:
                element = self.tags.index(name, element + 1)
                elements.append(element)
        return elements

    def named(self, names: Set[str]) -> list[int]:
        """Return the elements of several names, in document order."""
        return list(compress(range(len(self.tags)), map(names.__contains__, self.tags)))

    def text(self, element: int) -> str:
        """Return the characters in an element."""
        return unescape("".join(self.parts[self.opens[element] + 1 : self.closes[element] : 2]))

    def tagged(self, start_tags: Collection[str]) -> list[int]:
        """Return the elements that have one of these start tags, in document order."""
        if not start_tags:
            return []
        return [element for element, index in enumerate(self.opens) if self.parts[index] in start_tags]

    def starts_element(self, index: int) -> bool:
        """Tell whether the tag `parts[index]` is a start tag that some end tag follows: the text
        after it is inside."""
        tag = self.parts[index]
        return tag[1:2] != "/" and self.names.get(tag, "br") not in self.void

    def values(self, key: str) -> dict[str, str]:
        """Return the value of an attribute, as serialised, of each distinct start tag that has it:
        half of what tags say is in few long ones, which are searched once for each attribute."""
        place = key, len(self.names)
        if place not in self._values:
            sign = f' {key}="'
            found = {tag: at + len(sign) for tag in self.names if (at := tag.find(sign)) >= 0}
            self._values[place] = {tag: tag[at : tag.find('"', at)] for tag, at in found.items()}
        return self._values[place]

    def attributes(self, element: int) -> dict[str, str]:
        """Return the element's attributes, values unescaped; names are lower case but for SVG's."""
        return attributes(self.start_tag(element))

    def path(self, element: int) -> tuple[int, ...]:
        """Return the elements from the root to this one, itself last."""
        path = []
        while element >= 0:
            path.append(element)
            element = self.parents[element]
        return tuple(reversed(path))

    def nearest(self, element: int, count: int) -> tuple[int, ...]:
        """Return the last `count` elements of the path to this one, or all; what it costs does not
        grow with the depth of the page."""
        path: list[int] = []
        while element >= 0 and len(path) < count:
            path.append(element)
            element = self.parents[element]
        return tuple(reversed(path))

    def retag(self, element: int, start: str, end: str) -> None:
        """Write other markup in place of the element's start and end tag."""
        self.parts[self.opens[element]], self.parts[self.closes[element]] = start, end

    def replace(self, element: int, markup: str) -> None:
        """Write markup in place of the element and all that is in it; what is empty then keeps its
        place in `parts`."""
        first, last = self.opens[element], self.closes[element]
        self.parts[first : last + 1] = [markup] + [""] * (last - first)

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
        """Return those of some elements, which are in document order, that are in no other."""
        found, end = list[int](), -1
        for element in elements:
            if element > end:
                found.append(element)
                end = self.lasts[element]
        return found


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a serialised start tag, values unescaped; of a repeated name the
    first counts.

    >>> attributes('<p class="a &amp; b" hidden="">')
    {'class': 'a & b', 'hidden': ''}
    """
    values: dict[str, str] = {}
    for name, value in raw_attributes(tag):
        values.setdefault(name, unescape(value) if "&" in value else value)
    return values


def attribute(tag: str, key: str) -> str | None:
    """Return one attribute of a serialised start tag, unescaped, or None; values beside it may be
    megabytes.

    >>> attribute('<p class="a" hidden="">', "hidden"), attribute("<p>", "id")
    ('', None)
    """
    if f" {key}" not in tag:
        return None
    start = tag.find(f' {key}="')
    if start >= 0 and "'" not in tag and tag.count('"') == 2 * tag.count('="'):
        # Every value has double quotes and none has one inside: what was found is no part of
        # another value.
        start += len(key) + 3
        value = tag[start : tag.index('"', start)]
        return unescape(value) if "&" in value else value
    return next((unescape(value) for name, value in raw_attributes(tag) if name == key), None)


def raw_attributes(tag: str) -> list[tuple[str, str]]:
    """Return name and value, as serialised, of each attribute of a start tag."""
    start = _NAME.match(tag)
    found = _ATTRIBUTE.findall(tag, start.end() if start else 0)
    return [(name, double or single) for name, double, single in found]


def unescape(text: str) -> str:
    """Return serialised text or attribute value as characters: the five references that serialisers
    write, no others.
    """
    if "&" not in text:
        return text
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&nbsp;", "\u00a0")
    return text.replace("&amp;", "&")


def escape(text: str) -> str:
    """Return characters as serialised text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut_parts(parts: list[str], cuts: list[tuple[int, int]]) -> list[str]:
    """Return `parts` without the tag ranges `cuts` (first and last index, ascending, disjoint);
    texts on both sides join.
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
    """Return characters as the value of a double-quoted attribute."""
    return escape(value).replace('"', "&quot;")
