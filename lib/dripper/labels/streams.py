"""Streams pages to an engine: makes requests ahead in a thread, so that pages are tokenized while
the engine works, and groups them by a number of tokens."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Queue
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T], most: int) -> Iterator[T]:
    """Yield the items in order; a thread makes up to `most` of them before they are asked for.

    If making an item raises an error, that error is raised in the item's place. The thread ends
    with the items, or when the iterator is closed.

    >>> list(ahead(range(4), 2))
    [0, 1, 2, 3]
    """
    queue = Queue[tuple[list[T], BaseException | None]](most)
    stopped = threading.Event()

    def make() -> None:
        problem: BaseException | None = None
        try:
            for item in items:
                queue.put(([item], None))
                if stopped.is_set():
                    return
        except BaseException as error:  # The consumer raises it again.
            problem = error
        queue.put(([], problem))

    maker = threading.Thread(target=make, name="ahead", daemon=True)
    maker.start()
    try:
        while (got := queue.get())[0]:
            yield got[0][0]
        if got[1] is not None:
            raise got[1]
    finally:
        stopped.set()
        # Empty the queue, so that a thread that waits for room sees the event and ends.
        while maker.is_alive():
            while not queue.empty():
                queue.get_nowait()
            maker.join(0.01)


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
