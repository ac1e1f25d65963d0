"""Answers questions about the content of a part of a page. It searches sorted lists, so that an
answer costs about the same on a deep or large page."""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from dripper.html.tree.elements import HEADINGS, words
from dripper.html.tree.tree import Tree

SHOWS = words("img picture video audio svg iframe math object embed canvas hr table")
"""Elements that show something without a text."""
STRUCTURE = HEADINGS | words("ul ol dl menu li dt dd table pre blockquote")
"""Elements that no line can hold."""


class Look:
    """The positions of a tree's texts and of some of its elements.

    Args:
        texts: The texts of the tree, which are at the even positions of its parts.
    """

    def __init__(self, tree: Tree, texts: Sequence[str]) -> None:
        self._tree = tree
        self._solid = [2 * at for at, text in enumerate(texts) if text and not text.isspace()]
        self._texts = texts
        self._sums: list[int] = []
        self._kinds: dict[frozenset[str], list[int]] = {}

    def says(self, first: int, last: int) -> bool:
        """Return whether there is a text that is not blank between two positions of tags."""
        at = bisect_right(self._solid, first)
        return at < len(self._solid) and self._solid[at] < last

    def has_text(self, element: int) -> bool:
        """Return whether an element has a text that is not blank."""
        at = bisect_right(self._solid, self._tree.opens[element])
        return at < len(self._solid) and self._solid[at] < self._tree.closes[element]

    def fills(self, inner: int, outer: int) -> bool:
        """Return whether an element holds all the text of another element around it."""
        opens, closes = self._tree.opens, self._tree.closes
        return not self.says(opens[outer], opens[inner]) and not self.says(closes[inner], closes[outer])

    def read(self, element: int) -> str:
        """Return the text in an element."""
        return "".join(self._texts[self._tree.opens[element] // 2 + 1 : self._tree.closes[element] // 2 + 1])

    def first_text(self, element: int) -> int | None:
        """Return the position, among all parts, of the first text in an element."""
        at = bisect_right(self._solid, self._tree.opens[element])
        return self._solid[at] if at < len(self._solid) and self._solid[at] < self._tree.closes[element] else None

    def near(self, place: int, step: int) -> int | None:
        """Return the position of the text nearest to a tag, behind it (1) or before it (-1)."""
        at = bisect_right(self._solid, place) + (0 if step > 0 else -1)
        return self._solid[at] if 0 <= at < len(self._solid) else None

    def size(self, element: int) -> int:
        """Return the number of characters in an element."""
        if not self._sums:
            self._sums = list(accumulate(map(len, self._texts), initial=0))
        return self._sums[self._tree.closes[element] // 2 + 1] - self._sums[self._tree.opens[element] // 2 + 1]

    def within(self, element: int, names: frozenset[str], most: int = sys.maxsize) -> Sequence[int]:
        """Return the first elements with one of the names in an element, in document order."""
        found = self._find(names)
        first, end = bisect_right(found, element), bisect_right(found, self._tree.lasts[element])
        return found[first : min(end, first + most)]

    def holds(self, element: int, names: frozenset[str]) -> bool:
        """Return whether an element holds an element with one of the names."""
        found = self._kinds.get(names) or self._find(names)
        at = bisect_right(found, element)
        return at < len(found) and found[at] <= self._tree.lasts[element]

    def count(self, element: int, names: frozenset[str]) -> int:
        """Return the number of elements with one of the names in an element."""
        found = self._find(names)
        return bisect_right(found, self._tree.lasts[element]) - bisect_left(found, element + 1)

    def _find(self, names: frozenset[str]) -> list[int]:
        if names not in self._kinds:
            self._kinds[names] = self._tree.named(names)
        return self._kinds[names]
