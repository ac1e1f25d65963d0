"""Tells what is in a part of a page. It searches sorted lists, so that a question costs about the
same on a deep or large page."""

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
    """The places of a tree's texts and of some of its elements.

    Args:
        texts: Of the tree, at the even places of its parts.
    """

    def __init__(self, tree: Tree, texts: Sequence[str]) -> None:
        self._tree = tree
        self._solid = [2 * at for at, text in enumerate(texts) if text and not text.isspace()]
        self._texts = texts
        self._sums: list[int] = []
        self._kinds: dict[frozenset[str], list[int]] = {}

    def says(self, first: int, last: int) -> bool:
        """Tell whether a text that is not blank stands between two tags, or tags' places."""
        at = bisect_right(self._solid, first)
        return at < len(self._solid) and self._solid[at] < last

    def has_text(self, element: int) -> bool:
        """Tell whether there is a text in an element."""
        at = bisect_right(self._solid, self._tree.opens[element])
        return at < len(self._solid) and self._solid[at] < self._tree.closes[element]

    def fills(self, inner: int, outer: int) -> bool:
        """Tell whether an element is all that says something in another."""
        opens, closes = self._tree.opens, self._tree.closes
        return not self.says(opens[outer], opens[inner]) and not self.says(closes[inner], closes[outer])

    def read(self, element: int) -> str:
        """Return the text in an element."""
        return "".join(self._texts[self._tree.opens[element] // 2 + 1 : self._tree.closes[element] // 2 + 1])

    def first_text(self, element: int) -> int | None:
        """Return the place of the first text in an element, among all parts."""
        at = bisect_right(self._solid, self._tree.opens[element])
        return self._solid[at] if at < len(self._solid) and self._solid[at] < self._tree.closes[element] else None

    def near(self, place: int, step: int) -> int | None:
        """Return the place of the text next to a tag, behind it (1) or before (-1)."""
        at = bisect_right(self._solid, place) + (0 if step > 0 else -1)
        return self._solid[at] if 0 <= at < len(self._solid) else None

    def size(self, element: int) -> int:
        """Return how many characters are in an element."""
        if not self._sums:
            self._sums = list(accumulate(map(len, self._texts), initial=0))
        return self._sums[self._tree.closes[element] // 2 + 1] - self._sums[self._tree.opens[element] // 2 + 1]

    def within(self, element: int, names: frozenset[str], most: int = sys.maxsize) -> Sequence[int]:
        """Return the first elements of some names in an element, in document order."""
        found = self._find(names)
        first, end = bisect_right(found, element), bisect_right(found, self._tree.lasts[element])
        return found[first : min(end, first + most)]

    def holds(self, element: int, names: frozenset[str]) -> bool:
        """Tell whether an element holds elements of some names."""
        found = self._kinds.get(names) or self._find(names)
        at = bisect_right(found, element)
        return at < len(found) and found[at] <= self._tree.lasts[element]

    def count(self, element: int, names: frozenset[str]) -> int:
        """Return how many elements of some names are in an element."""
        found = self._find(names)
        return bisect_right(found, self._tree.lasts[element]) - bisect_left(found, element + 1)

    def _find(self, names: frozenset[str]) -> list[int]:
        if names not in self._kinds:
            self._kinds[names] = self._tree.named(names)
        return self._kinds[names]
