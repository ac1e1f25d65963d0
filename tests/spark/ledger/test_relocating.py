"""Archives that have moved, in every order: each is known under its first name, and none is read
twice. On tables in memory; test_relocated.py tests Delta."""

from dripper.errors import InputError
from dripper.spark.ledger.relocated import Move, read_paths
from support.drivers import Archive, World
from support.memory_books import MemoryBooks
from support.plays import last_run, problems

MOVED = Move("s3://old", "s3://new")


def moved() -> World:
    """Three files that were read, and have moved since."""
    here = World({"s3://old/a": Archive(2), "s3://old/b": Archive(1), "s3://old/c": Archive(3)})
    here.driver().finish()
    here.moves.append(MOVED)
    return here


def n_steps() -> int:
    here, steps = moved(), 1
    alone = here.driver(move=MOVED)
    while alone.turn():
        steps += 1
    assert alone.outcome is None
    last_run(here)
    return steps


def test_a_run_that_knows_of_no_move_does_nothing() -> None:
    here = moved()
    before, driver = here.rows(), here.driver()
    driver.finish()
    assert isinstance(driver.outcome, InputError)
    assert here.rows() == before


def test_a_kill_at_every_step() -> None:
    for step in range(n_steps()):
        here = moved()
        killed = here.driver(move=MOVED)
        for _ in range(step):
            killed.turn()
        killed.kill()
        is_noted = bool(here.storage.table("relocated").rows())
        run = here.driver()
        run.finish()
        assert isinstance(run.outcome, InputError) == (not is_noted), step
        here.driver(move=MOVED).finish()
        last_run(here)


def test_one_that_stands_still_at_every_step_and_comes_back() -> None:
    """After another has recorded the move, and a run that reads a file again has finished, the move
    is recorded once."""
    for step in range(1, n_steps()):
        here = moved()
        still = here.driver(move=MOVED)
        for _ in range(step):
            still.turn()
        others = [here.driver(move=MOVED), here.driver(redo=["s3://old/c"])]
        for other in others:
            other.finish()
        still.finish()
        assert not problems([still, *others]), (step, problems([still, *others]))
        assert len(here.storage.table("relocated").rows()) == 1, step
        last_run(here)


def test_a_batch_that_goes_on_reads_its_files_where_they_are_not_what_is_there_now() -> None:
    """A run that is given one file of a batch reads the other as well, which has been moved in the
    meantime and replaced by another one."""
    here = World({"s3://old/a": Archive(2), "s3://stays/b": Archive(1, size=6)})
    killed = here.driver()
    killed.go_until("begin append extractions")
    killed.kill()
    here.driver(move=MOVED).finish()
    here.moves.append(MOVED)
    here.archives["s3://old/a#2"] = Archive(4, size=9)
    here.driver(names=["s3://stays/b"]).finish()
    assert {row["state"] for row in here.ledger().values()} == {"done"}
    books = MemoryBooks(here.storage, lambda _: None, lambda _: None)
    assert read_paths(books, {"s3://old/a", "s3://stays/b"}) == {"s3://old/a": "s3://new/a"}
    last_run(here)
