"""Drivers that meet in every order: no row is lost, none is there twice, whichever is killed,
pauses or comes back. No Spark: the tables are in memory (support.memory_books), and behave as those
of Delta (tests/spark/tables/test_books.py).

Orders that once failed are kept below, step by step.
"""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from dripper.errors import BusyError
from dripper.spark.ledger.relocated import Move, find_first_name, names_by_place
from support.drivers import Archive, Driver, Killed, World
from support.plays import last_run, play, problems


def world(**more: Archive) -> World:
    """Three files in two batches, and more."""
    return World({"a": Archive(2), "b": Archive(1), "c": Archive(3), **more})


def steps_of(here: World) -> int:
    """Return how often a single driver pauses."""
    alone, steps = here.driver(), 1
    while alone.turn():
        steps += 1
    return steps


def after(here: World, steps: int, move: Move | None = None) -> Driver:
    """Return a driver after a number of steps, if it has as many."""
    driver = here.driver(move=move)
    for _ in range(steps):
        here.seconds = max(here.seconds, driver.wakes)
        if driver.is_over:
            break
        driver.turn()
    return driver


def changed(here: World) -> World:
    """Run once, then let a file be another one, and one more be there."""
    last_run(here)
    here.archives["b"] = Archive(4, version=2)
    here.archives["d"] = Archive(1)
    return here


def with_bad_files() -> World:
    return world(p=Archive(1, is_poison=True), g=Archive(2, is_gone=True))


WORLDS: dict[str, Callable[[], World]] = {
    "fresh": world,
    "changed": lambda: changed(world()),
    "bad files": with_bad_files,
}


SOME_SLOW = [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 7))]
"""The parts of a test of many orders; the first is enough for `make test`."""


@pytest.mark.parametrize("chunk", SOME_SLOW)
@pytest.mark.parametrize("kind", WORLDS)
def test_whatever_the_order(kind: str, chunk: int) -> None:
    for seed in range(60 * chunk, 60 * chunk + 60):
        here = WORLDS[kind]()
        drivers = play(seed, here, n_drivers=3, kills=0.02, zombies=0.03, faults=0.01)
        assert not problems(drivers), (seed, problems(drivers))
        last_run(here)


@pytest.mark.parametrize("kind", WORLDS)
def test_a_kill_at_every_step(kind: str) -> None:
    for step in range(steps_of(WORLDS[kind]())):
        here = WORLDS[kind]()
        after(here, step).kill()
        last_run(here)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORLDS)
def test_a_second_kill_at_every_fifth_step(kind: str) -> None:
    """Of the run that takes over from one that was killed."""
    for step in range(1, steps_of(WORLDS[kind]()), 5):
        for second in _steps_until_over(kind, step):
            here = WORLDS[kind]()
            after(here, step).kill()
            driver = here.driver()
            for _ in range(second):
                here.seconds = max(here.seconds, driver.wakes)
                driver.turn()
            driver.kill()
            last_run(here)


def _steps_until_over(kind: str, step: int) -> Iterator[int]:
    here = WORLDS[kind]()
    after(here, step).kill()
    driver, steps = here.driver(), 0
    while not driver.is_over:
        here.seconds = max(here.seconds, driver.wakes)
        driver.turn()
        steps += 1
    yield from range(step % 3, steps, 3)


@pytest.mark.parametrize("kind", WORLDS)
def test_one_that_stands_still_at_every_step_and_comes_back(kind: str) -> None:
    """After another one, possibly with other files, has taken over and finished."""
    for step in range(1, steps_of(WORLDS[kind]())):
        for names in (None, "c"):
            here = WORLDS[kind]()
            still, other = after(here, step), here.driver(names=names)
            other.finish()
            still.finish()
            assert not problems([still, other]), (step, problems([still, other]))
            last_run(here)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("rest", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 21))])
def test_one_that_stands_still_and_comes_back_in_the_middle_of_anothers_work(kind: str, rest: int) -> None:
    """Before or in each of its commits, at each 21st step of the other, which has other files: all
    of them together at every step."""
    for step in range(1, steps_of(WORLDS[kind]())):
        for steps_of_other in range(rest, 400, 21):
            here = WORLDS[kind]()
            still, other = after(here, step), here.driver(names="c")
            if not still.at.startswith(("begin", "commit")):
                break
            while other.at in ("", "sleep") or steps_of_other > 0:
                here.seconds = max(here.seconds, other.wakes)
                steps_of_other -= other.at != "sleep"
                if not other.turn():
                    break
            still.finish()
            other.finish()
            assert not problems([still, other]), (step, problems([still, other]))
            last_run(here)
            if steps_of_other > 0:
                break


def test_one_that_was_away_while_it_compared_tables_accuses_nobody() -> None:
    """It had read the rows before, and the ledger after, another one wrote both: it asked people to
    restore a table."""
    here = world()
    away = here.driver()
    away.go_until("read extractions")
    away.turn()
    here.driver().finish()
    away.finish()
    assert isinstance(away.outcome, BusyError)
    last_run(here)


def test_a_driver_that_is_killed_cleans_nothing_up() -> None:
    """Otherwise kills in these tests would have no effect."""
    here = world()
    driver = here.driver()
    driver.go_until("after append warc_files")
    driver.kill()
    assert isinstance(driver.outcome, Killed)
    assert {row["state"] for row in here.storage.table("runs").rows()} == {"running"}
    assert {row["state"] for row in here.ledger().values()} == {"planned"}


def moved_and_used_again(here: World, chance: Random, night: int) -> None:
    """Move a folder away or swap two, record it, however often that is killed, and put other
    archives into the old location; one run may have paused in the middle of its work since
    before."""
    still = after(here, chance.randrange(60)) if chance.random() < 0.3 else None
    swap = [Move("latest", "tmp"), Move("other", "latest"), Move("tmp", "other")]
    for move in chance.choice([[Move("latest", f"night-{night}")], swap]):
        while move not in here.moves[-1:]:
            noting = after(here, chance.choice([5, 1000]), move)
            noting.kill()
            if noting.outcome is None or len(here.storage.table("relocated").rows()) > len(here.moves):
                here.moves.append(move)
    known = names_by_place(here.archives, here.moves)
    for name in "abc":
        size = 100 * night + ord(name)  # Otherwise it looks as if nothing had moved.
        here.archives.setdefault(find_first_name(f"latest/{name}", here.moves, known), Archive(night, size=size))
    if still:
        still.finish()
        assert not problems([still])


@pytest.mark.parametrize("chunk", SOME_SLOW)
def test_places_that_are_used_again_whatever_the_order(chunk: int) -> None:
    """A file that came to the place of another took that one's name, and its rows."""
    n_names = set()
    for seed in range(20 * chunk, 20 * chunk + 20):
        chance = Random(seed)
        folders = {"latest/a": Archive(2), "latest/b": Archive(1, size=6), "other/a": Archive(3, size=7)}
        here = World(folders)
        for night in range(1, 4):
            play(seed, here, n_drivers=2, kills=0.02, zombies=0.03, faults=0.01)
            last_run(here)
            moved_and_used_again(here, chance, night)
        drivers = play(seed, here, n_drivers=3, kills=0.02, zombies=0.03, faults=0.01)
        assert not problems(drivers), (seed, problems(drivers))
        last_run(here)
        n_names.add(len(here.ledger()))
    assert max(n_names) > 9
