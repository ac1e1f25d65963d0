"""Site memory in staged runs, on real WARC files and real Delta: what hosts know changes labels,
counts close, and nothing counts twice."""

import json
import shutil
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.errors import SettingsError
from dripper.html import preprocess
from dripper.labels import Labels
from dripper.labels import load as load_labeler
from dripper.labels.config import load
from dripper.page.extraction import Extractor
from dripper.page.rows import Row, extraction_columns, host_name
from dripper.sites import PageBlocks, SiteStatistics, relabel, remember
from dripper.sites.statistics import PathSum
from dripper.spark.reports.report import summary
from dripper.spark.run.run import run, run_stages
from dripper.spark.sites.labels import site_labels
from dripper.spark.sites.sums import Bounds, is_counted, select_remembered, site_sums, sum_counted
from dripper.spark.tables.store import Tables
from dripper.warc import read_records
from support.killing import killed
from support.warcs import Response, write_warc

pytestmark = pytest.mark.spark

SETTINGS = load(assignments=["sites.enabled=true", "batch.files=1"])
REPEATED = "The harbour museum lends its rooms to friends of old ships and to their many guests all year round."


def story(host: str, name: str, subject: str) -> Response:
    """A page of a host: its own story, and a paragraph that all pages of the host have."""
    own = "".join(
        f"<p>The {subject} of part {part} left the pier at noon, and nobody who saw the {subject} that day {part} waved.</p>"
        for part in ("one", "two", "three", "four", "five")
    )
    html = (
        f"<html><head><title>{subject}</title></head><body><div class=top><ul><li><a href=/>Home</a></ul></div>"
        f"<div class=story><h1>Of the {subject}</h1>{own}<p class=more>{REPEATED}</p></div></body></html>"
    )
    return f"http://{host}/{name}", html.encode()


SUBJECTS = ("ferry", "tug", "barge", "cutter", "dinghy", "trawler")


def stories(host: str, subjects: Iterable[str]) -> list[Response]:
    return [story(host, subject, subject) for subject in subjects]


@dataclass(frozen=True)
class Ran:
    """Two archives, and an output that a run with sites.enabled has filled."""

    archives: str
    output: Path
    words: str

    def rows(self, spark: SparkSession, table: str = "extractions") -> list[Row]:
        return rows_of(spark, self.output, table)


def rows_of(spark: SparkSession, output: Path, table: str) -> list[Row]:
    made = [row.asDict(recursive=True) for row in Tables(spark, str(output)).read(table).collect()]
    return sorted(made, key=lambda row: json.dumps(row, sort_keys=True, default=str))


