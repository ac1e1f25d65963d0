"""Pages that are forgotten, in every order: no row of them stays or comes back, no other is lost,
and the counts close. On tables in memory; tests/spark/tables/test_forget.py has those of Delta."""

import pytest

from support.drivers import Archive, Driver, World
from support.plays import last_run, play, problems

GONE = ("a 1 0", "c 1 2", "b 1 0")
"""Of three files a page, of one of them its only page."""


def read() -> World:
    """Three files that were read."""
    here = World({"a": Archive(2), "b": Archive(1), "c": Archive(3)})
    here.driver().finish()
    return here


def forgetting(here: World, steps: int) -> Driver:
    """Return a driver that has gone so many steps."""
    driver = here.driver(forget=GONE)
    for _ in range(steps):
        driver.turn()
    return driver


def n_steps() -> int:
    here, steps = read(), 1
    alone = here.driver(forget=GONE)
    while alone.turn():
        steps += 1
    assert alone.outcome is None
    assert sorted(row["page_id"] for row in here.rows()) == ["a 1 1", "c 1 0", "c 1 1"]
    last_run(here)
    return steps


def test_a_kill_at_every_step() -> None:
    for step in range(n_steps()):
        here = read()
        forgetting(here, step).kill()
        last_run(here)


def test_a_kill_at_every_step_of_the_run_that_goes_on_with_it() -> None:
    for step in range(1, n_steps()):
        here = read()
        forgetting(here, step).kill()
        if not any(row["state"] == "begun" for row in here.storage.table("forgotten").rows()):
            continue
        driver = here.driver(redo=["c"])
        for _ in range(step):
            here.seconds = max(here.seconds, driver.wakes)
            if not driver.turn():
                break
        driver.kill()
        last_run(here)


def test_one_that_stands_still_at_every_step_and_comes_back() -> None:
    """When a run that reads a file again has taken over and is through."""
    for step in range(1, n_steps()):
        here = read()
        still, other = forgetting(here, step), here.driver(redo=["a", "c"])
        other.finish()
        still.finish()
        assert not problems([still, other]), (step, problems([still, other]))
        last_run(here)


@pytest.mark.parametrize("chunk", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 7))])
def test_whatever_the_order(chunk: int) -> None:
    n_forgotten = 0
    for seed in range(60 * chunk, 60 * chunk + 60):
        here = World({"a": Archive(2), "b": Archive(1), "c": Archive(3)})
        drivers = play(seed, here, n_drivers=4, kills=0.02, zombies=0.03, faults=0.01, forget=GONE)
        assert not problems(drivers), (seed, problems(drivers))
        last_run(here)
        n_forgotten += len(here.storage.table("forgotten").rows())
    assert n_forgotten > 20
