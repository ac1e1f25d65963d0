"""What a run says of itself while it works."""

import logging

import pytest

from dripper_lab.evaluation import extracting as module
from dripper_lab.evaluation.extracting import ProgressLog


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module.time, "monotonic", made)
    return made


def test_time_left_goes_by_fresh_pages_alone(clock: Clock) -> None:
    progress = ProgressLog(200)
    progress.at("trafilatura on dragnet")
    progress.done(100, fresh=False)
    assert str(progress) == "50 % trafilatura on dragnet"
    clock.now += 60
    progress.done(10)
    assert str(progress) == "55 % trafilatura on dragnet, about 9 min left"


def test_a_line_every_ten_seconds_and_at_the_end(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    progress = ProgressLog(4)
    caplog.handler.setFormatter(logging.Formatter("%(message)s"))
    with caplog.at_level(logging.INFO):
        progress.done()
        clock.now += 10
        progress.done()
        progress.done()
        assert len(caplog.messages) == 1
        progress.done()
    # As they were written: `caplog.messages` would ask the progress again now.
    assert [line.split()[0] for line in caplog.text.splitlines()] == ["50", "100"]


def test_nothing_to_do_is_all_done() -> None:
    assert str(ProgressLog(0)).startswith("100 %")
