"""Stores a page as flat arrays: its serialised markup, split into strings and tags, and the element
tree of this markup.

Walking a tree with one Python object per node is slow. Instead, a page is a list, `parts`, in which
text and tags alternate (`text, tag, text, tag, …, text`). The text between two tags may be empty.
Each element is an integer, counted from 0 in document order, and a subtree is a range of integers.
Blocks, simplified HTML, mapping HTML and pruned pages are therefore slices of one list. No code is
recursive, so depth is not limited.

The input must be markup that a parser serialised. Its tags are balanced, its attributes are quoted,
and `<` and `>` are escaped in its text and attribute values. In such markup, `<[^>]*>` matches
exactly the tags.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass, field
from itertools import islice

from dripper.tree.loops import choose

_NAME = re.compile(r"</?([^\t\n\f\r />]+)")
KEYS = (
    "class", "id", "style", "role", "rel", "name", "itemprop", "aria-controls", "hidden", "aria-hidden", "popover", "cc-no-block",
    "_item_id",
)  # fmt: skip
"""Attributes that `Tree.values` can look up in all tags of a page."""
_VALUES = re.compile(f' ({"|".join(KEYS)})="([^"]*)"')
_ATTRIBUTE = re.compile(r"""[\t\n\f\r ](=?[^\t\n\f\r =>/]*)(?:=(?:"([^"]*)"|'([^']*)'))?""")


@dataclass(slots=True)
class Tree:
    """A page's elements, numbered from 0 in document order. Element 0 is the root (`html`)."""

    parts: list[str]
    """Texts at even indexes and tags at odd indexes, both escaped."""
    names: dict[str, str]
    """Maps each distinct tag to its element name."""
    void: Collection[str]
    """Names of elements without end tags."""
    tags: list[str] = field(default_factory=list)
    """The name of each element."""
    parents: list[int] = field(default_factory=list)
    """The parent of each element, or -1 for the root."""
    lasts: list[int] = field(default_factory=list)
    """The last descendant of each element, or the element itself if it has none."""
    opens: list[int] = field(default_factory=list)
    closes: list[int] = field(default_factory=list)
    """`opens` and `closes` are the indexes in `parts` of each element's start and end tag, and are
    the same for void elements. The text before an element's first child is `parts[opens[i] + 1]`,
    and the text after the element is `parts[closes[i] + 1]`."""
    _values: dict[str, dict[str, str]] = field(default_factory=dict, repr=False, compare=False)
    _n_read: int = field(default=0, repr=False, compare=False)
    """Number of tags in `names` that `_values` already covers."""

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self.tags)

    def start_tag(self, element: int) -> str:
        """Return the element's serialised start tag. If two start tags are the same string, their
        elements have the same name and attributes."""
        return self.parts[self.opens[element]]

    def find(self, name: str) -> list[int]:
        """Return the elements with the given name, in document order."""
        return choose(self.tags, {name})

    def named(self, names: Set[str]) -> list[int]:
        """Return the elements with one of the given names, in document order."""
        return choose(self.tags, names)

    def text(self, element: int) -> str:
        """Return the unescaped text of an element and its descendants."""
        return unescape("".join(self.parts[self.opens[element] + 1 : self.closes[element] : 2]))

    def tagged(self, start_tags: Collection[str]) -> list[int]:
        """Return the elements that have one of these start tags, in document order."""
        return choose(self.parts, start_tags, self.opens) if start_tags else []

    def starts_element(self, index: int) -> bool:
        """Return whether `parts[index]` is the start tag of an element with an end tag. If so, the
        next text is inside the element."""
        tag = self.parts[index]
        return tag[1:2] != "/" and self.names.get(tag, "br") not in self.void

    def values(self, key: str) -> dict[str, str]:
        """Return a dict from start tags to the values of one attribute. Values are escaped, and
        `key` must be in `KEYS`."""
        if self._n_read < len(self.names):
            for name, found in read_values(islice(self.names, self._n_read, None)).items():
                self._values.setdefault(name, {}).update(found)
            self._n_read = len(self.names)
        return self._values[key]

    def attributes(self, element: int) -> dict[str, str]:
        """Return the element's attributes with unescaped values. Names are in lower case except in
        SVG."""
        return attributes(self.start_tag(element))

    def path(self, element: int) -> tuple[int, ...]:
        """Return the path from the root to this element, both included."""
        path = []
        while element >= 0:
            path.append(element)
            element = self.parents[element]
        return tuple(reversed(path))

    def nearest(self, element: int, count: int) -> tuple[int, ...]:
        """Return the last elements of the path to this element, at most `count`. The cost does not
        grow with the page's depth."""
        path: list[int] = []
        while element >= 0 and len(path) < count:
            path.append(element)
            element = self.parents[element]
        return tuple(reversed(path))

    def retag(self, element: int, start: str, end: str) -> None:
        """Replace the start tag and the end tag of an element."""
        self.parts[self.opens[element]], self.parts[self.closes[element]] = start, end

    def replace(self, element: int, markup: str) -> None:
        """Replace the element and its content by markup. No indexes change: the old parts and
        elements stay as empty strings."""
        first, last, n_elements = self.opens[element], self.closes[element], self.lasts[element] + 1 - element
        self.parts[first : last + 1] = [markup] + [""] * (last - first)
        self.tags[element : element + n_elements] = [""] * n_elements
        self.names[""] = ""

    def children(self, element: int) -> list[int]:
        """Return an element's child elements in document order."""
        return self.siblings(self.opens[element] + 1, self.closes[element])

    def siblings(self, first: int, last: int) -> list[int]:
        """Return the outermost elements in the slice `parts[first : last + 1]` in document
        order."""
        elements, element = [], bisect_left(self.opens, first)
        while element < len(self.opens) and self.opens[element] <= last:
            elements.append(element)
            element = self.lasts[element] + 1
        return elements

    def outermost(self, elements: Iterable[int]) -> list[int]:
        """Drop every element that is inside another of the given elements. `elements` must be in
        document order."""
        found, end = list[int](), -1
        for element in elements:
            if element > end:
                found.append(element)
                end = self.lasts[element]
        return found


