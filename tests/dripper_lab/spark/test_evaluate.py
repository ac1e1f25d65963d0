from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dripper_lab.evaluation.run import RunSettings, scoring_of
from dripper_lab.evaluation.share import Share, keep_lines, metric_rows, share_lines, shares
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import read_lines
from support.job_mains import job
from support.small_set import fake, half, perfect, write_set

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def settings(folder: Path) -> RunSettings:
    write_set(folder / "data", "dragnet", range(30))
    extractors = [fake("trafilatura", half), fake("goose3", perfect), fake("justext", half)]
    return RunSettings(PageSource(folder / "data"), folder / "run", ["dragnet"], extractors, metrics=["rouge5_words"])


def test_shares_hold_every_page_once(tmp_path: Path) -> None:
    asked = settings(tmp_path)
    parts = shares(asked)
    assert parts == [Share("dragnet", 0, 2), Share("dragnet", 1, 2)]
    for page in asked.source.pages("dragnet"):
        assert sum(part.holds(page.id) for part in parts) == 1


def test_lines_of_shares_are_a_local_run(tmp_path: Path) -> None:
    asked = settings(tmp_path)
    lines = [line for share in shares(asked) for line in share_lines(asked, share)]
    keep_lines(asked, lines)
    rows = list(read_lines(scoring_of(asked, "dragnet").path))
    assert {row["id"] for row in rows} == {str(number) for number in range(30)}
    assert all(row["scores"]["goose3"]["rouge5_words_f1"] == 1 for row in rows)
    table = list(metric_rows(asked, lines[0]))
    assert len(table) == 6 * 3  # three extractors, three votes
    assert all(len(row) == 13 for row in table)


@pytest.mark.slow
@pytest.mark.spark
def test_table_and_report(spark: "SparkSession", tmp_path: Path) -> None:
    from dripper.spark.tables.store import Tables
    from dripper_lab.spark.evaluate import evaluate

    write_set(tmp_path / "data", "dragnet", range(6))
    tables = Tables(spark, str(tmp_path / "out"))
    tables.create("evaluations")
    work = [("dragnet", 0, 1), ("dragnet", 1, 2)]
    for _ in range(2):
        lines = list(evaluate(spark, tables, work, _lines, _rows))
        assert sorted(lines) == ["dragnet 0/1", "dragnet 1/2"]
    found = tables.read("evaluations")
    assert found.count() == 4
    assert [row.batch for row in found.select("batch").distinct().orderBy("batch").collect()] == [0, 1]
    assert found.where("metric = 'word_f1' and value = 0.5").count() == 4


def _lines(share: tuple[str, int, int]) -> Iterator[str]:
    yield f"{share[0]} {share[1]}/{share[2]}"


def _rows(line: str) -> Iterator[tuple[object, ...]]:
    yield ("dragnet", line, "h", "en", None, 0.5, "gne", "1", 1.0, None, None, "word_f1", 0.5)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark import cloudpickle

    main = job("evaluate")
    # As a command it is `__main__`, which goes to the workers by value.
    cloudpickle.register_pickle_by_value(main)
    write_set(tmp_path / "data", "dragnet", range(4))
    folders = [
        f"--{name}={tmp_path / place}" for name, place in (("data", "data"), ("output", "out"), ("report", "report"))
    ]
    asked = ["--extractors", "trafilatura,beautifulsoup", "--metrics", "rouge5_words"]
    try:
        assert main.main([*folders, *asked]) == 0
    finally:
        cloudpickle.unregister_pickle_by_value(main)
    assert (tmp_path / "report" / "report.html").exists()
    assert capsys.readouterr().out.strip().endswith("report.html")


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert job("evaluate").main(["--data", str(tmp_path), "--output", str(tmp_path)]) == 2
    assert "no data sets in" in capsys.readouterr().err


def test_a_report_without_its_baseline_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_set(tmp_path / "data", "dragnet", range(1))
    flags = ["--data", str(tmp_path / "data"), "--output", str(tmp_path), "--extractors", "beautifulsoup"]
    assert job("evaluate").main(flags) == 2
    assert capsys.readouterr().err.strip().endswith("add it to --extractors")
