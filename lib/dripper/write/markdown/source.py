"""Holds a tree with its text as it will be written, and answers questions about the content of
elements. Each answer takes a binary search, so it is fast even on deep or large pages."""

import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from dripper.tree.elements import HEADINGS, LINE_BREAKING, words
from dripper.tree.lines import collapse_lines, find_kept_lines, write_annotations
from dripper.tree.plain import set_apart
from dripper.tree.tree import Tree, unescape
from dripper.write.markdown.formulas import cut_tex, may_have_tex
from dripper.write.markdown.inert import drop_unseen, drop_unseen_in_all
from dripper.write.markdown.ordinals import join_ordinals

SHOWS = words("img picture video audio svg iframe math object embed canvas hr table")
"""Elements that show something without text."""
STRUCTURE = HEADINGS | words("ul ol dl menu li dt dd table pre blockquote")
"""Elements that cannot be part of a line."""


class Source:
    """The tree that is written.

    Args:
        texts: The strings between the tree's tags, from the even positions of its parts. Writers
            are allowed to change them.
        holes: Finished Markdown that the text refers to by number (see `inert.HOLE`).
    """

    def __init__(self, tree: Tree, texts: list[str], holes: list[str]) -> None:
        self.tree = tree
        self.texts = texts
        self.holes = holes
        self.roles: dict[int, str] = {}
        """Maps each element that is not written as its name suggests to its role."""
        self._solid = [2 * at for at, text in enumerate(texts) if text and not text.isspace()]
        self._sums: list[int] = []
        self._kinds: dict[frozenset[str], list[int]] = {}

    def has_text_between(self, first: int, last: int) -> bool:
        """Return whether there is nonblank text between two tags, given their positions."""
        at = bisect_right(self._solid, first)
        return at < len(self._solid) and self._solid[at] < last

    def has_text(self, element: int) -> bool:
        """Return whether an element has nonblank text."""
        at = bisect_right(self._solid, self.tree.opens[element])
        return at < len(self._solid) and self._solid[at] < self.tree.closes[element]

    def fills(self, inner: int, outer: int) -> bool:
        """Return whether `inner` contains all the text of `outer`, an element around it."""
        opens, closes = self.tree.opens, self.tree.closes
        return not self.has_text_between(opens[outer], opens[inner]) and not self.has_text_between(
            closes[inner], closes[outer]
        )

    def read(self, element: int) -> str:
        """Return an element's text."""
        return "".join(self.texts[self.tree.opens[element] // 2 + 1 : self.tree.closes[element] // 2 + 1])

    def first_text(self, element: int) -> int | None:
        """Return the position, among all parts, of an element's first nonblank text."""
        at = bisect_right(self._solid, self.tree.opens[element])
        return self._solid[at] if at < len(self._solid) and self._solid[at] < self.tree.closes[element] else None

    def near(self, place: int, step: int) -> int | None:
        """Return the position of the nearest nonblank text after (`step` 1) or before (-1) a
        tag."""
        at = bisect_right(self._solid, place) + (0 if step > 0 else -1)
        return self._solid[at] if 0 <= at < len(self._solid) else None

    def size(self, element: int) -> int:
        """Return the number of characters in an element's text."""
        if not self._sums:
            self._sums = list(accumulate(map(len, self.texts), initial=0))
        return self._sums[self.tree.closes[element] // 2 + 1] - self._sums[self.tree.opens[element] // 2 + 1]

    def within(self, element: int, names: frozenset[str], most: int = sys.maxsize) -> Sequence[int]:
        """Return up to `most` elements with one of `names` inside an element, in document order."""
        found = self._find(names)
        first, end = bisect_right(found, element), bisect_right(found, self.tree.lasts[element])
        return found[first : min(end, first + most)]

    def holds(self, element: int, names: frozenset[str]) -> bool:
        """Return whether an element contains an element with one of `names`."""
        found = self._kinds.get(names) or self._find(names)
        at = bisect_right(found, element)
        return at < len(found) and found[at] <= self.tree.lasts[element]

    def _find(self, names: frozenset[str]) -> list[int]:
        if names not in self._kinds:
            self._kinds[names] = self.tree.named(names)
        return self._kinds[names]


def read_source(tree: Tree) -> Source:
    """Return the source for a tree, with unescaped text. Invisible characters are removed, and
    line breaks in the HTML become spaces. Elements that a browser shows with a gap get a space
    between them. LaTeX is replaced by numbered placeholders (`holes`)."""
    holes = list[str]()
    breaks = {tag: "\n" for tag, name in tree.names.items() if name in LINE_BREAKING}
    parts = write_annotations(tree)
    texts = parts[::2]
    for index, text in set_apart(tree, parts, [breaks.get(tag, "") for tag in tree.parts[1::2]]).items():
        texts[index // 2] = text
    joined = unescape("\ufdd0".join(drop_unseen_in_all(texts)))
    if may_have_tex(joined):
        joined = "\ufdd0".join(cut_tex(text, holes) for text in joined.split("\ufdd0"))
    for character in "\n\t\r\f":
        joined = joined.replace(character, " ")
    texts = joined.split("\ufdd0")
    for place in find_kept_lines(tree):
        texts[place // 2] = collapse_lines(unescape(drop_unseen(parts[place])))
    join_ordinals(tree, texts)
    return Source(tree, texts, holes)
