"""One pace for all processes that read from one server."""

import subprocess
import sys
from pathlib import Path

import pytest

from dripper.warc.open import remote as pace
from dripper.warc.open.remote import Pace

SECOND = "import sys; from pathlib import Path; from dripper.warc.open.remote import Pace; print(Pace('s', Path(sys.argv[1])).gap)"


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pace, "time", clock)
    return clock


def test_nobody_waits_while_nobody_is_refused(clock: Clock, tmp_path: Path) -> None:
    mine = Pace("s", tmp_path)
    for _ in range(100):
        mine.wait()
        mine.learn_from(200)
    assert clock.slept == []


@pytest.mark.parametrize("status", [429, 503])
def test_a_refusal_slows_down_every_process_of_the_machine(clock: Clock, tmp_path: Path, status: int) -> None:
    mine, neighbour, other = Pace("s", tmp_path), Pace("s", tmp_path), Pace("another server", tmp_path)
    mine.learn_from(status)
    assert mine.gap == neighbour.gap > 0
    assert other.gap == 0
    told = subprocess.run([sys.executable, "-c", SECOND, str(tmp_path)], capture_output=True, text=True, check=True)
    assert float(told.stdout) == mine.gap
    for each in (mine, neighbour) * 50:
        each.wait()
    assert sum(clock.slept) == pytest.approx(100 * mine.gap, rel=0.2)


def test_gaps_are_never_in_step(clock: Clock, tmp_path: Path) -> None:
    mine = Pace("s", tmp_path)
    mine.learn_from(503)
    for _ in range(20):
        mine.wait()
    assert len({round(seconds, 6) for seconds in clock.slept}) > 10


def test_refusals_that_come_together_count_once_and_later_ones_double(clock: Clock, tmp_path: Path) -> None:
    mine = Pace("s", tmp_path)
    mine.learn_from(503)
    first = mine.gap
    mine.learn_from(503)
    assert mine.gap == first
    for n in range(1, 20):
        clock.now += 2
        mine.learn_from(503)
        assert mine.gap == min(pace._LONGEST_GAP, first * 2**n)


def test_good_answers_bring_the_pace_back(clock: Clock, tmp_path: Path) -> None:
    mine = Pace("s", tmp_path)
    mine.learn_from(503)
    for _ in range(30):
        mine.learn_from(206)
    assert mine.gap == 0


def test_other_failures_are_no_reason_to_slow_down(clock: Clock, tmp_path: Path) -> None:
    mine = Pace("s", tmp_path)
    for status in (404, 403, 500):
        mine.learn_from(status)
    assert mine.gap == 0


def test_a_clock_that_was_set_back_does_not_block(clock: Clock, tmp_path: Path) -> None:
    mine = Pace("s", tmp_path)
    mine.learn_from(503)
    clock.now += 1e6
    mine.wait()
    clock.now -= 1e6
    clock.slept.clear()
    mine.wait()
    assert clock.slept[0] <= 64 * pace._LONGEST_GAP


def test_without_a_file_the_process_has_a_pace_of_its_own(clock: Clock, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    mine, neighbour = Pace("s", tmp_path / "file"), Pace("s", tmp_path / "file")
    mine.learn_from(503)
    assert mine.gap > 0
    assert neighbour.gap == 0
