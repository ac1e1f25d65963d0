"""The pool: every item comes back once, whatever happens to its process."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from dripper.errors import ErrorCode, MachineError, PageError
from dripper.guard import GuardLimits
from dripper.local.pool import AHEAD, map_guarded, map_in_order

LIMITS = GuardLimits(cpu_seconds=1, wall_seconds=60, memory_bytes=512 << 20)


def work(item: int | str) -> tuple[int, int | str]:
    """Misbehaves in the way that `item` names."""
    if item == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == "sleep":
        time.sleep(60)
    if item == "hang":
        while True:
            pass
    if item == "gone":
        raise MachineError("the server is gone")
    return os.getpid(), item


def test_every_item_comes_back_once_from_as_many_processes_as_were_asked_for() -> None:
    done = list(map_guarded(work, range(100), LIMITS, 3))
    assert sorted(item for item, _ in done) == list(range(100))
    assert all(isinstance(result, tuple) and result[1] == item for item, result in done)
    processes = {result[0] for _, result in done if isinstance(result, tuple)}
    assert len(processes) == 3
    assert os.getpid() not in processes


def test_bad_items_cost_an_error_each_and_the_others_nothing() -> None:
    done = dict(map_guarded(work, [1, "crash", 2, "sleep", 3, "hang", 4], GuardLimits(1, 0.5, 512 << 20), 2))
    codes = {item: result.code for item, result in done.items() if isinstance(result, PageError)}
    assert codes.keys() == {"crash", "sleep", "hang"}
    assert (codes["crash"], codes["sleep"]) == (ErrorCode.CRASHED, ErrorCode.TIME_LIMIT)
    assert [done[number][1] for number in (1, 2, 3, 4)] == [1, 2, 3, 4]  # type: ignore[index]


def test_no_items_start_no_process() -> None:
    assert list(map_guarded(work, [], LIMITS, 2)) == []


def test_items_are_taken_as_they_are_needed() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(20):
            taken.append(number)
            yield number

    with closing(map_guarded(work, items(), LIMITS, 2)) as results:
        next(results)
        assert len(taken) <= 4


def slow_first(item: int) -> int:
    time.sleep(0.0 if item else 0.5)
    return item


def test_no_more_is_kept_than_so_many_items_behind_a_slow_one() -> None:
    taken = []
    results = map_in_order(slow_first, (taken.append(number) or number for number in range(1000)), LIMITS, 2)  # type: ignore[func-returns-value]
    assert next(results)[0] == 0
    assert len(taken) <= 2 * (AHEAD + 1) + 1
    assert [item for item, _ in results] == list(range(1, 1000))


def test_what_a_person_has_to_change_ends_the_run() -> None:
    with pytest.raises(MachineError, match="the server is gone"):
        list(map_guarded(work, [1, "gone", 2], LIMITS, 2))
