"""Drivers that take turns at random, and the checks after the last of them."""

from collections.abc import Sequence
from random import Random

from pyspark.errors import PySparkException

from dripper.errors import BusyError, InputError
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.reconcile import compare
from support.drivers import Driver, Killed, World
from support.memory_books import MemoryBooks


def play(
    seed: int,
    world: World,
    n_drivers: int,
    kills: float,
    zombies: float,
    faults: float,
    forget: Sequence[str] = (),
) -> list[Driver]:
    """Let drivers take turns at random, with kills, long silences and a storage that fails, until
    all are over, including silent ones; return them.

    kills, zombies, faults: the probability of each at a turn. forget: ids of pages; some of the
    drivers forget one of them.
    """
    chance = Random(seed)
    drivers = []
    for _ in range(n_drivers):
        names = chance.sample(sorted(world.archives), chance.randint(1, len(world.archives)))
        redo = chance.sample(names, chance.choice([0, 0, 1]))
        skew, limit = chance.choice([0, 0, -7200, 7200, 0.5]), chance.choice([None, 1])
        rules = [chance.choice(forget)] if forget and chance.random() < 0.5 else []
        drivers.append(world.driver(skew, names, redo, limit, rules))
    silent: dict[Driver, float] = {}
    while running := [driver for driver in drivers if not driver.is_over]:
        awake = [d for d in running if max(d.wakes, silent.get(d, 0.0)) <= world.seconds]
        if not awake:
            world.seconds = min(max(d.wakes, silent.get(d, 0.0)) for d in running)
            continue
        driver = chance.choice(awake)
        fate = chance.random()
        if fate < kills:
            driver.kill()
        elif fate < kills + zombies:
            silent[driver] = world.seconds + chance.choice([20, 100, 400, 2000])
        elif fate < kills + zombies + faults and driver.has_begun:
            driver.turn(PySparkException("the storage does not answer"))
        else:
            for _ in range(chance.choice([1, 1, 2, 5, 20, 60])):
                if not driver.turn() or driver.wakes > world.seconds:
                    break
    return drivers


def last_run(world: World) -> None:
    """Let one driver work alone, and another one after it, which must change nothing; check that
    everything is complete."""
    for _ in range(2):
        last = world.driver()
        last.finish()
        assert last.outcome is None, repr(last.outcome)
        world.assert_whole()
    books = MemoryBooks(world.storage, lambda _: None, lambda _: None)
    others, _ = compare(books, Ledger(books, ""), lambda: None, every=True)
    assert not others, "the keys of pages are as the ledger has them"


def problems(drivers: Sequence[Driver]) -> list[BaseException]:
    """Return the exceptions that ended drivers, other than kills, busy outputs and storage
    failures."""
    expected = (Killed, BusyError, InputError, PySparkException)
    return [d.outcome for d in drivers if d.outcome is not None and not isinstance(d.outcome, expected)]
