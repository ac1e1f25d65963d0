from pathlib import Path

import pytest

from dripper.errors import InputError, MachineError, UsageError
from dripper_lab.evaluation.benchmarks.wceb import Reference
from dripper_lab.evaluation.extractors.base import Form, Standing
from dripper_lab.evaluation.report.writer import write_report
from dripper_lab.evaluation.results import means_by, overall, read_scores
from dripper_lab.evaluation.run import RunSettings, run_evaluation
from dripper_lab.evaluation.score_set import SetScoring
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import read_lines
from support.small_set import as_html, broken, fake, half, labelled, perfect, run_here, write_set

EXTRACTORS = [
    fake("trafilatura", half),
    fake("goose3", perfect),
    fake("justext", half),
    fake("readability-lxml", as_html, form=Form.HTML),
    fake("broken", broken),
    fake("page", lambda task: task.html, Standing.TEXT, Form.HTML),
]


def reference() -> Reference:
    ids = {"cleaneval-en": {str(number): f"their{number}" for number in range(6)}}
    return Reference(ids, {("cleaneval", "goose3"): {f"their{number}": 1.0 for number in range(6)}})


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> RunSettings:
    folder = tmp_path_factory.mktemp("run")
    write_set(folder / "data", "cleaneval-en", range(12))
    write_set(folder / "data", "wcxb-dev", range(20, 25))
    source = PageSource(folder / "data")
    return RunSettings(source, folder / "run", ["cleaneval-en", "wcxb-dev"], EXTRACTORS, reference=reference())


@pytest.fixture(scope="module")
def jobs(settings: RunSettings) -> list[SetScoring]:
    """A whole run: a process that scores starts for each set, and takes seconds."""
    return run_evaluation(settings)


def test_a_whole_run_twice_and_its_report(settings: RunSettings, jobs: list[SetScoring]) -> None:
    before = [job.path.read_bytes() for job in jobs]
    assert [job.path.read_bytes() for job in run_here(settings)] == before

    frame = read_scores(jobs)
    names = [one.name for one in settings.everyone()]
    assert len(frame) == 17 * len(names)
    means = frame.groupby("extractor")["rouge5_words_f1"].mean()
    assert means["goose3"] == 1
    assert means["broken"] == 0
    assert 0.5 < means["trafilatura"] < 0.8
    assert set(frame.loc[frame["extractor"] == "broken", "error_code"]) == {"internal"}
    assert set(frame["level"]) == {"low"}
    assert set(means_by(frame, "data_set").columns) == {"cleaneval-en", "wcxb-dev"}

    html = write_report(settings, jobs, settings.folder / "report").read_text(encoding="utf-8")
    assert {path.name for path in (settings.folder / "report").iterdir()} >= {"report.html", "ranking.png"}
    for text in ("goose3", "majority-weighted", "cleaneval-en", "ValueError", "not in any overall figure"):
        assert text in html
    assert "http://" not in html.replace("http://site", "")  # nothing is fetched from anywhere


def test_overall_lines(settings: RunSettings, jobs: list[SetScoring]) -> None:
    frame = read_scores(jobs)
    lines = overall(frame, settings.everyone(), "trafilatura", draws=50)
    best = lines[0]
    assert (best.extractor.name, best.macro.value, best.pages, best.empty) == ("goose3", 1, 17, 0)
    assert best.gain.value == pytest.approx(
        1 - {line.extractor.name: line.macro.value for line in lines}["trafilatura"]
    )
    last = lines[-1]
    assert (last.extractor.name, dict(last.failed), last.empty) == ("broken", {"internal": 17}, 1)
    with pytest.raises(InputError, match="the baseline nobody was not run"):
        overall(frame, settings.everyone(), "nobody")


def test_one_more_extractor_is_scored_beside_the_others(settings: RunSettings) -> None:
    more = RunSettings(
        settings.source, settings.folder, ["wcxb-dev"], [*EXTRACTORS, fake("second", perfect)], reference=reference()
    )
    frame = read_scores(run_here(more))
    assert frame.loc[frame["extractor"] == "second", "rouge5_words_f1"].mean() == 1


def test_wceb_truth_is_scored_where_wceb_has_the_page(jobs: list[SetScoring]) -> None:
    rows = list(read_lines(jobs[0].path))
    assert {row["id"] for row in rows if row["is_wceb"]} == {str(number) for number in range(6)}
    assert all(("wceb_f1" in row["scores"]["goose3"]) == row["is_wceb"] for row in rows)


def test_a_run_that_is_not_finished_has_no_results(jobs: list[SetScoring], tmp_path: Path) -> None:
    jobs[0].path.rename(tmp_path / "aside")
    with pytest.raises(InputError, match="lacks 12 pages: run the evaluation to its end first"):
        read_scores(jobs)
    (tmp_path / "aside").rename(jobs[0].path)


def test_wrong_settings_end_before_anything_runs(settings: RunSettings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown metric 'bleu'; there are: rouge5_words"):
        run_evaluation(RunSettings(settings.source, tmp_path, ["wcxb-dev"], EXTRACTORS, metrics=["bleu"]))
    with pytest.raises(InputError, match="no data set 'absent'"):
        run_evaluation(RunSettings(settings.source, tmp_path, ["absent"], EXTRACTORS))
    assert not list(tmp_path.iterdir())


def test_scoring_that_dies_is_said(settings: RunSettings, tmp_path: Path) -> None:
    (tmp_path / "scores").write_text("a file where a folder should be")
    with pytest.raises(MachineError, match="the process that computes scores ended with code 1"):
        run_evaluation(RunSettings(settings.source, tmp_path, ["wcxb-dev"], EXTRACTORS[:1]))


def test_fixture_pages_hold_their_truth() -> None:
    page = labelled(3)
    assert all(line in page.html.decode() for line in page.truth_text.split("\n"))
