"""Two drivers on one output: at any moment, one works and the other ends with a message. On
tables in memory; test_lease_on_delta.py tests Delta."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dripper.errors import BusyError
from dripper.spark.ledger import lease
from dripper.spark.ledger.lease import Lease, is_alive, this_process
from support.memory_books import MemoryBooks, Storage

ELSEWHERE = "other-machine 0123/pid:[1] 77 88"


@pytest.fixture
def storage() -> Storage:
    return Storage()


def books_of(storage: Storage) -> MemoryBooks:
    """One driver's view of the storage."""
    return MemoryBooks(storage, lambda _: None, lambda _: None)


def states(storage: Storage) -> list[tuple[int, str]]:
    return sorted((row["epoch"], row["state"]) for row in storage.table("runs").rows())


def other(storage: Storage, holder: str, **columns: Any) -> Lease:
    """A run of another driver, without automatic heartbeats."""
    made = Lease(books_of(storage), holder=holder, beat_seconds=3600)
    made.take(**columns)
    return made


def test_a_driver_at_work_is_not_disturbed(storage: Storage) -> None:
    held = Lease(books_of(storage))
    held.take()
    with pytest.raises(BusyError, match=f"another run is at work on this output: run {held.run_id} \\(process"):
        Lease(books_of(storage)).take()
    held.end("ended")
    assert states(storage) == [(1, "ended")]


def test_a_killed_driver_of_this_machine_is_known_at_once(storage: Storage) -> None:
    machine, boot, process, _ = this_process().split(" ")
    other(storage, f"{machine} {boot} {process} 1")  # the number is in use again, by a process that began later
    held = Lease(books_of(storage), sleep=lambda _: pytest.fail("there is nothing to wait for"))
    held.take()
    assert states(storage) == [(1, "lost"), (2, "running")]
    held.end("ended")


