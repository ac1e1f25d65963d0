"""The account of a run, from a run's own tables."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.labels.config import load
from dripper.settings import CostSettings, Settings
from dripper.spark.reports.account import RunFacts
from dripper.spark.reports.account_tables import check_place, run_facts, write_account
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from support.job_mains import job
from support.warcs import page, pages, write_warc

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    write_warc(folder / "0.warc.gz", [*pages(0, 3), ("http://example.org/<b>", b"<html><body></body></html>")])
    write_warc(folder / "1.warc.gz", pages(10, 2))
    whole = write_warc(folder / "2.warc.gz", [page(20), page(21)]).read_bytes()
    (folder / "2.warc.gz").write_bytes(whole[:-20])
    return folder


@pytest.fixture(scope="module")
def output(spark: SparkSession, archives: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    output = str(tmp_path_factory.mktemp("out"))
    run(spark, str(archives), output, load(assignments=["batch.files=2"]))
    return output


@pytest.fixture(scope="module")
def facts(spark: SparkSession, output: str) -> RunFacts:
    return run_facts(Tables(spark, output), CostSettings())


def test_files_and_counts_are_those_of_the_tables(spark: SparkSession, output: str, facts: RunFacts) -> None:
    ledger = {row["warc_file"]: row for row in Tables(spark, output).read("warc_files").collect()}
    assert {file.warc_file: file.pages for file in facts.files} == {name: row["pages"] for name, row in ledger.items()}
    assert sum(pages for _, pages in facts.commits()) == facts.count("pages") == 8
    # Small batches that end within some seconds of each other are recorded together.
    assert len(facts.commits()) in (1, 2)
    assert dict(facts.methods) == {"cpu": 7}
    assert sum(facts.languages.values()) == sum(facts.kinds.values()) == sum(facts.confidences.values()) == 7
    assert (facts.short_pages, facts.wordless_pages) == (0, 0)
    assert len({page.page_id for page in facts.doubtful_pages}) == 7
    least = [page.confidence or 0 for page in facts.doubtful_pages]
    assert least == sorted(least)
    assert [(page.url, page.error_code) for page in facts.failed_pages] == [("http://example.org/<b>", "empty_page")]
    started, ended = facts.moment("started_at"), facts.moment("ended_at")
    assert started is not None
    assert ended is not None
    assert all(started < moment < ended for moment, _ in facts.commits())


def test_times_are_of_the_files_own_pages(facts: RunFacts) -> None:
    assert facts.core_hours is not None
    assert 0 < facts.core_hours * 3600 < 2 * (facts.seconds or 0)
    assert len(facts.slowest_pages) == len(facts.files) == 3
    assert len({page.warc_file for page in facts.slowest_pages}) == 3
    times = [page.ms or 0 for page in facts.slowest_pages]
    assert times == sorted(times, reverse=True)
    assert all(page.url.startswith("http://example.org/") for page in facts.slowest_pages)


def test_it_is_written_next_to_the_tables_or_where_one_wants_it(
    spark: SparkSession, output: str, facts: RunFacts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{facts.run['run_id']}.html"
    assert job("report").main(["--output", output]) == 0
    assert capsys.readouterr().out == f"{output}/reports/{name}\n"
    text = (Path(output) / "reports" / name).read_text()
    assert "8 pages = 7 extractions + 1 error rows" in text
    assert "http://example.org/&lt;b&gt;" in text
    for to, place in (
        (str(tmp_path / "a.html"), tmp_path / "a.html"),
        (str(tmp_path), tmp_path / name),
        (f"file://{tmp_path}/b.html", tmp_path / "b.html"),
    ):
        write_account(spark, output, to, CostSettings(), str(facts.run["run_id"]))
        assert place.read_text() == text


def test_the_job_writes_it_at_its_end(
    spark: SparkSession, archives: Path, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a run that found nothing to do: the files are known by the run before."""
    flags = ["--warcs", str(archives), "--output", output, "--report", str(tmp_path / "again.html")]
    assert job("run").main(flags) == 4  # One of the archives is cut short.
    assert f"account of the run: {tmp_path}/again.html" in capsys.readouterr().out
    assert "later runs have read them again" in (tmp_path / "again.html").read_text()


def test_what_cannot_be_is_told_before_the_work(
    spark: SparkSession, archives: Path, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new"
    flags = ["--warcs", str(archives), "--output", str(new), "--report", str(tmp_path / "no" / "a.html")]
    assert job("run").main(flags) == 2
    assert "there is no folder" in capsys.readouterr().err
    flags[-1] = f"file:///{tmp_path}/no/a.html"
    assert job("run").main(flags) == 2
    flags[-1] = "nowhere://bucket/a.html"
    assert job("run").main(flags) == 2
    assert "the report cannot be written to nowhere://bucket/a.html" in capsys.readouterr().err
    assert not new.exists()
    with pytest.raises(InputError, match=r"main\.crawl is a schema of a catalog, which holds no files"):
        check_place(spark, Tables(spark, "main.crawl"), "")

    class Connected:
        @property
        def sparkContext(self) -> None:
            raise PySparkAttributeError("[JVM_ATTRIBUTE_NOT_SUPPORTED]")

    for to in ("s3a://bucket/a.html", ""):
        with pytest.raises(InputError, match="over Spark Connect only a file or a folder of this machine"):
            check_place(Connected(), Tables(spark, "s3a://bucket/out"), to)  # type: ignore[arg-type]
    check_place(Connected(), Tables(spark, output), f"file://{tmp_path}/a.html")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no table runs"):
        write_account(spark, str(new), "", CostSettings())
    with pytest.raises(InputError, match="has no run 77: the table runs has them all"):
        run_facts(Tables(spark, output), Settings().cost, "77")
