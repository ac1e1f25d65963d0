import logging
import os
import time
from pathlib import Path

import pytest

from dripper.errors import MachineError
from dripper_lab.evaluation import extracting as module
from dripper_lab.evaluation.extracting import Limits, ProgressLog, as_extractor, extract_set, vote_set
from dripper_lab.evaluation.extractors.base import Contender, Form, Standing, Task
from dripper_lab.evaluation.extractors.ensembles import Ensemble
from dripper_lab.evaluation.store import Output, Outputs
from support.small_set import as_html, broken, fake, half, labelled, perfect

LIMITS = Limits(cpu_seconds=1, wall_seconds=20)
TASKS = [Task(page, page.html.decode()) for page in map(labelled, range(3))]


def run(folder: Path, extractor: Contender, tasks: list[Task] = TASKS) -> dict[str, Output]:
    extract_set(extractor, tasks, "cleaneval-en", folder, LIMITS, ProgressLog(len(tasks)))
    return Outputs(folder, "cleaneval-en", extractor).read()


def test_outputs_of_all_pages(tmp_path: Path) -> None:
    outputs = run(tmp_path, fake("half", half))
    assert [outputs[task.page.id].text for task in TASKS] == [half(task) for task in TASKS]
    assert all(output.error_code is None and output.cpu_ms >= 0 for output in outputs.values())


def test_html_becomes_text(tmp_path: Path) -> None:
    text = run(tmp_path, fake("html", as_html, form=Form.HTML))["0"].text
    assert text.split() == [*TASKS[0].page.truth_text.split(), "and", "more"]


def test_what_is_there_is_not_done_again(tmp_path: Path) -> None:
    calls = tmp_path / "calls"

    def counting(task: Task) -> str:
        with calls.open("a") as stream:
            stream.write(task.page.id)
        return "x"

    run(tmp_path, fake("counting", counting), TASKS[:2])
    calls.unlink()
    assert len(run(tmp_path, fake("counting", counting))) == 3
    assert set(calls.read_text()) == {"2"}


def test_another_page_under_the_same_id_is_done(tmp_path: Path) -> None:
    run(tmp_path, fake("perfect", perfect), TASKS[:1])
    other = labelled(7)
    changed = Task(type(other)("0", *[getattr(other, name) for name in list(other.__slots__)[1:]]), "")
    assert run(tmp_path, fake("perfect", perfect), [changed])["0"].text == other.truth_text


def test_a_page_that_fails_costs_its_own_score_only(tmp_path: Path) -> None:
    def picky(task: Task) -> str:
        return broken(task) if task.page.id == "1" else perfect(task)

    outputs = run(tmp_path, fake("picky", picky))
    assert (outputs["1"].text, outputs["1"].error_code) == ("", "internal")
    assert "ValueError: not this page" in str(outputs["1"].error_detail)
    assert outputs["2"].text == TASKS[2].page.truth_text


def test_a_page_that_hangs_or_kills_its_process(tmp_path: Path) -> None:
    def deadly(task: Task) -> str:
        if task.page.id == "0":
            os._exit(3)
        start = time.process_time()
        while task.page.id == "1" and time.process_time() - start < 30:
            pass
        return "done"

    outputs = run(tmp_path, fake("deadly", deadly))
    assert [outputs[id].error_code for id in "012"] == ["crashed", "time_limit", None]
    assert outputs["1"].cpu_ms == 1000


def test_missing_package_ends_the_run() -> None:
    extractor = Contender("absent", Standing.PEER, "no-such-distribution", lambda: perfect)
    with pytest.raises(MachineError, match="extractor absent needs no-such-distribution: pip install"):
        _ = extractor.version


def test_ensemble_votes_over_outputs(tmp_path: Path) -> None:
    members = [fake("one", perfect), fake("two", perfect), fake("three", half)]
    for member in members:
        run(tmp_path, member)
    ensemble = Ensemble("vote", {"one": 1, "two": 1, "three": 1}, 1)
    for _ in range(2):
        vote_set(ensemble, TASKS, "cleaneval-en", tmp_path, members)
    outputs = Outputs(tmp_path, "cleaneval-en", as_extractor(ensemble))
    assert len(outputs.path.read_text().splitlines()) == 3
    assert outputs.read()["0"].text == " ".join(TASKS[0].page.truth_text.split())


def test_a_line_cut_short_by_a_kill_is_done_again(tmp_path: Path) -> None:
    extractor = fake("perfect", perfect)
    run(tmp_path, extractor)
    path = Outputs(tmp_path, "cleaneval-en", extractor).path
    path.write_bytes(path.read_bytes()[:-20])
    assert len(Outputs(tmp_path, "cleaneval-en", extractor).read()) == 2
    assert len(run(tmp_path, extractor)) == 3


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
