"""Selections by an index in the job: they give the same records as reading whole files, each once,
whatever was read before."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.reports.report import plan_summary, summary
from dripper.spark.run.outcome import Outcome
from dripper.spark.run.run import dry_plan, run
from dripper.spark.tables.store import Tables
from dripper.spark.workers import parts
from support.indexes import write_cdxj, write_parquet_index
from support.killing import killed
from support.warcs import Response, pages, write_warc

pytestmark = pytest.mark.spark


class Crawl:
    """Two archives with eight pages and a picture, a CDXJ index and a columnar one of them, and
    outputs."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        files = [write_warc(folder / f"{i}.warc.gz", self._responses(10 * i)) for i in range(2)]
        self.cdxj = write_cdxj(folder / "index.cdxj", files)
        self.parquet = write_parquet_index(folder / "index.parquet", files)

    @staticmethod
    def _responses(first: int) -> list[Response]:
        return [*pages(first, 4), (f"http://pictures.org/{first}", b"\x89PNG\r\n\x1a\n" + bytes(100))]

    def urls(self, *numbers: int) -> str:
        """Return the selection of these pages, by the CDXJ index."""
        file = self.folder / f"urls-{'-'.join(map(str, numbers))}"
        file.write_text("".join(f"http://example.org/{number}\n" for number in numbers))
        return f"index={self.cdxj},urls=@{file}"

    def run(self, select: str = "", output: str = "out", warcs: str = "", **more: Any) -> Outcome:
        settings = more.pop("settings", Settings())
        outcome = run(self.spark, warcs, str(self.folder / output), settings, select=select, **more)
        rows = self.rows(output)
        assert outcome.ledger["pages"] == len(rows) == len({row["page_id"] for row in rows})
        assert outcome.ledger["records"] == outcome.ledger["pages"] + outcome.ledger["skipped"]
        return outcome

    def rows(self, output: str = "out") -> list[dict[str, Any]]:
        table = Tables(self.spark, str(self.folder / output)).read("extractions").drop("batch")
        return [row.asDict(recursive=True) for row in table.orderBy("page_id").collect()]

    def ledger(self) -> list[tuple[str, bool, str, int, dict[str, int]]]:
        table = Tables(self.spark, str(self.folder / "out")).read("warc_files").orderBy("batch", "warc_file")
        return [
            (Path(r["warc_file"]).name, r["selection"] is None, r["state"], r["pages"], r["skipped"])
            for r in table.collect()
        ]


@pytest.fixture
def crawl(spark: SparkSession, tmp_path: Path) -> Crawl:
    return Crawl(spark, tmp_path)


def numbers(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(int(row["url"].rsplit("/", 1)[1]) for row in rows)


@pytest.mark.slow
def test_selections_overlap_are_killed_and_end_in_whole_files(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    one = crawl.urls(1, 2, 11)
    with monkeypatch.context() as patch:
        patch.setattr("dripper.spark.ledger.ledger.Ledger.finish", killed)
        outcome = run(crawl.spark, "", str(crawl.folder / "out"), Settings(), select=one)
        assert "RuntimeError: killed" in outcome.complaints[0]
    first = crawl.run(one)
    assert (first.exit_code, first.totals.files, first.totals.records, first.totals.pages) == (0, 2, 3, 3)
    again = crawl.run(one)
    assert (again.totals.files, again.exit_code) == (0, 0)
    assert "nothing to do: all 2 files were done before" in summary(again, "out")

    two = crawl.run(f"index={crawl.parquet},host=pictures.org,host=example.org,status=200,url-prefix=http://")
    assert (two.exit_code, two.totals.records, two.totals.pages) == (0, 10, 5)
    assert two.totals.skipped == {"read before": 3, "not html": 2}
    selected = crawl.rows()
    assert numbers(selected) == [0, 1, 2, 3, 10, 11, 12, 13]

    # Two batches at once, which both replace rows of one.
    whole = crawl.run(warcs=str(crawl.folder), settings=load(assignments=["batch.files=1"]))
    assert (whole.exit_code, whole.totals.pages) == (0, 8)
    assert crawl.rows() == selected
    not_html = {"not html": 1}
    assert crawl.ledger() == [(f"{i}.warc.gz", True, "done", 4, not_html) for i in range(2)]
    for selection in (one, crawl.urls(3, 13)):
        plan = dry_plan(crawl.spark, "", str(crawl.folder / "out"), Settings(), select=selection)
        assert (plan.resumed, plan.fresh, plan.n_done) == ((), (), 2)


@pytest.mark.slow
def test_a_whole_reading_that_is_killed_goes_on_replacing_selections(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl.run(crawl.urls(1))
    with monkeypatch.context() as patch:
        patch.setattr("dripper.spark.ledger.ledger.Ledger.finish", killed)
        assert run(crawl.spark, str(crawl.folder), str(crawl.folder / "out"), Settings()).exit_code == 3
    assert crawl.run(warcs=str(crawl.folder)).exit_code == 0
    assert [entry[:4] for entry in crawl.ledger()] == [(f"{i}.warc.gz", True, "done", 4) for i in range(2)]


def test_what_a_selection_says_that_cannot_be(crawl: Crawl) -> None:
    with pytest.raises(InputError, match=r"--select index=.*host=nowhere.org: no record of the index fits"):
        crawl.run(f"index={crawl.cdxj},host=nowhere.org")
    with pytest.raises(InputError, match="give one of them"):
        crawl.run(crawl.urls(1), warcs=str(crawl.folder))
    plan = dry_plan(crawl.spark, "", str(crawl.folder / "out"), Settings(), select=crawl.urls(1, 2))
    assert "batch 1 (new): 1 file, 2 records, 0.0 MB" in plan_summary(plan)


@pytest.mark.slow
def test_an_index_that_is_odd_is_told_and_files_that_were_read_are_read_again(crawl: Crawl) -> None:
    crawl.cdxj.write_text("a line\n" + crawl.cdxj.read_text())
    outcome = crawl.run(crawl.urls(1, 2))
    assert outcome.exit_code == 4
    assert "1 lines of the index hold no capture" in outcome.bad_inputs[0]
    with pytest.raises(InputError, match=r"0.warc.gz was never read into this output"):
        crawl.run(warcs=str(crawl.folder), redo=str(crawl.folder / "0.warc.gz"))
    redone = crawl.run(crawl.urls(1, 2), redo=str(crawl.folder / "0.warc.gz"))
    assert (redone.totals.pages, numbers(crawl.rows())) == (2, [1, 2])


@pytest.mark.slow
def test_a_staged_run_of_selections_gives_the_rows_of_one_pass(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into tasks of single records."""
    monkeypatch.setattr(parts, "SPLIT_BYTES", 1)
    staged = load(assignments=["labeler.staged=true", "labeler.name=all", "batch.files=1"])
    fused = load(assignments=["labeler.name=all"])
    for selection in (crawl.urls(1, 2, 3), crawl.urls(2, 3, 11)):
        crawl.run(selection, settings=staged)
    crawl.run(crawl.urls(1, 2, 3, 11), "fused", settings=fused)
    rows = crawl.rows("fused")
    assert numbers(rows) == [1, 2, 3, 11]
    for row in (mine := crawl.rows()) + rows:
        del row["versions"]
    assert mine == rows
    assert crawl.run(warcs=str(crawl.folder), settings=staged).exit_code == 0
    assert numbers(crawl.rows()) == [0, 1, 2, 3, 10, 11, 12, 13]
