"""Two drivers on one output: whatever the moment, one works and the other ends with a sentence."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.config import Settings
from dripper.errors import BusyError
from dripper.spark.ledger import lease
from dripper.spark.ledger.lease import Lease, is_alive, is_dead, this_process
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import Plan
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from support.meanwhile import meanwhile, optimize
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark

ELSEWHERE = "other-machine 0123/pid:[1] 77 88"


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    made = Tables(spark, str(tmp_path / "out"))
    made.create("runs")
    return made


def states(tables: Tables) -> list[tuple[int, str]]:
    rows = tables.read("runs").orderBy("epoch").collect()
    return [(row["epoch"], row["state"]) for row in rows]


def other(spark: SparkSession, tables: Tables, holder: str, **columns: Any) -> Lease:
    """A run of another driver, which does not say that it is alive of itself."""
    made = Lease(spark, tables, holder=holder, beat_seconds=3600)
    made.take(**columns)
    return made


def test_a_run_is_numbered_and_told(spark: SparkSession, tables: Tables) -> None:
    for epoch in (1, 2):
        held = Lease(spark, tables)
        held.take(job="run", input="a.warc")
        assert states(tables)[-1] == (epoch, "running")
        held.check()
        held.end("ended", exit_code=0, skipped={"status": 3}, complaints=["no"])
    row = tables.read("runs").where("epoch = 2").collect()[0]
    assert (row["state"], row["exit_code"], row["skipped"], row["input"]) == ("ended", 0, {"status": 3}, "a.warc")
    assert row["started_at"] <= row["heard_at"] == row["ended_at"]


def test_a_driver_at_work_is_not_disturbed(spark: SparkSession, tables: Tables) -> None:
    held = Lease(spark, tables)
    held.take()
    with pytest.raises(BusyError, match=f"another run is at work on this output: run {held.run_id} \\(process"):
        Lease(spark, tables).take()
    held.end("ended")
    assert states(tables) == [(1, "ended")]


def test_a_killed_driver_of_this_machine_is_known_at_once(spark: SparkSession, tables: Tables) -> None:
    machine, boot, process, _ = this_process().split(" ")
    other(spark, tables, f"{machine} {boot} {process} 1")  # the number is in use again, by a process that began later
    held = Lease(spark, tables, sleep=lambda _: pytest.fail("there is nothing to wait for"))
    held.take()
    assert states(tables) == [(1, "lost"), (2, "running")]
    held.end("ended")


class Clock:
    """A clock that goes on while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("hours", [-5, 0, 5])
def test_a_driver_elsewhere_that_is_not_heard_of_for_long_is_lost_whatever_its_clock_says(
    spark: SparkSession, tables: Tables, hours: int
) -> None:
    gone = other(spark, tables, ELSEWHERE)
    gone._row["heard_at"] = datetime.now(UTC) + timedelta(hours=hours)
    gone._write()
    clock = Clock()
    held = Lease(spark, tables, patience_seconds=10, clock=clock, sleep=clock.sleep)
    held.take()
    assert 10 <= clock.now < 15
    assert states(tables) == [(1, "lost"), (2, "running")]
    with pytest.raises(BusyError, match="another run has taken this output over"):
        gone._beat()
    gone._heard = -1e9
    with pytest.raises(BusyError):
        gone.check()
    held.end("ended")
    gone.end("ended")
    assert states(tables) == [(1, "lost"), (2, "ended")]


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_driver_elsewhere_that_says_something_is_alive_whatever_its_clock_says(
    spark: SparkSession, tables: Tables, hours: int
) -> None:
    alive, clock = other(spark, tables, ELSEWHERE), Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        alive._row["heard_at"] += timedelta(hours=hours)
        alive._write()

    with pytest.raises(BusyError, match="at work on this output"):
        Lease(spark, tables, clock=clock, sleep=sleep).take()
    alive.check()
    alive.end("ended")


def test_a_driver_that_comes_while_another_one_is_waited_for_is_waited_for_as_long(
    spark: SparkSession, tables: Tables
) -> None:
    other(spark, tables, ELSEWHERE)
    clock, late = Clock(), []

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now == 10:
            late.append(Lease(spark, tables, holder=ELSEWHERE, beat_seconds=3600, patience_seconds=0))
            late[0].take()

    held = Lease(spark, tables, patience_seconds=20, clock=clock, sleep=sleep)
    held.take()
    assert clock.now >= 30
    assert states(tables) == [(1, "lost"), (2, "lost"), (3, "running")]
    held.end("ended")


