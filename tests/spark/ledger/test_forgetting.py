"""Pages that are forgotten, in every order: no row of them stays or comes back, no other is lost,
and the counts close. On tables in memory; tests/spark/tables/test_forget.py tests Delta."""

import re
from typing import Any

import pytest

from dripper.errors import DifferenceError
from support.drivers import Archive, Driver, World
from support.memory_pages import MemoryPages
from support.plays import last_run, play, problems

GONE = ("a 1 0", "c 1 2", "b 1 0")
"""Of three files a page, of one of them its only page."""


def read() -> World:
    """Three files that were read."""
    here = World({"a": Archive(2), "b": Archive(1), "c": Archive(3)})
    here.driver().finish()
    return here


def forgetting(here: World, steps: int) -> Driver:
    """Return a driver after a number of steps."""
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


def forgot() -> tuple[World, dict[str, dict[str, Any]]]:
    """Three files that were read, and forgotten pages of them; and the tables before."""
    here = read()
    before = {name: dict(here.storage.table(name).files) for name in ("extractions", "warc_files")}
    here.driver(forget=GONE).finish()
    last_run(here)
    return here, before


def restore(here: World, table: str, files: dict[str, Any]) -> None:
    here.storage.table(table).files = dict(files)


def test_rows_that_somebody_brought_back_go_with_the_next_start(caplog: pytest.LogCaptureFixture) -> None:
    here, before = forgot()
    restore(here, "extractions", before["extractions"])
    n_noted = len(here.storage.table("forgotten").rows())
    last_run(here)
    assert "3 pages are there again, though forgotten, and deleted" in caplog.text
    assert len(here.storage.table("forgotten").rows()) == n_noted


def test_so_they_do_where_the_ledger_was_restored_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it counts them, and only the history shows that there is something to look for."""
    here, before = forgot()
    for table, files in before.items():
        restore(here, table, files)
    monkeypatch.setattr(MemoryPages, "are_restored", lambda _: True)
    for step in range(40):
        after = here.driver()
        for _ in range(step):
            here.seconds = max(here.seconds, after.wakes)
            if not after.turn():
                break
        after.kill()
    last_run(here)


def test_a_loss_beside_rows_that_came_back_is_none_of_the_forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rows as counted: three from before, minus one."""
    monkeypatch.setattr(MemoryPages, "are_restored", lambda _: True)
    here, before = forgot()
    lost = {n: tuple(row for row in file if row["page_id"] != "c 1 0") for n, file in before["extractions"].items()}
    restore(here, "extractions", lost)
    driver = here.driver()
    driver.finish()
    assert "Difference(batch=2, rows=1, counted=2)" in str(driver.outcome)
    assert "c 1 2" not in {row["page_id"] for row in here.rows()}


def test_rules_that_are_gone_end_everything_but_a_call_that_gives_them_again() -> None:
    here, _ = forgot()
    for left in ({}, {9: tuple(here.storage.table("forgotten").rows()[:1])}):
        restore(here, "forgotten", left)
        for driver in (here.driver(redo=["a"]), here.driver(forget=["a 1 1"])):
            driver.finish()
            assert isinstance(driver.outcome, DifferenceError)
            assert re.search(r"it has [012] of 3 rules, by which 3 pages", str(driver.outcome))
    here.storage.tables["runs"].files = {}
    restore(here, "forgotten", {})
    driver = here.driver(redo=["a"])
    driver.finish()
    assert "it has no rule, by which 3 pages of the ledger are forgotten" in str(driver.outcome)
    here.driver(forget=GONE).finish()
    here.driver(redo=["a", "c"]).finish()
    last_run(here)


def test_a_rule_that_is_withdrawn_is_in_force_no_more_and_not_missed() -> None:
    here, _ = forgot()
    table = here.storage.table("forgotten")
    table.files = {
        n: tuple(row | {"state": "withdrawn"} if row["pattern"] == "a 1 0" else row for row in file)
        for n, file in table.files.items()
    }
    here.driver(redo=["a"]).finish()
    assert sorted(row["page_id"] for row in here.rows()) == ["a 1 0", "a 1 1", "c 1 0", "c 1 1"]
