"""Finds the marks of posts, that is, elements that contain a person's name or a date. Each mark has
a rank, and a shape that is based on tag names and first classes. This module decides which strings
are dates and which URLs point to a person.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from dripper.facts.metadata.dates import parse_date, parse_dates
from dripper.tree.elements import words
from dripper.tree.tree import Tree, attribute, unescape

LONGEST_TAG = 1500
"""Maximum length of a start tag that is read, in characters."""
_LONGEST_NAME = 40
NEAR = 24
"""Number of elements to search inside an element, from its start on, for a name or for a link to a
quoted post."""
_MOST_INSIDE = 48
"""Maximum number of parts (strings and tags) in an element that holds a single name or date."""
FEWEST_IN_ORDER = 3
"""Minimum number of ascending or descending dates that show that posts are in order."""
_MOST_WORDS = 5
_LONGEST_DATE = 70
CLASS = re.compile(r' class="([^"]{1,300})')
"""The classes of a start tag."""
NUMBERED = re.compile(r' (?:id|name)="((?:[A-Za-z]+(?:[-_][A-Za-z]+)*)?)[-_]?[0-9]+(?:[-_][A-Za-z]+)*"')
"""An id with a number. The regex group is the prefix that all ids of the same kind share."""
VARYING = re.compile(r"\b(?:odd|even|first|last|active|alt|clearfix)\b|[0-9]+")
"""The parts of a class that differ among siblings of the same kind."""
_PERSON = re.compile(
    r"author|user-?_?name|poster|nick|screen-?_?name|\bfn\b|\buser(?:[-_]?(?:link|info|details|id|card|profile))?\b|member"
    r"|byline|\bname\b|profile",
    re.IGNORECASE,
)
_NO_PERSON = re.compile(
    r"avatar|title|rank|signature|photo|image|count|badge|banner|group|posts\b|location|date|time|status|container|wrap|extra"
    r"|stats?\b|role|content|comment-?_?body|action",
    re.IGNORECASE,
)
PROFILE = re.compile(
    r"(?:^|[/?&;])(?:users?|members?|profiles?|people|author|u|memberlist|account|viewprofile|mode=viewprofile|showuser=|"
    r"action=profile|space-uid|uid=|space\.php|member\.php|profile\.php|user\.php|userid=|memberid|user=)(?:[/?&;=.\d-]|$)|/[@~]\w",
    re.IGNORECASE,
)
"""A URL that points to a person."""
_AROUND_NAME = re.compile(
    r"^(?:(?:posted|written|asked|answered)\s)?(?:by|von|par|from)\b[:\s]*|\s(?:says|wrote|said)\W*$|<[^>]*>", re.I
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:/-]\d\d\b|\b\d\d?\.\d\d?\.\d|\d\s*[年月日]|\bago\b|\b(?:yesterday|today)\b"
    r"|^(?:vor|hace|il y a)\s|^\d{1,2}\s?(?:h|d|m|min|mo|yr?|w)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_DIGIT = re.compile(r"\d")
_STATING_DATES = ("datetime", "content", "title", "data-time", "data-timestamp", "data-date")
_BEFORE_DATES = (" title=", " data-t", " data-d", ' itemprop="date', ' itemprop="commentTime')
_NO_NAMES = words("article button form img input main ol section svg table tbody tr ul use")
_TYPED, _BY_LINK, BY_CLASS = 3, 2, 1
"""The ranks of marks that name a person. The evidence is `itemprop` or `rel`, the target of a link,
or a class."""


class Mark(NamedTuple):
    """An element that contains a person's name or a date."""

    element: int
    rank: int
    """Higher ranks are more certain."""
    shape: object
    text: str


