import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dripper_lab.datasets import PageCounts
from dripper_lab.evaluation.extractors.base import Contender, Form, Standing
from dripper_lab.evaluation.report import charts
from dripper_lab.evaluation.report.writer import Heat, _heat, _is_counted, _metrics
from dripper_lab.evaluation.results import MAIN, intervals_by, mean_similarities, means_by, overall, pages_by
from dripper_lab.evaluation.run import RunSettings, run_evaluation
from dripper_lab.evaluation.score_set import score_digest, score_line
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import Output, page_digest, read_lines
from support.small_set import as_html, fake, half, labelled, perfect, write_set

NAMES = ("trafilatura", "goose3", "page")
EXTRACTORS = [fake("trafilatura", half), fake("goose3", perfect), fake("page", as_html, Standing.TEXT, Form.HTML)]


def frame(n_pages: int = 40) -> pd.DataFrame:
    random = np.random.default_rng(3)
    rows = []
    for page in range(n_pages):
        about = {
            "data_set": "dragnet" if page % 2 else "readability", "id": str(page), "host": f"h{page // 2}",
            "language": "de" if page < 12 else "en", "page_type": "forum" if page % 3 else None,
            "level": ("low", "medium", "high")[page % 3], "cpu_ms": 5.0, "is_empty": False, "error_code": None,
        }  # fmt: skip
        for place, name in enumerate(NAMES):
            f1 = float(np.clip(0.4 + 0.2 * place + random.normal(0, 0.1), 0, 1))
            scores = {MAIN: f1, "rouge5_words_precision": f1, "rouge5_words_recall": f1, "word_f1": f1 / 2}
            rows.append({**about, "extractor": name, **scores})
    return pd.DataFrame(rows)


def test_best_first_with_gains_of_pairs() -> None:
    lines = overall(frame(), EXTRACTORS, "trafilatura", draws=200)
    assert [line.extractor.name for line in lines] == ["page", "goose3", "trafilatura"]
    assert all(line.macro.low < line.macro.value < line.macro.high for line in lines)
    assert lines[0].gain.value == pytest.approx(lines[0].macro.value - lines[2].macro.value)
    assert lines[0].gain.excludes_zero
    assert (lines[2].gain.low, lines[2].gain.high) == (0, 0)
    assert (lines[0].pages, lines[0].cpu_mean, lines[0].failed, lines[0].empty) == (40, 5.0, {}, 0)


def test_an_extractor_that_saw_only_some_pages_has_no_line() -> None:
    partly = frame()
    partly = partly[~((partly["extractor"] == "goose3") & (partly["id"] == "3"))]
    assert [line.extractor.name for line in overall(partly, EXTRACTORS, "trafilatura", draws=20)] == [
        "page",
        "trafilatura",
    ]


def test_intervals_by_kind_are_of_those_that_saw_all_its_pages() -> None:
    table = frame()
    found = intervals_by(table, "language", ["de", "en"], draws=100)
    means = means_by(table, "language")
    for name in NAMES:
        for language in ("de", "en"):
            value = found[name][language]
            assert value.value == pytest.approx(means.at[name, language])
            assert value.low < value.value < value.high
    partly = table[~((table["extractor"] == "goose3") & (table["id"] == "3"))]
    assert sorted(intervals_by(partly, "language", ["de", "en"], draws=20)["goose3"]) == ["en"]


def test_tables_by_group() -> None:
    table = frame()
    assert pages_by(table, "language") == {"en": 28, "de": 12}
    assert means_by(table, "language").at["goose3", "de"] == pytest.approx(
        table[(table["extractor"] == "goose3") & (table["language"] == "de")][MAIN].mean()
    )
    heat = _heat(table[table["id"].astype(int) < 15], "language", EXTRACTORS)
    assert heat.columns == ["de"]  # three English pages are too few for a result
    assert heat.pages == {"de": 12}
    assert [one.name for one, _ in heat.rows] == list(NAMES)


def test_other_metrics_are_macro_means() -> None:
    heat = _metrics(frame(), EXTRACTORS)
    assert heat.columns == ["ROUGE-5, words", "word F1 (WCXB)"]
    table = frame()
    by_set = table[table["extractor"] == "page"].groupby("data_set")["word_f1"].mean()
    assert heat.rows[2][1][1] == pytest.approx(by_set.mean())


