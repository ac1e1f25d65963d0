"""The mains of the staged run: three commands over the same output, and a dry run of them."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.spark.tables.store import Tables
from support.job_mains import job
from support.warcs import pages, write_warc

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_three_jobs_one_after_the_other(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, output = str(write_warc(tmp_path / "a.warc", pages(1, 3))), str(tmp_path / "out")
    assert job("preprocess").main(["--warcs", archive, "--output", output]) == 0
    assert "blocks    3 pages = 3 split into blocks + 0 error rows" in capsys.readouterr().out
    assert job("label").main(["--output", output, "--labeler", "all"]) == 0
    assert "labels    3 pages = 3 labelled (0 in windows) + 0 without usable labels" in capsys.readouterr().out
    assert job("extract").main(["--output", output]) == 0
    assert "rows      3 = 3 extractions + 0 error rows" in capsys.readouterr().out
    assert job("extract").main(["--output", output]) == 0
    assert "nothing to do: no batch is ready for the stage extract" in capsys.readouterr().out
    assert {row["method"] for row in Tables(spark, output).read("extractions").collect()} == {"all"}


@pytest.mark.usefixtures("spark")
def test_usage_errors_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = ["--output", str(tmp_path / "out")]
    (configuration := tmp_path / "cpu.yml").write_text("labeler: {name: cpu}")
    for chosen in (["--labeler", "cpu"], ["--set", "labeler.name=cpu"], ["--conf", str(configuration)]):
        assert job("label").main([*output, *chosen]) == 2
        assert "the labeler cpu reads whole pages" in capsys.readouterr().err
    assert job("label").main(output) == 2
    assert "set labels.lm.model" in capsys.readouterr().err
    assert job("extract").main(output) == 2
    assert "run jobs/preprocess.py into the same output first" in capsys.readouterr().err
    assert (
        job("run").main(
            ["--warcs", "x", *output, "--labeler", "all", "--set", "labeler.staged=true", "--set", "stages.gpus=1"]
        )
        == 2
    )
    assert "give the stage its own cluster" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark")
def test_a_dry_run_tells_the_cost_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, output = str(write_warc(tmp_path / "a.warc", pages(1, 3))), str(tmp_path / "out")
    flags = ["--warcs", archive, "--output", output, "--labeler", "lm"]
    assert job("run").main([*flags, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "batch 1 (new): 1 file" in told
    assert "about 3 to label" in told
    assert "GPU hours at 0.68 pages/s" in told
    assert job("plan").main(flags) == 0
    assert capsys.readouterr().out == told
    assert not (tmp_path / "out").exists()
