"""Chains of labelers in Spark: the pages that the first is not sure of, and no others, reach the
stage of the next."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from dripper.errors import SettingsError
from dripper.labels.config import load
from dripper.page.extraction import Extractor
from dripper.settings import LabelerSettings, Settings
from dripper.spark.reports.report import summary
from dripper.spark.run.run import run, run_stages
from dripper.spark.tables.store import Tables
from dripper.spark.workers.routing import with_escalated
from dripper.warc import read_records
from support.stage_labelers import load_draft, load_poisoned
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


def rows_of(spark: SparkSession, output: Path, table: str = "extractions") -> dict[str, dict[str, object]]:
    return {row["page_id"]: row.asDict(recursive=True) for row in Tables(spark, str(output)).read(table).collect()}


def chosen(pages: DataFrame, **settings: float) -> set[str]:
    rows = with_escalated(pages, LabelerSettings.model_validate(settings)).collect()
    assert all(row["escalated"] is None for row in rows if row["simplified_html"] is None)
    return {row["page_id"] for row in rows if row["escalated"]}


def test_the_least_sure_share_is_the_same_however_the_pages_lie(spark: SparkSession) -> None:
    sure = [0.9, 0.9, 0.31235, 0.31231, None, 0.31235, 1.0, 0.2]
    rows = [(f"p{i}", "html", None if one is None else (one,)) for i, one in enumerate(sure)]
    schema = "page_id string, simplified_html string, first_labels struct<confidence:double>"
    made = spark.createDataFrame([*rows, ("none", None, None)], schema)
    expected = ["p4", "p7", "p3", "p2", "p5", "p0", "p1", "p6"]
    for n in (0, 1, 2, 4, 7, 8):
        assert chosen(made.repartition(3), escalate_share=n / 8 or 0.05) == set(expected[:n])
    assert chosen(made, escalate_below=0.3124) == {"p2", "p3", "p4", "p5", "p7"}
    assert chosen(made, escalate_below=0.0) == {"p4"}


@pytest.mark.draw("chain")
def test_the_least_sure_quarter_goes_on_and_every_page_is_one_row(
    spark: SparkSession, sample: Path, tmp_path: Path
) -> None:
    chain = ["labeler.name=cpu,all", "labeler.staged=true", "labeler.escalate_share=0.25"]
    settings, archive = load(assignments=chain), str(sample / "kinds.warc.gz")
    outcome = run(spark, archive, str(tmp_path), settings)
    assert outcome.complaints == ()
    rows = rows_of(spark, tmp_path)
    alone = {name: Extractor(Settings(labeler=LabelerSettings(name=name))) for name in ("cpu", "all")}
    both = {
        record.page_id: {
            name: extractor.extract(record.payload, record.url, record.content_type)
            for name, extractor in alone.items()
        }
        for record in read_records(archive)
    }
    order = sorted(both, key=lambda page_id: (both[page_id]["cpu"].confidence, page_id))
    unsure = order[: round(len(order) / 4)]
    assert set(rows_of(spark, tmp_path, "blocks")) == set(unsure) == set(rows_of(spark, tmp_path, "labels"))
    for page_id, row in rows.items():
        name = "all" if page_id in unsure else "cpu"
        expected = both[page_id][name]
        assert (row["method"], row["markdown"]) == (name, expected.markdown)
        assert (row["n_main"], row["confidence"]) == (expected.n_main, expected.confidence)
        assert row["versions"]["labeler"] == name  # type: ignore[index]
        assert row["versions"]["labeler_version"] == alone[name].labeler.version  # type: ignore[index]
    assert set(rows) == set(order)
    words = summary(outcome, "out")
    sure = len(order) - len(unsure)
    share = f"({len(unsure) / len(order):.1%})"
    assert f"chain     {sure} pages stay with the first labeler + {len(unsure)} {share} go on to the next" in words
    assert f"decided   {sure} by cpu, {len(unsure)} by all" in words


@pytest.mark.draw("chain")
def test_where_the_next_labeler_fails_the_first_one_decides(spark: SparkSession, tmp_path: Path) -> None:
    """Stage by stage, and the last one gets no labeler. Pages that the first is sure of never reach
    the next one."""
    poison = ("http://example.org/poison", b"<p>this is poison<p>and more")
    archive = str(write_warc(tmp_path / "a.warc", [*pages(1, 3), poison, ("http://example.org/e", b"<html></html>")]))
    chain = ["labeler.name=cpu,all", "labeler.staged=true", "labeler.escalate_below=1"]
    output, settings = str(tmp_path / "out"), load(assignments=chain)
    run_stages(spark, ["preprocess"], output, settings, archive)
    label = run_stages(spark, ["label"], output, settings, loader=load_poisoned)
    assert (label.complaints, label.totals.label.pages, label.totals.label.failed) == ((), 4, 1)
    outcome = run_stages(spark, ["extract"], output, load())
    assert (outcome.complaints, outcome.totals.rows, outcome.totals.failed_pages) == ((), 5, 1)
    methods = {row["url"]: row["method"] for row in rows_of(spark, tmp_path / "out").values()}
    assert methods.pop(poison[0]) == "cpu:instead_of_poisoned"
    assert methods.pop("http://example.org/e") is None
    assert set(methods.values()) <= {"poisoned", "cpu:instead_of_poisoned"}
    none = run(spark, archive, str(tmp_path / "none"), load(assignments=[*chain[:2], "labeler.escalate_below=0"]))
    assert (none.complaints, none.totals.escalated, none.totals.label.pages) == ((), 0, 0)
    assert none.totals.methods == {"cpu": 4}


@pytest.mark.draw("chain")
def test_the_next_labeler_gets_the_labels_of_the_first_as_a_draft(spark: SparkSession, tmp_path: Path) -> None:
    archive = str(write_warc(tmp_path / "a.warc", pages(1, 3)))
    chain = ["labeler.name=cpu,all", "labeler.staged=true", "labeler.escalate_below=1"]
    output, settings = str(tmp_path / "out"), load(assignments=chain)
    run_stages(spark, ["preprocess"], output, settings, archive)
    assert run_stages(spark, ["label"], output, settings, loader=load_draft).totals.label.failed == 0
    stored = {table: rows_of(spark, tmp_path / "out", table) for table in ("pages", "blocks", "labels")}
    first = {page: row["first_labels"] for page, row in stored["pages"].items()}
    assert len(first) == 3
    assert {page: row["first_labels"] for page, row in stored["blocks"].items()} == first
    for page, row in stored["labels"].items():
        expected: dict[str, object] = first[page]  # type: ignore[assignment]
        assert row["main"] == [not main for main in expected["main"]]  # type: ignore[attr-defined]
        assert {name: row[name] for name in ("probability", "confidence", "page_kind")} == {
            name: expected[name] for name in ("probability", "confidence", "page_kind")
        }
    alone = load(assignments=["labeler.name=all", "labeler.staged=true"])
    run_stages(spark, ["preprocess"], str(tmp_path / "alone"), alone, archive)
    assert {row["first_labels"] for row in rows_of(spark, tmp_path / "alone", "blocks").values()} == {None}


@pytest.mark.draw("chain")
def test_a_chain_in_one_pass(spark: SparkSession, tmp_path: Path) -> None:
    archive = str(write_warc(tmp_path / "a.warc", pages(1, 3)))
    outcome = run(
        spark, archive, str(tmp_path / "out"), load(assignments=["labeler.name=cpu,all", "labeler.escalate_below=1"])
    )
    assert (outcome.complaints, outcome.totals.methods) == ((), {"all": 3})
    assert {row["versions"]["labeler"] for row in rows_of(spark, tmp_path / "out").values()} == {"cpu,all"}  # type: ignore[index]


def test_chains_that_cannot_run_are_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    archive = str(write_warc(tmp_path / "a.warc", pages(1, 1)))
    for words, assignments in (
        ("the labeler trafilatura reads whole pages", ["labeler.name=cpu,trafilatura", "labeler.staged=true"]),
        ("only a staged run of two labelers does", ["labeler.name=cpu,all", "labeler.escalate_share=0.1"]),
        ("does not say how sure it is", ["labeler.name=all,cpu"]),
    ):
        with pytest.raises(SettingsError, match=words):
            run(spark, archive, str(tmp_path / "out"), load(assignments=assignments))
    assert not (tmp_path / "out").exists()
