"""Runs work on many items in guarded processes that one thread drives."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from multiprocessing.connection import wait
from typing import Any, TypeVar

from dripper.errors import PageError
from dripper.guard import Again, Guard, GuardLimits

Item = TypeVar("Item")
Result = TypeVar("Result")
_NONE: Any = object()


def map_guarded(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    limits: GuardLimits,
    jobs: int,
    may_take: Callable[[], bool] = lambda: True,
) -> Generator[tuple[Item, Result | PageError], None, None]:
    """Yield every item once with its result or its error, in the order in which they finish, from
    `jobs` processes, each with the limits of a `Guard`.

    Takes one item more from `items` than there are processes.

    Args:
        may_take: Whether another item may be taken now; asked again when one is finished.

    Raises:
        UsageError: `work` raised it.
    """
    waiting = iter(items)
    at_work: dict[Guard[Item, Result], Item] = {}
    with ExitStack() as stack:
        idle = [stack.enter_context(Guard(work, limits)) for _ in range(jobs)]
        while _hand_out(idle, waiting, at_work, may_take):
            for guard in _wait_for_ready(at_work):
                outcome = _take_outcome(guard)
                if outcome is not Again.AGAIN:
                    item = at_work.pop(guard)
                    idle.append(guard)
                    # Before the caller goes on: meanwhile the process is busy.
                    _hand_out(idle, waiting, at_work, may_take)
                    yield item, outcome


AHEAD = 8
"""Items for each process that may be done, and kept in memory, before one ahead of them is."""


def map_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], limits: GuardLimits, jobs: int
) -> Iterator[tuple[Item, Result | PageError]]:
    """Yield each item with its result or its error, in the order of the items, from `jobs`
    processes.

    A result waits for the results of earlier items. Until an item's result is there, no more than
    :data:`AHEAD` items for each process are taken.

    Raises:
        UsageError: `work` raised it.
    """
    early: dict[int, tuple[Item, Result | PageError]] = {}
    following = 0
    numbered = map_guarded(
        lambda numbered: work(numbered[1]), enumerate(items), limits, jobs, lambda: len(early) < AHEAD * jobs
    )
    with closing(numbered):
        for (number, item), outcome in numbered:
            early[number] = item, outcome
            while following in early:
                yield early.pop(following)
                following += 1


def _hand_out(
    idle: list[Guard[Item, Result]],
    waiting: Iterator[Item],
    at_work: dict[Guard[Item, Result], Item],
    may_take: Callable[[], bool],
) -> bool:
    """Give idle processes the next items; return whether any is at work."""
    while idle and may_take() and (item := next(waiting, _NONE)) is not _NONE:
        guard = idle.pop()
        guard.start(item)
        at_work[guard] = item
    return bool(at_work)


def _wait_for_ready(at_work: Iterable[Guard[Item, Result]]) -> list[Guard[Item, Result]]:
    """Wait, then return the guards with children that have answered, ended or run out of time."""
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
