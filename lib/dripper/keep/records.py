"""Finds records: siblings with the same start tag, such as cards, rows, items and posts."""

from collections.abc import Iterable, Iterator

from dripper.tree.elements import words
from dripper.tree.tree import Tree

_RECORDS = words("li div article section tr a dd")
_FEWEST = 3
"""Minimum number of siblings with the same start tag; two may be columns."""


def find_records(tree: Tree, inner: Iterable[int]) -> Iterator[list[int]]:
    """Yield lists of siblings with the same start tag, in document order. Only the siblings of the
    `inner` elements, and of the elements around them, are searched."""
    around, lists = {-1}, dict[tuple[int, str], list[int]]()
    for element in inner:
        while element not in around:
            around.add(element)
            element = tree.parents[element]
    for parent in sorted(
        {tree.parents[element] for element in around if element >= 0 and tree.tags[element] in _RECORDS}
    ):
        for child in tree.children(parent) if parent >= 0 else ():
            if tree.tags[child] in _RECORDS:
                lists.setdefault((parent, tree.start_tag(child)), []).append(child)
    yield from sorted(records for records in lists.values() if len(records) >= _FEWEST)
