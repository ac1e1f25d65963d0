"""Finds records: siblings of one shape, as cards, rows, items and posts are."""

from collections.abc import Iterator

from dripper.html.tree.elements import words
from dripper.html.tree.tree import Tree

_RECORDS = words("li div article section tr a dd")
_FEWEST = 3
"""Siblings with equal start tags; two may be columns."""


def find_records(tree: Tree) -> Iterator[list[int]]:
    """Yield the lists of a page: siblings with equal start tags, in document order."""
    lists = dict[tuple[int, str], list[int]]()
    for element, name in enumerate(tree.tags):
        if name in _RECORDS:
            lists.setdefault((tree.parents[element], tree.start_tag(element)), []).append(element)
    yield from (records for records in lists.values() if len(records) >= _FEWEST)