@pytest.fixture(scope="module")
def ran(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("sites")
    first = [
        *stories("a.org", SUBJECTS[:3]),
        *stories("lonely.org", SUBJECTS[:1]),
        ("http://a.org/empty", b"<html></html>"),
    ]
    write_warc(folder / "1.warc", first)
    write_warc(folder / "2.warc", [*stories("a.org", SUBJECTS[3:]), *stories("b.org", SUBJECTS[:2])])
    outcome = run(spark, f"{folder}/*.warc", str(folder / "out"), SETTINGS)
    assert (outcome.complaints, outcome.totals.files) == ((), 2)
    return Ran(f"{folder}/*.warc", folder / "out", summary(outcome, "out"))


@pytest.fixture
def again(ran: Ran, tmp_path: Path) -> Ran:
    """A copy, to go on from."""
    return Ran(ran.archives, shutil.copytree(ran.output, tmp_path / "out"), ran.words)


@dataclass(frozen=True)
class Known:
    """What one process without Spark knows of the pages."""

    pages: dict[str, tuple[str, PageBlocks, Labels]]
    """By page_id: host, what it keeps, labels."""

    @classmethod
    def of(cls, archives: str) -> "Known":
        labeler = load_labeler("cpu")
        found = {}
        for file in sorted(Path(archives).parent.glob("*.warc")):
            for record in read_records(str(file)):
                page = preprocess(record.payload.decode())
                if page.blocks:
                    labels = labeler.label([page])[0]
                    found[record.page_id] = (host_name(record.url) or "", remember(page, labels), labels)
        return cls(found)

    def site(self, host: str, only: Collection[str] | None = None) -> SiteStatistics:
        """The sums of a host. only: pages that are counted."""
        return SiteStatistics.of(
            page for page_id, (at, page, _) in self.pages.items() if at == host and (only is None or page_id in only)
        )


def with_spread_page_ids(known: Known) -> tuple[Known, dict[str, str]]:
    """Give pages other ids, so that a bound of two of three pages counts two.

    The ids of real pages go by the folder of the test, which a sample would go by, too.

    Returns:
        What is known by the new ids, and the new ids by the old ones.
    """
    new_ids, pages = {}, {}
    of_host: Counter[str] = Counter()
    for page_id, (host, page, labels) in known.pages.items():
        place = (0x10000000, 0x80000000, 0xF0000000)[of_host[host] % 3]
        of_host[host] += 1
        new_ids[page_id] = f"{place:08x}{page_id[8:]}"
        pages[new_ids[page_id]] = (host, page, labels)
    return Known(pages), new_ids


def sums_of(rows: Iterable[Row], host: str) -> SiteStatistics:
    """Add up rows of `site_blocks`, over batches."""
    site = SiteStatistics()
    for row in rows:
        if row["host"] == host:
            path = {row["fingerprint"]: PathSum(row["pages"], row["words"], row["log_odds"])}
            text = {row["fingerprint"]: row["pages"]}
            is_page = row["kind"] == "page"
            site.add(
                SiteStatistics(
                    row["pages"] * is_page,
                    row["log_odds"] * is_page,
                    path if row["kind"] == "path" else {},
                    text if row["kind"] == "text" else {},
                )
            )
    return site


def test_every_page_is_labelled_by_what_its_host_knows(spark: SparkSession, ran: Ran) -> None:
    known = Known.of(ran.archives)
    sums = ran.rows(spark, "site_blocks")
    for host in ("a.org", "b.org", "lonely.org"):
        assert sums_of(sums, host) == known.site(host)
    rows = {row["page_id"]: row for row in ran.rows(spark)}
    assert len(rows) == 10
    changed = 0
    for page_id, (host, page, labels) in known.pages.items():
        again = relabel(page, labels, known.site(host))
        row = rows[page_id]
        assert (row["n_main"], row["confidence"]) == (again.main.sum(), round(again.confidence, 4))
        is_changed = again is not labels
        changed += is_changed
        assert row["method"] == ("cpu:with_site" if is_changed else "cpu")
        assert row["versions"]["labeler_version"].endswith(",sites=2") == is_changed
        assert (REPEATED in row["markdown"]) != is_changed
    assert changed == 6
    assert "sites     8 pages of hosts with others, labels of 6 changed by them" in ran.words
    assert "rows      10 = 9 extractions + 1 error rows" in ran.words
    assert ran.rows(spark, "blocks") == []


def test_pages_of_hosts_that_know_nothing_are_as_without(spark: SparkSession, ran: Ran) -> None:
    extractor = Extractor()
    rows = {row["page_id"]: row for row in ran.rows(spark)}
    compared = 0
    for file in sorted(Path(ran.archives).parent.glob("*.warc")):
        for record in read_records(str(file)):
            row = rows[record.page_id]
            if row["method"] == "cpu":
                columns = extraction_columns(extractor.extract(record.payload, record.url, record.content_type))
                assert {name: row[name] for name in columns} == columns
                assert row["versions"]["labeler_version"] == extractor.labeler.version
                compared += 1
    assert compared == 3


def test_pages_of_one_template_have_one_layout(spark: SparkSession, ran: Ran) -> None:
    rows = [row for row in ran.rows(spark) if row["error_code"] is None]
    layouts = {row["host"]: {each["layout_id"] for each in rows if each["host"] == row["host"]} for row in rows}
    assert all(len(of_host) == 1 for of_host in layouts.values())
    told = [(row["batch"], row["host"], row["pages"], row["layout_id"]) for row in ran.rows(spark, "layouts")]
    (a_org,), (b_org,) = layouts["a.org"], layouts["b.org"]
    assert sorted(told) == [(1, "a.org", 3, a_org), (2, "a.org", 3, a_org), (2, "b.org", 2, b_org)]
    assert {row["layout_id"] for row in ran.rows(spark) if row["error_code"]} == {None}


@pytest.mark.slow
def test_a_run_that_is_killed_between_its_commits_writes_the_same_rows(
    spark: SparkSession, ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the labels are written, and before the ledger knows."""
    output = tmp_path / "out"
    assert run_stages(spark, ["preprocess"], str(output), SETTINGS, ran.archives).complaints == ()
    with monkeypatch.context() as patch:
        patch.setattr("dripper.spark.sites.stage.layouts_of", killed)
        first = run_stages(spark, ["label"], str(output), SETTINGS)
    assert (first.exit_code, first.ledger["preprocessed"], len(rows_of(spark, output, "labels"))) == (3, 2, 8)
    outcome = run(spark, ran.archives, str(output), SETTINGS)
    assert (outcome.complaints, outcome.totals.files, outcome.ledger["pages"]) == ((), 0, 10)
    for table in ("extractions", "labels", "site_blocks", "layouts"):
        assert rows_of(spark, output, table) == ran.rows(spark, table)


@pytest.mark.slow
def test_a_file_that_is_read_again_counts_once(spark: SparkSession, again: Ran) -> None:
    before = {row["page_id"]: row for row in again.rows(spark)}
    outcome = run(spark, again.archives, str(again.output), SETTINGS, redo=f"{Path(again.archives).parent}/1.warc")
    assert (outcome.complaints, outcome.totals.files) == ((), 1)
    after = {row["page_id"]: row for row in again.rows(spark)}
    for row in (*before.values(), *after.values()):
        del row["batch"]
    assert after == before
    sums = again.rows(spark, "site_blocks")
    assert {row["batch"] for row in sums} == {2, 3}
    assert sums_of(sums, "a.org") == Known.of(again.archives).site("a.org")
    assert {(row["batch"], row["host"], row["pages"]) for row in again.rows(spark, "layouts")} == {
        (2, "a.org", 3), (2, "b.org", 2), (3, "a.org", 3)
    }  # fmt: skip


def test_of_a_host_of_many_pages_a_sample_is_counted(spark: SparkSession, ran: Ran) -> None:
    """The bounds: fewer pages of a host than it has, fewer texts and paths than there are."""
    bounds = Bounds(pages=2, fingerprints=3)
    known, new_ids = with_spread_page_ids(Known.of(ran.archives))
    pages = select_remembered(Tables(spark, str(ran.output)).read("pages")).replace(new_ids, subset="page_id")
    counted = {
        page_id for page_id, (host, *_) in known.pages.items() if host == "a.org" and is_counted(page_id, 3, bounds)
    }
    assert len(counted) == 4
    sums = site_sums(pages, bounds).persist()
    rows = [row.asDict() for row in sums.collect()]
    of_a = [row for row in rows if row["host"] == "a.org"]
    assert sums_of(of_a, "a.org").pages == len(counted)
    assert sum(row["words"] for row in of_a if row["kind"] == "page") == 6
    whole = known.site("a.org", only=counted)
    kept = sums_of(of_a, "a.org")
    assert kept.confidence == whole.confidence
    for batch in (1, 2):
        for kind in ("path", "text"):
            assert len([row for row in of_a if (row["batch"], row["kind"]) == (batch, kind)]) <= 3
    labels = site_labels(pages, sums, [1, 2], bounds=bounds).collect()
    assert len(labels) == 8
    for row in labels:
        host, page, before = known.pages[row["page_id"]]
        batch = row["batch"]
        n_pages = {"a.org": 3, "b.org": 2}[host]
        of_batch = {
            (each["kind"], each["fingerprint"]) for each in rows if (each["host"], each["batch"]) == (host, batch)
        }
        mine = sum_counted(page, of_batch if is_counted(row["page_id"], n_pages, bounds) else set())
        expected = relabel(page, before, sums_of(rows, host), mine)
        assert (row["main"], row["confidence"]) == (expected.main.tolist(), expected.confidence)


@pytest.mark.slow
def test_batches_that_were_preprocessed_otherwise_are_told(spark: SparkSession, tmp_path: Path) -> None:
    archive = str(write_warc(tmp_path / "a.warc", stories("a.org", SUBJECTS[:1])))
    run_stages(spark, ["preprocess"], str(tmp_path / "out"), load(assignments=["labeler.name=all"]), archive)
    outcome = run_stages(spark, ["label"], str(tmp_path / "out"), SETTINGS)
    assert outcome.exit_code == 3
    assert "a batch was preprocessed without sites.enabled" in outcome.complaints[0]


def test_what_cannot_be_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    archive = str(write_warc(tmp_path / "a.warc", stories("a.org", SUBJECTS[:1])))
    for words, assignments in (
        ("labeler.staged=false forbids it", ["labeler.staged=false"]),
        ("sites.enabled is for one labeler, or for two", ["labeler.name=cpu,web2text,all"]),
        ("labeler.escalate_share is for chains without", ["labeler.name=cpu,all", "labeler.escalate_share=0.1"]),
        ("the labeler trafilatura reads whole pages", ["labeler.name=cpu,trafilatura"]),
        ("goes by probabilities and a confidence", ["labeler.name=all"]),
    ):
        with pytest.raises(SettingsError, match=words):
            run(spark, archive, str(tmp_path / "out"), load(assignments=["sites.enabled=true", *assignments]))
    assert not (tmp_path / "out").exists()
