"""Several guarded page processes at work at once, driven by one thread: a fork with threads about
may never return."""

import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Generic, TypeVar

from dripper.errors import PageError
from dripper.guard import Again, Guard, GuardLimits

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pool(Generic[Item, Result]):
    """Calls `work` on items in `jobs` processes, each with the limits of a `Guard`. Use as a
    context manager."""

    def __init__(self, work: Callable[[Item], Result], limits: GuardLimits, jobs: int) -> None:
        self._guards = [Guard(work, limits) for _ in range(jobs)]

    def __enter__(self) -> "Pool[Item, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        for guard in self._guards:
            guard.close()

    def map(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PageError]]:
        """Yield every item once with its result, or with the error that it cost, in the order in
        which they are done.

        Takes one item more from `items` than there are processes. Raises the UsageError that `work`
        raised.
        """
        waiting = iter(items)
        at_work: dict[Guard[Item, Result], Item] = {}
        for guard in self._guards:
            _give_next(guard, waiting, at_work)
        while at_work:
            for guard in _ready(at_work):
                outcome = _outcome(guard)
                if outcome is not Again.AGAIN:
                    item = at_work.pop(guard)
                    _give_next(guard, waiting, at_work)
                    yield item, outcome


def _give_next(guard: Guard[Item, Result], waiting: Iterator[Item], at_work: dict[Guard[Item, Result], Item]) -> None:
    for item in waiting:
        guard.start(item)
        at_work[guard] = item
        return


def _ready(at_work: Iterable[Guard[Item, Result]]) -> list[Guard[Item, Result]]:
    """Wait; return the guards whose children have answered, are gone, or have had their time."""
    awaited = {guard: guard.ready_at() for guard in at_work}
    first = min(deadline for _, deadline in awaited.values())
    answered = set(wait([pipe for pipe, _ in awaited.values()], max(0.0, first - time.monotonic())))
    now = time.monotonic()
    return [guard for guard, (pipe, deadline) in awaited.items() if pipe in answered or deadline <= now]


def _outcome(guard: Guard[Item, Result]) -> Result | PageError | Again:
    try:
        return guard.result()
    except PageError as error:
        return error
