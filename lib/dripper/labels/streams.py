"""Helpers for feeding pages to an engine. :func:`ahead` prepares requests in a thread, so that
pages are tokenized while the engine works. :func:`pack` groups requests up to a maximum number of
tokens."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()


def ahead(items: Iterable[T], most: int) -> Iterator[T]:
    """Yield items in order, while a thread computes up to `most` of them in advance.

    If the computation of an item fails, its error is raised when that item is due. The thread ends
    after the last item, or when the iterator is closed.

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
    """Group items into packs, in order. Items are read only as needed.

    Args:
        size: Returns the size of an item, in the unit of `budget`, such as tokens.
        budget: Maximum total size of a pack. A larger item gets its own pack.
        most: Maximum number of items in a pack.

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
