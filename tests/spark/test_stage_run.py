"""The staged run on real WARC files and real Delta: the rows of the fused job, and every page
accounted for."""

from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.errors import InputError, SettingsError
from dripper.labels.config import load
from dripper.page.extraction import Extractor
from dripper.page.rows import extraction_columns
from dripper.spark.reports.report import summary
from dripper.spark.run.label_stage import check_profiles
from dripper.spark.run.run import run, run_stages
from dripper.spark.tables.store import Tables
from dripper.warc import read_records
from support.stage_labelers import (
    HashLabeler,
    load_dead,
    load_hash,
    load_poisoned,
    load_warning,
    load_writing,
)
from support.staged_runs import POISON, SHORT, STAGED, Preprocessed, read, rows_of
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


def test_what_the_labeler_warns_of_stands_in_the_last_lines(
    spark: SparkSession, preprocessed: Preprocessed, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, for any number of engines and batches of pages; it does not leave work undone."""
    settings = STAGED.model_copy(update={"stages": STAGED.stages.model_copy(update={"commit_pages": 20, "engines": 2})})
    outcome = run_stages(spark, ["label"], str(preprocessed.output), settings, loader=load_warning)
    assert (outcome.exit_code, outcome.complaints) == (0, ())
    (warning,) = outcome.totals.label.warnings
    assert warning.endswith("another salt fits <better>")
    assert f"WARNING: {warning}\n" in summary(outcome, "out")
    assert warning in caplog.messages
    (run_row,) = read(spark, preprocessed.output, "runs").where("job = 'label'").collect()
    assert run_row["complaints"] == [warning]


def test_all_stages_give_the_rows_of_the_fused_job(spark: SparkSession, sample: Path, tmp_path: Path) -> None:
    """The labeler `all` runs both ways: every column except the ones that name it."""
    fused = run(spark, str(sample), str(tmp_path / "fused"), load(assignments=["labeler.name=all"]))
    staged = run(spark, str(sample), str(tmp_path / "staged"), STAGED)
    assert (fused.complaints, staged.complaints) == ((), ())
    first, second = rows_of(spark, tmp_path / "fused"), rows_of(spark, tmp_path / "staged")
    for row in (*first.values(), *second.values()):
        del row["versions"]
    assert first == second
    assert fused.ledger == staged.ledger
    words = summary(staged, "out")
    assert f"blocks    {staged.totals.pages} pages = " in words
    assert "NOT DONE" not in words


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["cpu", "trafilatura"])
def test_the_shared_archives_with_labels_by_hash(
    spark: SparkSession, shared: Path, archives: Path, tmp_path: Path, fallback: str
) -> None:
    """Every third of 130 good and broken files, compared with one process without Spark."""
    settings = load(assignments=["labeler.staged=true", "labeler.name=all", f"labeler.fallback={fallback}"])
    files = ",".join(sorted(str(file) for file in archives.rglob("*arc*") if file.is_file())[::3])
    outcome = run(spark, files, str(tmp_path), settings, loader=load_hash)
    assert outcome.complaints == ()
    staged = rows_of(spark, tmp_path)
    assert outcome.ledger["pages"] == len(staged) > 80
    assert outcome.totals.fallback_pages > 5
    extractor = Extractor(settings, HashLabeler())
    compared = 0
    for file in sorted({str(row["warc_file"]) for row in staged.values()}):
        for record in read_records(file, settings.reading):
            row = staged[record.page_id]
            if record.error_code is not None:
                assert row["error_code"] == record.error_code.value
                continue
            expected = extractor.extract(record.payload, record.url, record.content_type)
            columns = extraction_columns(expected) | {"charset": expected.charset, "url": record.url}
            assert {name: row[name] for name in columns} == columns
            compared += 1
    assert compared > 80


def test_blocks_of_a_profile_that_the_checkpoint_does_not_read_are_refused(
    spark: SparkSession, preprocessed: Preprocessed
) -> None:
    """Before an engine starts, and before the archives of a whole run are read."""
    asked = ["labeler.name=lm", "labels.lm.model=opendatalab/MinerU-HTML-v1.1-hunyuan0.5B-compact"]
    with pytest.raises(
        SettingsError, match=r"of profile dripper, and the checkpoint of the labeler lm reads mineru-1\.1"
    ):
        run_stages(spark, ["label"], str(preprocessed.output), load(assignments=asked), loader=load_dead)
    with pytest.raises(SettingsError, match=r"preprocess with --set profile=mineru-1\.1 into another output"):
        run(spark, preprocessed.archive, str(preprocessed.output / "new"), load(assignments=asked), loader=load_dead)
    assert not (preprocessed.output / "new").exists()
    check_profiles(Tables(spark, str(preprocessed.output)), [1], load(assignments=[*asked, "labels.lm.prompt=own"]))


@pytest.mark.slow
def test_each_stage_by_itself_takes_what_the_one_before_left(spark: SparkSession, tmp_path: Path) -> None:
    for i in range(2):
        write_warc(tmp_path / f"{i}.warc", [*pages(10 * i, 2), (f"http://example.org/empty/{i}", b"<html></html>")])
    output, settings = str(tmp_path / "out"), load(assignments=["batch.files=1", "labeler.name=all"])
    first = run_stages(spark, ["preprocess"], output, settings, str(tmp_path))
    assert (first.complaints, first.totals.pages, first.totals.blocks) == ((), 6, 4)
    assert first.ledger["preprocessed"] == 2
    second = run_stages(spark, ["label"], output, settings, limit=1, loader=load_hash)
    assert (second.complaints, second.totals.label.pages, second.plan.n_left) == ((), 2, 1)
    third = run_stages(spark, ["extract"], output, settings)
    assert (third.complaints, third.totals.rows, third.totals.failed_pages) == ((), 3, 1)
    assert (third.ledger["done"], third.ledger["preprocessed"]) == (1, 1)
    again = run_stages(spark, ["preprocess"], output, settings, str(tmp_path))
    assert again.totals.files == 0
    assert "nothing to do" in summary(again, output)
    rest = run(
        spark, str(tmp_path), output, load(assignments=["labeler.staged=true", "batch.files=1"]), loader=load_hash
    )
    assert (rest.complaints, rest.totals.files, rest.totals.rows) == ((), 0, 3)
    assert len(rows_of(spark, tmp_path / "out")) == rest.ledger["pages"] == 6
    for table, n_rows in {"pages": 6, "blocks": 4, "labels": 4, "extractions": 6}.items():
        ids = [row["page_id"] for row in read(spark, tmp_path / "out", table).collect()]
        assert len(ids) == len(set(ids)) == n_rows


@pytest.mark.slow
def test_pages_that_the_labeler_fails_on_go_to_the_fallback(spark: SparkSession, preprocessed: Preprocessed) -> None:
    output = str(preprocessed.output)
    labelled = run_stages(spark, ["label"], output, STAGED, loader=load_poisoned)
    assert (labelled.complaints, labelled.totals.label.pages, labelled.totals.label.failed) == ((), 7, 2)
    assert "without usable labels" in summary(labelled, "out")
    labels = {
        row["error_detail"] for row in rows_of(spark, preprocessed.output, "labels").values() if row["error_code"]
    }
    assert labels == {"RuntimeError: cannot read this", "1 labels for 2 blocks"}
    assert run_stages(spark, ["extract"], output, STAGED).complaints == ()
    rows = {row["url"]: row for row in rows_of(spark, preprocessed.output).values()}
    assert (rows[POISON[0]]["method"], rows[POISON[0]]["markdown"]) == ("fallback:body", "this is poison\n\nand more\n")
    assert rows[SHORT[0]]["method"] == "fallback:body"


@pytest.mark.slow
def test_an_engine_that_never_works_ends_the_stage_and_says_so(spark: SparkSession, preprocessed: Preprocessed) -> None:
    """There must not be an error row for every page of the crawl. The next run does the rest of the
    work."""
    archive, output = preprocessed.archive, str(preprocessed.output)
    outcome = run(spark, archive, output, STAGED, loader=load_dead)
    assert len(outcome.complaints) == 1
    assert "the labeler dead fails on every page" in outcome.complaints[0]
    assert "RuntimeError: no GPU here" in outcome.complaints[0]
    assert outcome.ledger["preprocessed"] == 1
    again = run(spark, archive, output, STAGED, loader=load_hash)
    assert (again.complaints, again.totals.files, again.totals.rows) == ((), 0, 7)


@pytest.mark.slow
def test_an_engine_starts_once_a_worker(spark: SparkSession, tmp_path: Path) -> None:
    """Four batches concurrent with the other stages, one engine: it outlives tasks and batches, and
    no other stage gets its worker."""
    for i in range(4):
        write_warc(tmp_path / f"{i}.warc", pages(10 * i, 2))
    settings = load(
        assignments=[
            "batch.files=1",
            "labeler.staged=true",
            "labeler.fallback=body",
            f"labels.lm.model={tmp_path}/log",
        ]
    )
    outcome = run(spark, str(tmp_path), str(tmp_path / "out"), settings, loader=load_writing)
    assert outcome.complaints == ()
    events = [(what, float(when)) for what, when in map(str.split, (tmp_path / "log").read_text().splitlines())]
    assert [what for what, _ in events].count("labelled") == 4
    # The first start is the driver's check before the run, the second the worker's.
    assert [what for what, _ in events[:3]] == ["started", "started", "labelled"]
    for (_, before), (what, when) in pairwise(events[2:]):
        # On a machine that takes its time: Spark ends a worker that was idle for a minute.
        assert what == "labelled" or when - before > 50
    assert "DRIPPER_STAGE" not in spark.sparkContext.environment


@pytest.mark.parametrize("name", ["cpu", "cpu,web2text"])
def test_a_chain_that_no_stage_can_label_is_refused_before_pages_are_read(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    write_warc(tmp_path / "a.warc", pages(1, 1))
    settings = load(assignments=[f"labeler.name={name}"])
    with pytest.raises(SettingsError, match=f"the labeler {name.split(',')[-1]} reads whole pages"):
        run_stages(spark, ["preprocess"], str(tmp_path / "out"), settings, str(tmp_path / "a.warc"))
    assert not (tmp_path / "out").exists()


def test_another_chain_than_was_preprocessed_is_one_sentence(spark: SparkSession, preprocessed: Preprocessed) -> None:
    chain = load(assignments=["labeler.name=cpu,all", "labeler.staged=true"])
    words = "batch 1 was preprocessed for labeler.name=all, and this run would label it for labeler.name=cpu,all: name the same"
    with pytest.raises(SettingsError, match=words):
        run_stages(spark, ["label"], str(preprocessed.output), chain, loader=load_hash)


def test_labelers_of_whole_pages_cannot_run_staged(spark: SparkSession, tmp_path: Path) -> None:
    write_warc(tmp_path / "a.warc", pages(1, 1))
    with pytest.raises(SettingsError, match="the labeler cpu reads whole pages"):
        run(spark, str(tmp_path / "a.warc"), str(tmp_path / "out"), load(assignments=["labeler.staged=true"]))
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_not_there_is_one_sentence_of_the_batch(
    spark: SparkSession, preprocessed: Preprocessed, tmp_path: Path
) -> None:
    """The driver cannot know: the folder may be only on the machines with GPUs."""
    nowhere = load(assignments=["labeler.name=lm", f"labels.lm.model={tmp_path}/nowhere"])
    outcome = run_stages(spark, ["label"], str(preprocessed.output), nowhere)
    assert outcome.ledger["preprocessed"] == 1
    assert len(outcome.complaints) == 1
    assert f"labels.lm.model={tmp_path}/nowhere: there is no such folder" in outcome.complaints[0]
    assert "\n" not in outcome.complaints[0]


def test_an_engine_in_the_fused_job_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    settings = load(assignments=["labeler.name=lm", "labeler.staged=false", "labels.lm.model=x"])
    with pytest.raises(SettingsError, match=r"or set labels\.lm\.endpoint to a server"):
        run(spark, str(tmp_path), str(tmp_path / "out"), settings)


def test_a_stage_without_the_one_before_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run jobs/preprocess\.py into the same output first"):
        run_stages(spark, ["label"], str(tmp_path), STAGED, loader=load_hash)
