"""Streams pages to an engine: makes requests ahead in a thread, so that pages are tokenized while
the engine works, and groups them by a number of tokens."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()


def ahead(items: Iterable[T], most: int) -> Iterator[T]:
    """Yield the items in order; a thread makes up to `most` of them before they are asked for.

    If making an item raises an error, that error is raised in the item's place. The thread ends
    with the items, or when the iterator is closed.

    >>> list(ahead(range(4), 2))
    [0, 1, 2, 3]
    """
    iterator, maker = iter(items), ThreadPoolExecutor(1, "ahead")
    try:
        made = deque(maker.submit(next, iterator, _END) for _ in range(most + 1))
        while (item := made.popleft().result()) is not _END:
            made.append(maker.submit(next, iterator, _END))
            yield item
    finally:
        maker.shutdown(cancel_futures=True)


def pack(items: Iterable[T], size: Callable[[T], int], budget: int, most: int = sys.maxsize) -> Iterator[list[T]]:
    """Yield the items in packs, in their order, as they come.

    Args:
        size: Returns an item's tokens, or other units of the budget.
        budget: Tokens of a pack; an item that is longer goes alone.
        most: Number of items in a pack.

    >>> list(pack(["aa", "bbb", "cccccccc", "d"], len, 6))
    [['aa', 'bbb'], ['cccccccc'], ['d']]
    """
    packed: list[T] = []
    used = 0
    for item in items:
        if packed and (len(packed) >= most or used + size(item) > budget):
            yield packed
            packed, used = [], 0
        packed.append(item)
        used += size(item)
    if packed:
        yield packed