def test_no_heartbeat_is_written_beside_the_note_of_lost_runs(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two commits would conflict, which Delta reports with a long trace."""
    machine, boot, process, _ = this_process().split(" ")
    other(storage, f"{machine} {boot} {process} 1")
    books, waits = books_of(storage), []
    amend = books.amend
    held = Lease(books)
    monkeypatch.setattr(books, "amend", lambda *of: waits.append(held._lock.locked()) or amend(*of))
    held.take()
    held.end("ended")
    assert waits == [True]


class Clock:
    """A clock that continues while a driver sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("hours", [-5, 0, 5])
def test_a_driver_elsewhere_that_is_not_heard_of_for_long_is_lost_whatever_its_clock_says(
    storage: Storage, hours: int
) -> None:
    gone = other(storage, ELSEWHERE)
    gone._row["heard_at"] = datetime.now(UTC) + timedelta(hours=hours)
    gone._write()
    clock = Clock()
    held = Lease(books_of(storage), patience_seconds=10, clock=clock, sleep=clock.sleep)
    held.take()
    assert 10 <= clock.now < 15
    assert states(storage) == [(1, "lost"), (2, "running")]
    with pytest.raises(BusyError, match="another run has taken this output over"):
        gone._beat()
    gone._heard = -1e9
    with pytest.raises(BusyError):
        gone.check()
    held.end("ended")
    gone.end("ended")
    assert states(storage) == [(1, "lost"), (2, "ended")]


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_driver_elsewhere_that_says_something_is_alive_whatever_its_clock_says(storage: Storage, hours: int) -> None:
    alive, clock = other(storage, ELSEWHERE), Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        alive._row["heard_at"] += timedelta(hours=hours)
        alive._write()

    with pytest.raises(BusyError, match="at work on this output"):
        Lease(books_of(storage), clock=clock, sleep=sleep).take()
    alive.check()
    alive.end("ended")


def test_a_pause_before_the_first_look_is_no_silence_of_the_other_driver(storage: Storage) -> None:
    alive, clock = other(storage, ELSEWHERE), Clock()
    suspended = MemoryBooks(storage, lambda _: clock.sleep(0 if clock.now else 3600), lambda _: None)

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now > 3630:
            alive._beat()

    with pytest.raises(BusyError, match="at work on this output"):
        Lease(suspended, clock=clock, sleep=sleep).take()
    alive.end("ended")


def test_a_driver_that_comes_while_another_one_is_waited_for_is_waited_for_as_long(storage: Storage) -> None:
    other(storage, ELSEWHERE)
    clock, late = Clock(), []

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now == 10:
            late.append(Lease(books_of(storage), holder=ELSEWHERE, beat_seconds=3600, patience_seconds=0))
            late[0].take()

    held = Lease(books_of(storage), patience_seconds=20, clock=clock, sleep=sleep)
    held.take()
    assert clock.now >= 30
    assert states(storage) == [(1, "lost"), (2, "lost"), (3, "running")]
    held.end("ended")


def test_a_run_that_could_not_note_its_end_is_over_for_the_next_one_of_its_process(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first = Lease(books_of(storage))
    first.take()
    with monkeypatch.context() as patch:
        patch.setattr(first._books, "replace", lambda *_: 1 / 0)
        first.end("ended", exit_code=0)
    assert "could not note how it ended, so the next one calls it lost: ZeroDivisionError" in caplog.text
    second = Lease(books_of(storage), sleep=lambda _: pytest.fail("there is nothing to wait for"))
    second.take()
    assert states(storage) == [(1, "lost"), (2, "running")]
    second.end("ended", exit_code=0)


def test_a_driver_elsewhere_is_waited_for_until_it_says_something(storage: Storage) -> None:
    alive = other(storage, ELSEWHERE)
    with pytest.raises(BusyError, match="at work on this output"):
        Lease(books_of(storage), sleep=lambda _: alive._beat()).take()
    silent = Lease(books_of(storage), patience_seconds=0.5, sleep=lambda _: None)
    silent.take()
    assert states(storage) == [(1, "lost"), (2, "running")]
    silent.end("ended")


def test_who_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = this_process()
    machine, boot, process, started = mine.split(" ")
    assert is_alive(mine, mine)
    assert is_alive(f"{machine} {boot} {process} 1", mine) is False
    assert is_alive(f"{machine} {boot} 999999999 {started}", mine) is False
    assert is_alive(ELSEWHERE, mine) is None
    for by_hand in ("", f"{machine} {boot}"):
        assert is_alive(by_hand, mine) is None, "a row that somebody wrote by hand"
    monkeypatch.setattr(lease, "_boot", lambda: "-")
    assert is_alive(f"{machine} - 999999999 1", this_process()) is None


def test_a_driver_that_slept_hears_of_the_loss_of_its_lease_before_its_next_commit(storage: Storage) -> None:
    """The fence leaves its commits out in any case; the work for them would be for nothing."""
    seconds = Clock()
    slept = Lease(books_of(storage), holder=ELSEWHERE, beat_seconds=3600, awake=seconds)
    slept.take()
    slept.check()
    other = Lease(books_of(storage), patience_seconds=0, sleep=lambda _: None)
    other.take()
    slept.check()
    seconds.sleep(2 * 3600)
    slept.check()
    seconds.sleep(1)
    with pytest.raises(BusyError, match="another run has taken this output over"):
        slept.check()
    other.end("ended", exit_code=0)
    # A living driver says so if it was away for long.
    alive = Lease(books_of(storage), beat_seconds=3600, awake=seconds)
    alive.take()
    commits = len(storage.table("runs").commits)
    seconds.sleep(3 * 3600)
    alive.check()
    assert len(storage.table("runs").commits) == commits + 1
    alive.end("ended", exit_code=0)


def test_nobody_has_to_be_shut_out_after_a_run_that_wrote_nothing(storage: Storage) -> None:
    refused = Lease(books_of(storage), writers=2)
    refused.take()
    refused._beat()
    refused.end("ended", exit_code=3)
    commits = {name: len(table.commits) for name, table in storage.tables.items()}
    held = Lease(books_of(storage))
    held.take()
    assert {name: len(table.commits) for name, table in storage.tables.items()} == {
        **commits,
        "runs": commits["runs"] + 1,
    }
    held._books.append("extractions", [])
    held.end("ended", exit_code=3)
    failing = Lease(books_of(storage))
    failing._books.shut_out = raising  # type: ignore[method-assign]
    with pytest.raises(OSError, match="no route"):
        failing.take()
    assert len(storage.table("extractions").commits) == 1
    Lease(books_of(storage)).take()
    assert len(storage.table("extractions").commits) > 1


def raising(*_: object) -> None:
    raise OSError("no route")


def test_earlier_runs_are_shut_out_once(storage: Storage) -> None:
    """A refused command writes nothing, so the next one need not shut out the same runs again."""
    held = Lease(books_of(storage))
    held.take()
    held._books.append("extractions", [])
    held.end("ended", exit_code=3)
    commits = []
    for _ in range(2):
        refused = Lease(books_of(storage))
        refused.take()
        refused.end("interrupted", exit_code=3)
        commits.append(len(storage.table("extractions").commits))
    assert 1 < commits[0] == commits[1]