def test_a_run_that_could_not_note_its_end_is_over_for_the_next_one_of_its_process(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first = Lease(spark, tables)
    first.take()
    with monkeypatch.context() as patch:
        patch.setattr(first, "_frame", lambda: 1 / 0)
        first.end("ended", exit_code=0)
    assert "could not note how it ended, so the next one calls it lost: ZeroDivisionError" in caplog.text
    second = Lease(spark, tables, sleep=lambda _: pytest.fail("there is nothing to wait for"))
    second.take()
    assert states(tables) == [(1, "lost"), (2, "running")]
    second.end("ended", exit_code=0)


def test_an_optimize_beside_a_run_costs_no_beat_and_no_end(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "dripper.spark.tables.fence")
    held = Lease(spark, tables)
    held.take()
    for write in (held._beat, lambda: held.end("ended", exit_code=0)):
        for epoch in (-1, -2):  # More than one file, so that there is something to join.
            row = spark.sql(f"SELECT 'x' AS run_id, {epoch}L AS epoch, 'ended' AS state")
            tables.append("runs", row, ("other", -epoch + len(states(tables))))
        with monkeypatch.context() as patch:
            patch.setattr(held, "_frame", meanwhile(held._frame, lambda: optimize(spark, tables, "runs")))
            write()
        assert "another commit was first" in caplog.text
        caplog.clear()
    assert (1, "ended") in states(tables)


def test_numbers_that_are_used_up_are_left_out(spark: SparkSession, tables: Tables) -> None:
    """Somebody deleted the rows: Delta still knows the numbers, and said that they were another's
    for ever."""
    for _ in range(2):
        held = Lease(spark, tables)
        held.take()
        held.end("ended", exit_code=0)
    spark.sql(f"DELETE FROM {tables.sql_name('runs')}")
    held = Lease(spark, tables)
    held.take()
    held.check()
    assert states(tables)[0][0] > 1_000_000
    held.end("ended", exit_code=0)


def test_a_driver_elsewhere_is_waited_for_until_it_says_something(spark: SparkSession, tables: Tables) -> None:
    alive = other(spark, tables, ELSEWHERE)
    with pytest.raises(BusyError, match="at work on this output"):
        Lease(spark, tables, sleep=lambda _: alive._beat()).take()
    silent = Lease(spark, tables, patience_seconds=0.5, sleep=lambda _: None)
    silent.take()
    assert states(tables) == [(1, "lost"), (2, "running")]
    silent.end("ended")


def test_who_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = this_process()
    machine, boot, process, started = mine.split(" ")
    assert is_alive(mine, mine)
    assert is_dead(f"{machine} {boot} {process} 1", mine)
    assert is_dead(f"{machine} {boot} 999999999 {started}", mine)
    assert not is_dead(ELSEWHERE, mine)
    assert not is_alive(ELSEWHERE, mine)
    monkeypatch.setattr(lease, "_boot", lambda: "-")
    assert not is_dead(f"{machine} - 999999999 1", this_process())


def test_drivers_that_begin_at_the_same_moment_get_one_number_each(spark: SparkSession, tables: Tables) -> None:
    """Both have looked, and seen nobody, before one of them writes."""
    both, outcomes, taken = threading.Barrier(2, timeout=60), [], []

    class Together(Lease):
        def _wait_for_others(self) -> list[dict[str, Any]]:
            found = super()._wait_for_others()
            both.wait()
            return found

    def take() -> None:
        held = Together(spark, tables)
        try:
            held.take()
            taken.append(held)
            outcomes.append(held.run_id)
        except BusyError:
            outcomes.append(None)

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(None) >= 1
    running = [row["run_id"] for row in tables.read("runs").where("state = 'running'").collect()]
    assert [run_id for run_id in outcomes if run_id] == running[: len(outcomes) - outcomes.count(None)]
    for held in taken:  # Else it says that it is alive when the session is long gone.
        held.end("ended")


def test_a_driver_that_stands_still_between_plan_and_record_loses_no_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interleaving in which the second driver's batch took the number, and the place, of the
    first one's."""
    for name in "ab":
        write_warc(tmp_path / f"{name}.warc", pages(ord(name), 3))
    output, standing, go, told = str(tmp_path / "out"), threading.Event(), threading.Event(), []
    record = Ledger.record

    def stand_still(self: Ledger, plan: Plan) -> None:
        if threading.current_thread().name == "B":
            standing.set()
            assert go.wait(120)
        record(self, plan)

    monkeypatch.setattr(Ledger, "record", stand_still)
    second = threading.Thread(
        target=lambda: told.append(run(spark, f"{tmp_path}/b.warc", output, Settings())), name="B", daemon=True
    )
    second.start()
    assert standing.wait(120)
    with pytest.raises(BusyError, match="another run is at work"):
        run(spark, f"{tmp_path}/a.warc", output, Settings())
    go.set()
    second.join(240)
    assert told[0].exit_code == 0
    assert run(spark, f"{tmp_path}/a.warc", output, Settings()).exit_code == 0
    assert Tables(spark, output).read("extractions").count() == 6


def test_a_driver_that_stands_still_before_its_lease_sees_what_another_did_meanwhile(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It made the tables, and took them for empty ever after: every file was recorded, and read,
    twice."""
    archive, output = write_warc(tmp_path / "a.warc", pages(1, 3)), str(tmp_path / "out")
    take = Lease.take

    def stand_still(self: Lease, **columns: Any) -> None:
        monkeypatch.setattr(Lease, "take", take)
        assert run(spark, str(archive), output, Settings()).totals.files == 1
        take(self, **columns)

    monkeypatch.setattr(Lease, "take", stand_still)
    outcome = run(spark, str(archive), output, Settings())
    assert (outcome.plan.n_done, outcome.totals.files) == (1, 0)
    assert (outcome.ledger["done"], outcome.ledger["pages"]) == (1, 3)
    assert Tables(spark, output).read("extractions").count() == 3
