"""Runs work on many items in guarded processes that one thread drives."""

import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Generic, TypeVar

from dripper.errors import PageError
from dripper.guard import Again, Guard, GuardLimits

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pool(Generic[Item, Result]):
    """Calls `work` on items in `jobs` processes, each with the limits of a `Guard`. A context
    manager."""

    def __init__(self, work: Callable[[Item], Result], limits: GuardLimits, jobs: int) -> None:
        self._guards = [Guard(work, limits) for _ in range(jobs)]

    def __enter__(self) -> "Pool[Item, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        for guard in self._guards:
            guard.close()

    def map(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PageError]]:
        """Yield every item once with its result or its error, in the order in which they finish.

        Takes one item more from `items` than there are processes.

        Raises:
            UsageError: `work` raised it.
        """
        waiting = iter(items)
        at_work: dict[Guard[Item, Result], Item] = {}
        for guard in self._guards:
            _give_next(guard, waiting, at_work)
        while at_work:
            for guard in _wait_for_ready(at_work):
                outcome = _take_outcome(guard)
                if outcome is not Again.AGAIN:
                    item = at_work.pop(guard)
                    _give_next(guard, waiting, at_work)
                    yield item, outcome


def map_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], limits: GuardLimits, jobs: int
) -> Iterator[tuple[Item, Result | PageError]]:
    """Yield each item with its result or its error, in the order of the items, from `jobs`
    processes.

    What is done before an item ahead of it waits for that one.

    Raises:
        UsageError: `work` raised it.
    """
    early: dict[int, tuple[Item, Result | PageError]] = {}
    following = 0
    with Pool[tuple[int, Item], Result](lambda numbered: work(numbered[1]), limits, jobs) as pool:
        for (number, item), outcome in pool.map(enumerate(items)):
            early[number] = item, outcome
            while following in early:
                yield early.pop(following)
                following += 1


def _give_next(guard: Guard[Item, Result], waiting: Iterator[Item], at_work: dict[Guard[Item, Result], Item]) -> None:
    for item in waiting:
        guard.start(item)
        at_work[guard] = item
        return


def _wait_for_ready(at_work: Iterable[Guard[Item, Result]]) -> list[Guard[Item, Result]]:
    """Wait, then return the guards whose children have answered, ended or run out of time."""
    awaited = {guard: guard.ready_at() for guard in at_work}
    first = min(deadline for _, deadline in awaited.values())
    answered = set(wait([pipe for pipe, _ in awaited.values()], max(0.0, first - time.monotonic())))
    now = time.monotonic()
    return [guard for guard, (pipe, deadline) in awaited.items() if pipe in answered or deadline <= now]


def _take_outcome(guard: Guard[Item, Result]) -> Result | PageError | Again:
    try:
        return guard.result()
    except PageError as error:
        return error