class Marks:
    """Finds the marks of posts in one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._shapes = dict[str, tuple[str, ...]]()

    def find(self, spans: Sequence[int]) -> tuple[set[int], list[Mark], list[Mark]]:
        """Return the elements inside `spans`, the marks of persons and the marks of dates. Marks
        are in document order. The spans must not overlap."""
        inside = [element for span in spans for element in range(span, self._tree.lasts[span] + 1)]
        return set(inside), self._find_authors(inside), self._find_dates(inside, spans)

    def _shape(self, element: int) -> tuple[str, ...]:
        tag = self._tree.start_tag(element)
        if tag not in self._shapes:
            self._shapes[tag] = read_shape(tag, self._tree.tags[element])
        return self._shapes[tag]

    def _place(self, element: int) -> object:
        return self._shape(element), self._shape(max(self._tree.parents[element], 0))

    def _find_authors(self, elements: Sequence[int]) -> list[Mark]:
        """Return the marks that could name a person, in document order."""
        tree, marks = self._tree, list[Mark]()
        tags = [tree.parts[tree.opens[element]] for element in elements]
        names = {tag: tree.names.get(tag, "") for tag in set(tags) if " " in tag and len(tag) <= LONGEST_TAG}
        ranks = {
            tag: rank for tag, name in names.items() if name not in _NO_NAMES and (rank := _rate_person(tag, name))
        }
        for element, tag in zip(elements, tags, strict=True) if ranks else ():
            if tag not in ranks:
                continue
            inner = range(element + 1, min(tree.lasts[element], element + NEAR) + 1) if ranks[tag] == _TYPED else ()
            named = next((each for each in inner if 'itemprop="name"' in tree.start_tag(each)), element)
            text = (attribute(tree.start_tag(named), "content") if named != element else None) or self.text(
                named, is_line=True
            )
            text = _AROUND_NAME.sub("", text).strip(" :,-–—@·|") if len(text) <= 2 * _LONGEST_NAME else ""
            is_short = 1 < len(text) <= _LONGEST_NAME and text.count(" ") < _MOST_WORDS
            if is_short and _LETTERS.search(text) and not _DATE.search(text):
                mark = Mark(element, ranks[tag], self._shape(element), text)
                if marks and element <= tree.lasts[marks[-1].element] and text in marks[-1].text:
                    around = marks.pop()  # The outer element says more than the name.
                    mark = around._replace(element=element, text=text) if around.rank > mark.rank else mark
                marks.append(mark._replace(rank=0) if self._is_editor(element) else mark)
        return marks

    def _is_editor(self, element: int) -> bool:
        """Return whether a person only edited the post: the last of the words "edited", "asked" and
        "answered" right before the person is "edited"."""
        first = self._tree.opens[element]
        said = "".join(self._tree.parts[max(first - 2 * NEAR - 1, 0) : first : 2])
        return said.rfind("edited ") > max(said.rfind("asked "), said.rfind("answered "))

    def _find_dates(self, elements: Sequence[int], spans: Sequence[int]) -> list[Mark]:
        """Return the marks with a date in an attribute or in text, in document order."""
        tree, marks = self._tree, list[Mark]()
        tags = [tree.parts[tree.opens[element]] for element in elements]
        dated = [tag for tag in set(tags) if tag[:5] == "<time" or any(name in tag for name in _BEFORE_DATES)]
        stated = {tag: value for tag in dated if len(tag) <= LONGEST_TAG and (value := _read_date(tag)) is not None}
        for element, tag in zip(elements, tags, strict=True) if stated else ():
            if (value := stated.get(tag)) is not None:
                rank = 3 if value and tag[:5] == "<time" else 2
                marks.append(Mark(element, rank, self._place(element), value or self.text(element)))
        for span in spans:
            first = tree.opens[span] + 1
            for index, text in enumerate(tree.parts[first : tree.closes[span] : 2]):
                may_state = 3 < len(text) < 2 * _LONGEST_DATE and not text.isspace()
                if may_state and (_DIGIT.search(text) or "day" in text) and _DATE.search(text):
                    text = " ".join(unescape(text).split())
                    holder = self._find_holder(first + 2 * index) if len(text) <= _LONGEST_DATE else 0
                    if holder:
                        marks.append(Mark(holder, int(tree.tags[holder] != "p"), self._place(holder), text))
        return sorted(marks, key=lambda mark: (mark.element, -mark.rank))

    def find_unmarked(self, elements: list[int]) -> dict[int, str]:
        """Find names without a mark. Return the short strings at a position at which most elements
        have one, keyed by element. The strings are not dates, and they differ between elements."""
        inside = defaultdict[tuple[object, ...], dict[int, str]](dict)
        for element in elements:
            first = self._tree.opens[element] + 1
            for index in range(first, min(self._tree.closes[element], first + _MOST_INSIDE), 2):
                text = self._tree.parts[index].strip()
                is_short = (
                    1 < len(text) <= _LONGEST_NAME and text.count(" ") < 3 and text[-1].isalnum() and "&" not in text
                )
                if is_short and text[0] != "#" and _LETTERS.search(text) and not _DATE.search(text):
                    path = self._tree.nearest(self._find_holder(index), 3)
                    inside[tuple(map(self._shape, path))].setdefault(element, text)
        for values in inside.values():
            said = Counter(values.values())
            if len(values) >= 0.8 * len(elements) and len(said) > max(1, len(elements) / 8):
                return values
        return {}

    def _find_holder(self, index: int) -> int:
        """Return the element that contains the text at `index`; 0 if the markup before the text is
        too deep."""
        element = bisect_right(self._tree.opens, index) - 1
        for _ in range(_MOST_INSIDE):
            if element <= 0 or self._tree.closes[element] > index:
                return max(element, 0)
            element = self._tree.parents[element]
        return 0

    def text(self, element: int, *, is_line: bool = False) -> str:
        """Return the text of an element; "" if it has too many parts to be a single name or date.

        Args:
            is_line: Whether to return only the first of the lines that `<br>` separates.
        """
        first, last = self._tree.opens[element], self._tree.closes[element]
        if last - first > _MOST_INSIDE:
            return ""
        parts = self._tree.parts[first + 1 : last]
        parts[1::2] = ["\v" if tag[:3] == "<br" else "" for tag in parts[1::2]]
        text = "".join(parts).strip()
        return " ".join(unescape(text.partition("\v")[0] if is_line else text).split())


def find_around(tree: Tree, marks: Iterable[Mark]) -> set[int]:
    """Return the elements of marks and all their ancestors."""
    around, parents = set[int](), tree.parents
    for mark in marks:
        element = mark.element
        while element >= 0 and element not in around:
            around.add(element)
            element = parents[element]
    return around


def read_shape(tag: str, name: str) -> tuple[str, ...]:
    """Return the name and first class of a start tag, without the parts that vary from item to
    item."""
    found = CLASS.search(tag)
    return (name, *VARYING.sub("", found[1]).split()[:1]) if found else (name,)


def _rate_person(tag: str, name: str) -> int:
    """Return the rank of a start tag as the mark of a person; 0 if the tag marks no person."""
    if 'itemprop="author' in tag or 'itemprop="creator' in tag or 'rel="author' in tag:
        return _TYPED
    if name == "a" and PROFILE.search(attribute(tag, "href") or ""):
        return _BY_LINK
    found = CLASS.search(tag)
    return BY_CLASS if found and _PERSON.search(found[1]) and not _NO_PERSON.search(found[1]) else 0


def _read_date(tag: str) -> str | None:
    """Return the date in the attributes of a start tag. If there is none, return "" for a `time`,
    because its text could contain a date, and None for other elements."""
    values = (attribute(tag, name) for name in _STATING_DATES)
    return next(
        (each for each in values if each and len(each) < _LONGEST_DATE and parse_date(each)),
        "" if tag[:5] == "<time" else None,
    )


def are_in_order(texts: Sequence[str]) -> bool:
    """Return whether nearly all dates are in ascending or descending order."""
    known = [date[:16] for date in parse_dates(texts) if date]
    n_rises, n_falls = (sum(a <= b for a, b in pairwise(each)) for each in (known, known[::-1]))
    return len(known) >= FEWEST_IN_ORDER and max(n_rises, n_falls) >= 0.85 * (len(known) - 1)