def test_shades_leave_bounds_out() -> None:
    bound = Contender("oracle", Standing.BOUND, "numpy", lambda: perfect)
    heat = Heat(["x"], {}, [(bound, [0.99]), (EXTRACTORS[0], [0.5]), (EXTRACTORS[1], [0.9]), (EXTRACTORS[2], [None])])
    assert [heat.shade(0, value) for value in (0.99, 0.5, 0.9, None)] == [1, 0, 1, 0]
    assert Heat(["x"], {}, [(EXTRACTORS[0], [0.5])]).shade(0, 0.5) == 0


def test_only_sets_that_nobody_trains_on_count() -> None:
    assert _is_counted("dragnet")
    assert _is_counted("webmainbench")
    assert not _is_counted("wcxb-dev")
    assert not _is_counted("canola")


def test_pictures_are_pictures() -> None:
    table = frame()
    lines = overall(table, EXTRACTORS, "trafilatura", draws=50)
    likeness = pd.DataFrame(np.eye(3), index=list(NAMES), columns=list(NAMES))
    pictures = [
        charts.ranking(lines), charts.quality_and_cost(lines), charts.distributions(table, lines),
        charts.by_complexity(means_by(table, "level"), lines), charts.likeness(likeness),
    ]  # fmt: skip
    for picture in pictures:
        assert picture.startswith(b"\x89PNG\r\n")
        assert len(picture) > 5000
    assert set(charts.COLOURS) == set(Standing)


def test_score_lines_are_json_and_change_with_what_they_depend_on() -> None:
    page = labelled(1)
    output = Output(page.id, page_digest(page), page.truth_text, 2.0)
    line = score_line(page, {"a": output}, ["rouge5_words"])
    assert json.loads(json.dumps(line)) == line
    assert line["scores"]["a"]["rouge5_words_f1"] == 1
    assert (line["language"], line["page_type"], line["host"], line["is_wceb"]) == ("en", "article", "site1.org", False)
    assert line["costs"]["a"] == {"cpu_ms": 2.0, "error_code": None, "error_detail": None}
    same = score_digest(page, {"a": output}, ["rouge5_words"], False)
    assert line["digest"] == same
    other = Output(page.id, page_digest(page), "other", 2.0)
    for changed in (
        score_digest(page, {"a": other}, ["rouge5_words"], False),
        score_digest(page, {"b": output}, ["rouge5_words"], False),
        score_digest(page, {"a": output}, ["word"], False),
        score_digest(page, {"a": output}, ["rouge5_words"], True),
        score_digest(labelled(2), {"a": output}, ["rouge5_words"], False),
    ):
        assert changed != same


def test_markdown_truths_get_content_scores(tmp_path: Path) -> None:
    record = {"track_id": "a", "url": None, "html": '<p cc-select="true">one</p><p>menu</p>', "meta": {"level": "mid"}}
    path = tmp_path / "w.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    html = Contender("html", Standing.PEER, "numpy", lambda: lambda task: task.html, Form.HTML)
    source = PageSource(tmp_path, webmainbench=path)
    (job,) = run_evaluation(RunSettings(source, tmp_path / "run", ["webmainbench"], [html], metrics=["rouge5_words"]))
    (row,) = read_lines(job.path)
    assert 0 < row["scores"]["html"]["text_edit"] < 1
    assert row["scores"]["html"]["code_edit"] is None
    assert source.counts("webmainbench") == PageCounts(1, 1, 0, {})


def test_similarities_average_over_pages(tmp_path: Path) -> None:
    write_set(tmp_path / "data", "dragnet", range(4))
    jobs = run_evaluation(
        RunSettings(PageSource(tmp_path / "data"), tmp_path / "run", ["dragnet"], EXTRACTORS, metrics=["word"])
    )
    table = mean_similarities(jobs, NAMES)
    assert table.at["goose3", "goose3"] == 1
    assert table.at["goose3", "trafilatura"] == table.at["trafilatura", "goose3"]
    assert 0.5 < table.at["goose3", "trafilatura"] < table.at["goose3", "page"] < 1