def read_values(tags: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return a dict from tags to values for each attribute in `KEYS`. Tags without the attribute
    are left out."""
    values: dict[str, dict[str, str]] = {key: {} for key in KEYS}
    for tag in tags:
        if '="' in tag:
            for key, value in _VALUES.findall(tag):
                values[key].setdefault(tag, value)
    return values


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a serialised start tag with unescaped values. If a name is repeated,
    the first value wins.

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
        # All values before the match are complete and in double quotes, so the match is not inside
        # a value.
        start += len(key) + 3
        value = tag[start : tag.index('"', start)]
        return unescape(value) if "&" in value else value
    return next((unescape(value) for name, value in raw_attributes(tag) if name == key), None)


def raw_attributes(tag: str) -> list[tuple[str, str]]:
    """Return the name and the serialised value of each attribute in a start tag."""
    start = _NAME.match(tag)
    found = _ATTRIBUTE.findall(tag, start.end() if start else 0)
    return [(name, double or single) for name, double, single in found]


def unescape(text: str) -> str:
    """Unescape serialised text or a serialised attribute value. Only the five references that
    serialisers write are resolved.
    """
    if "&" not in text:
        return text
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&nbsp;", "\u00a0")
    return text.replace("&amp;", "&")


def escape(text: str) -> str:
    """Escape text for serialised markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut_parts(parts: list[str], cuts: list[tuple[int, int]]) -> list[str]:
    """Remove ranges from `parts`, and join the text around each range. `cuts` are (first, last)
    pairs of tag indexes, ascending and disjoint.
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
    """Escape text for use as a double-quoted attribute value."""
    return escape(value).replace('"', "&quot;")
