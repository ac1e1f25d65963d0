"""The small jobs around the main one."""

import os
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.settings import Settings
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.maintain import maintain
from support.job_mains import job
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


@pytest.fixture
def archives_of_two(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(2):
        write_warc(folder / f"{i}.warc.gz", pages(i, 1))
    return folder


@pytest.mark.usefixtures("spark")
def test_plan_writes_nothing(archives_of_two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert job("plan").main(["--warcs", str(archives_of_two), "--output", str(output), "--limit", "1"]) == 0
    told = capsys.readouterr().out
    assert "0 files are done" in told
    assert "batch 1 (new): 1 file, 0.0 MB" in told
    assert "--limit leaves 1 file" in told
    assert not output.exists()


@pytest.mark.slow
def test_plan_knows_what_is_done_and_maintain_joins_files_and_keeps_rows(
    spark: SparkSession, archives_of_two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "out")
    run(spark, str(archives_of_two), output, Settings())
    write_warc(archives_of_two / "new.warc.gz", pages(5, 1))
    assert job("plan").main(["--warcs", str(archives_of_two), "--output", output]) == 0
    told = capsys.readouterr().out
    assert "2 files are done" in told
    assert "batch 2 (new): 1 file" in told
    assert job("maintain").main(["--output", output]) == 0
    told = capsys.readouterr().out
    assert all(f"/{table}`: " in told for table in ("extractions", "warc_files", "runs"))
    assert told.count("old versions cleared") == 3
    assert Tables(spark, output).read("extractions").count() == 2


def test_files_are_kept_as_the_table_says_or_for_the_hours_that_are_asked_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    """By default, Delta 4.4 ignores the hours of a VACUUM."""
    tables, file = Tables(spark, str(tmp_path)), tmp_path / "relocated" / "ten_days_old.parquet"
    tables.create("relocated")
    month = "'delta.deletedFileRetentionDuration' = 'interval 30 days'"
    spark.sql(f"ALTER TABLE {tables.sql_name('relocated')} SET TBLPROPERTIES ({month})")
    file.touch()
    os.utime(file, (time.time() - 240 * 3600,) * 2)
    for hours, is_kept in ((None, True), (168, False)):
        list(maintain(spark, str(tmp_path), hours))
        assert file.exists() == is_kept


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("flags", "words"),
    [(["--retain-hours", "5"], "at least 168"), ([], "there is no table extractions or published")],
)
def test_maintain_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    assert job("maintain").main(["--output", str(tmp_path), *flags]) == 2
    assert words in capsys.readouterr().err
