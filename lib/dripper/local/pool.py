"""Processes many items in parallel. One thread drives all child processes, each through a
`Guard`."""

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
    """Run `work` on each of `items`, in `jobs` guarded processes. Yield each item with its result
    or error, in order of completion.

    A finished process gets its next item before the caller gets the result.

    Args:
        may_take: Returns whether another item can be taken from `items` now. `may_take` is called
            again whenever an item is finished.

    Raises:
        UsageError: Raised by `work`.
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
                    # Hand out the next item before yielding, so that the process is busy while the
                    # caller works.
                    _hand_out(idle, waiting, at_work, may_take)
                    yield item, outcome


AHEAD = 8
"""The maximum number of results per process that `map_in_order` holds back until an earlier item is
finished."""


def map_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], limits: GuardLimits, jobs: int
) -> Iterator[tuple[Item, Result | PageError]]:
    """Run `work` like `map_guarded`, but yield the items in their original order.

    A result is held back until all earlier items are finished. While :data:`AHEAD` results per
    process are held back, no further item is taken from `items`.

    Raises:
        UsageError: Raised by `work`.
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
    """Give the next items to idle processes, and return whether any process is busy."""
    while idle and may_take() and (item := next(waiting, _NONE)) is not _NONE:
        guard = idle.pop()
        guard.start(item)
        at_work[guard] = item
    return bool(at_work)


def _wait_for_ready(at_work: Iterable[Guard[Item, Result]]) -> list[Guard[Item, Result]]:
    """Wait until a child has answered, ended or run out of time, and return the guards of all such
    children."""
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
