"""The staged run on real WARC files and real Delta: the rows of the fused job, and every page
accounted for."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from dripper.config import Settings, load
from dripper.errors import InputError, SettingsError
from dripper.page.extraction import Extractor
from dripper.page.rows import extraction_columns
from dripper.spark.reports.report import summary
from dripper.spark.run.outcome import Outcome
from dripper.spark.run.run import run, run_stages
from dripper.spark.run.staged import STAGES
from dripper.spark.tables.store import Tables
from dripper.warc import read_records
from support.killing import killed
from support.stage_labelers import (
    HashLabeler,
    load_dead,
    load_hanging,
    load_hash,
    load_poisoned,
    load_warning,
    load_writing,
)
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark

STAGED = load(assignments=["labeler.staged=true", "labeler.name=all", "labeler.fallback=body"])


def read(spark: SparkSession, output: Path, table: str = "extractions") -> DataFrame:
    return Tables(spark, str(output)).read(table)


def rows_of(spark: SparkSession, output: Path, table: str = "extractions") -> dict[str, dict[str, object]]:
    return {row["page_id"]: row.asDict(recursive=True) for row in read(spark, output, table).collect()}


POISON = ("http://example.org/poison", b"<p>this is poison<p>and more")
SHORT = ("http://example.org/short", b"<p>this is short<p>and more")


@dataclass(frozen=True)
class Preprocessed:
    """An archive of seven pages, and an output that its stage `preprocess` has filled."""

    archive: str
    output: Path


@pytest.fixture(scope="module")
def template(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Preprocessed:
    folder = tmp_path_factory.mktemp("preprocessed")
    archive = str(write_warc(folder / "a.warc", [*pages(1, 3), POISON, *pages(4, 2), SHORT]))
    run_stages(spark, ["preprocess"], str(folder / "out"), STAGED, archive)
    return Preprocessed(archive, folder / "out")


@pytest.fixture
def preprocessed(template: Preprocessed, tmp_path: Path) -> Preprocessed:
    """A copy, to go on from: a test of the stages after `preprocess` need not wait for it."""
    return Preprocessed(template.archive, shutil.copytree(template.output, tmp_path / "out"))


def test_what_the_labeler_warns_of_stands_in_the_last_lines(
    spark: SparkSession, preprocessed: Preprocessed, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, however many engines and batches of pages said it; no work is left for it."""
    settings = STAGED.model_copy(update={"stages": STAGED.stages.model_copy(update={"batch_pages": 2, "engines": 2})})
    outcome = run_stages(spark, ["label"], str(preprocessed.output), settings, loader=load_warning)
    assert (outcome.exit_code, outcome.complaints) == (0, ())
    (warning,) = outcome.totals.label.warnings
    assert warning.endswith("another salt fits <better>")
    assert f"WARNING: {warning}\n" in summary(outcome, "out")
    assert warning in caplog.messages
    (run_row,) = read(spark, preprocessed.output, "runs").where("job = 'label'").collect()
    assert run_row["complaints"] == [warning]


def test_all_stages_give_the_rows_of_the_fused_job(spark: SparkSession, sample: Path, tmp_path: Path) -> None:
    """The labeler `all` runs both ways: every column but what names it."""
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
    """Every third of 130 good and broken files, beside one process without Spark."""
    settings = load(assignments=["labeler.staged=true", "labeler.name=all", f"labeler.fallback={fallback}"])
    files = ",".join(sorted(str(file) for file in archives.rglob("*arc*") if file.is_file())[::3])
    outcome = run(spark, files, str(tmp_path), settings, loader=load_hash)
    assert outcome.complaints == ()
    staged = rows_of(spark, tmp_path)
    assert outcome.ledger["pages"] == len(staged) > 80
    assert outcome.totals.fallback_pages > 5
    extractor = Extractor(settings.labeler, labeler=HashLabeler())
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
    told = run_stages(
        spark,
        ["label"],
        str(preprocessed.output),
        load(assignments=[*asked, "labels.lm.profile=any"]),
        loader=load_hash,
    )
    assert told.totals.label.pages == 7


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
def test_every_stage_killed_after_its_rows_is_done_again_with_the_same_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kill falls where it hurts most: the rows are committed, the ledger does not know."""
    archive = str(write_warc(tmp_path / "a.warc", pages(1, 3)))
    output = tmp_path / "out"

    for stage, table in zip(STAGES, ("blocks", "labels", "extractions"), strict=True):
        warcs = archive if stage == "preprocess" else None
        with monkeypatch.context() as patch:
            patch.setattr("dripper.spark.ledger.ledger.Ledger.finish", killed)
            outcome = run_stages(spark, [stage], str(output), STAGED, warcs, loader=load_hash)
        assert ["RuntimeError: killed" in words for words in outcome.complaints] == [True]
        assert "run the same command again" in outcome.complaints[0]
        left = rows_of(spark, output, table)
        again = run_stages(spark, [stage], str(output), STAGED, warcs, loader=load_hash)
        assert again.complaints == ()
        assert rows_of(spark, output, table) == left
        assert len(left) == again.ledger["pages"] == 3
    assert again.ledger["done"] == 1


def test_labels_that_were_committed_before_a_kill_are_kept(
    spark: SparkSession, preprocessed: Preprocessed, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = preprocessed.output
    few_a_commit = STAGED.model_copy(update={"stages": STAGED.stages.model_copy(update={"commit_pages": 2})})
    with monkeypatch.context() as patch:
        patch.setattr(Tables, "append", killed_for("labels", Tables.append))
        assert run_stages(spark, ["label"], str(output), few_a_commit, loader=load_hash).exit_code == 3
    committed = rows_of(spark, output, "labels")
    assert 0 < len(committed) < 7
    outcome = run_stages(spark, ["label"], str(output), few_a_commit, loader=load_hash)
    assert (outcome.complaints, outcome.totals.label.pages) == ((), 7 - len(committed))
    whole = rows_of(spark, output, "labels")
    assert (len(whole), committed.items() <= whole.items()) == (7, True)


@pytest.mark.slow
def test_labels_that_were_committed_before_a_kill_are_kept_while_they_answer_the_same_request(
    spark: SparkSession, preprocessed: Preprocessed, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, archive = preprocessed.output, preprocessed.archive
    few_a_commit = STAGED.model_copy(update={"stages": STAGED.stages.model_copy(update={"commit_pages": 2})})

    def label(settings: Settings = few_a_commit) -> tuple[Outcome, dict[str, dict[str, object]]]:
        return run_stages(spark, ["label"], str(output), settings, loader=load_hash), rows_of(spark, output, "labels")

    with monkeypatch.context() as patch:
        patch.setattr(Tables, "append", killed_for("labels", Tables.append))
        outcome, committed = label()
    assert "RuntimeError: killed" in outcome.complaints[0]
    assert 0 < len(committed) == outcome.totals.label.pages < 7
    # Rows of another kind have no claim to stay.
    first = min(committed)
    labels = Tables(spark, str(output))
    labels.change("labels", f"UPDATE {labels.sql_name('labels')} SET error_code = 'failed' WHERE page_id = '{first}'")
    with monkeypatch.context() as patch:
        patch.setattr("dripper.spark.ledger.ledger.Ledger.finish", killed)
        outcome, whole = label()
    assert outcome.totals.label.pages == 7 - len(committed) + 1
    assert len(whole) == 7
    assert {page_id: whole[page_id] for page_id in committed if page_id != first}.items() <= committed.items()

    other = STAGED.stages.model_copy(update={"commit_pages": 1})
    outcome, again = label(few_a_commit.model_copy(update={"stages": other}))
    assert (outcome.complaints, outcome.totals.label.pages, again) == ((), 0, whole)
    run_stages(spark, ["preprocess"], str(output), few_a_commit, redo=archive)
    outcome, anew = label()
    assert (outcome.totals.label.pages, outcome.ledger["labelled"]) == (7, 1)
    assert {row["request"] for row in anew.values()}.isdisjoint(row["request"] for row in whole.values())
    extracted = run_stages(spark, ["extract"], str(output), few_a_commit)
    assert (extracted.complaints, extracted.totals.rows) == ((), 7)


def killed_for(table: str, append: Callable[..., object]) -> Callable[..., object]:
    """Return what raises instead of appending to this table, once it has rows: which pages a commit
    has goes by their ids, and these by the folder of the test, so that the first may have none."""

    def killed_or_append(tables: Tables, to: str, *rest: object, **options: object) -> object:
        has_rows = to == table and not tables.read(to).isEmpty()
        return killed() if has_rows else append(tables, to, *rest, **options)

    return killed_or_append


@pytest.mark.slow
def test_pages_that_the_labeler_fails_on_go_to_the_fallback(spark: SparkSession, preprocessed: Preprocessed) -> None:
    """Not to Trafilatura, where the page as it was is not there: that were other blocks than in one
    pass, without a word."""
    output = str(preprocessed.output)
    labelled = run_stages(spark, ["label"], output, STAGED, loader=load_poisoned)
    assert (labelled.complaints, labelled.totals.label.pages, labelled.totals.label.failed) == ((), 7, 2)
    assert "without usable labels" in summary(labelled, "out")
    labels = {
        row["error_detail"] for row in rows_of(spark, preprocessed.output, "labels").values() if row["error_code"]
    }
    assert labels == {"RuntimeError: cannot read this", "1 labels for 2 blocks"}
    refused = run_stages(spark, ["extract"], output, load(assignments=["labeler.fallback=trafilatura"]))
    assert "set labeler.fallback to cpu, body or empty" in refused.complaints[0]
    assert refused.ledger["labelled"] == 1
    assert run_stages(spark, ["extract"], output, STAGED).complaints == ()
    rows = {row["url"]: row for row in rows_of(spark, preprocessed.output).values()}
    assert (rows[POISON[0]]["method"], rows[POISON[0]]["markdown"]) == ("fallback:body", "this is poison\n\nand more\n")
    assert rows[SHORT[0]]["method"] == "fallback:body"


@pytest.mark.slow
def test_an_engine_that_never_works_ends_the_stage_and_says_so(spark: SparkSession, preprocessed: Preprocessed) -> None:
    """Not: an error row for every page of the crawl. The next run ends what this one left."""
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
    """Four batches beside the other stages, one engine: it outlives tasks and batches, and no other
    stage gets its worker."""
    for i in range(4):
        write_warc(tmp_path / f"{i}.warc", pages(10 * i, 2))
    one_page_a_batch = ["batch.files=1", "stages.batch_pages=1"]
    settings = load(
        assignments=[
            *one_page_a_batch,
            "labeler.staged=true",
            "labeler.fallback=body",
            f"labels.lm.model={tmp_path}/log",
        ]
    )
    outcome = run(spark, str(tmp_path), str(tmp_path / "out"), settings, loader=load_writing)
    assert outcome.complaints == ()
    events = [(what, float(when)) for what, when in map(str.split, (tmp_path / "log").read_text().splitlines())]
    assert [what for what, _ in events].count("labelled") == 8
    # The first start is the driver's check before the run, the second the worker's.
    assert [what for what, _ in events[:3]] == ["started", "started", "labelled"]
    for (_, before), (what, when) in pairwise(events[2:]):
        # On a machine that takes its time: Spark ends a worker that was idle for a minute.
        assert what == "labelled" or when - before > 50
    assert "DRIPPER_STAGE" not in spark.sparkContext.environment


@pytest.mark.slow
def test_files_that_failed_are_read_again_and_leave_no_row_behind(spark: SparkSession, tmp_path: Path) -> None:
    write_warc(tmp_path / "a.warc", pages(1, 2))
    (tmp_path / "list").write_text(f"{tmp_path}/a.warc\n{tmp_path}/b.warc\n")
    output = tmp_path / "out"
    first = run(spark, f"@{tmp_path}/list", str(output), STAGED, loader=load_hash)
    assert first.exit_code == 4
    assert first.bad_inputs[0].startswith(f"1 file does not exist, {tmp_path}/b.warc")
    assert (first.ledger["done"], first.ledger["failed"]) == (1, 1)
    write_warc(tmp_path / "b.warc", pages(3, 2))
    second = run(spark, f"@{tmp_path}/list", str(output), STAGED, loader=load_hash)
    assert (second.complaints, second.totals.files) == ((), 1)
    assert [len(rows_of(spark, output, table)) for table in ("pages", "blocks", "labels", "extractions")] == [4] * 4


@pytest.mark.slow
def test_a_fused_run_finishes_what_a_staged_one_began(spark: SparkSession, preprocessed: Preprocessed) -> None:
    outcome = run(spark, preprocessed.archive, str(preprocessed.output), Settings())
    assert (outcome.complaints, outcome.ledger["done"], outcome.totals.rows) == ((), 1, 7)
    # Nothing is left for stages that will not come.
    assert [read(spark, preprocessed.output, table).count() for table in ("pages", "blocks", "labels")] == [0, 0, 0]


def test_rows_that_were_deleted_before_they_are_labelled_put_the_batch_back(
    spark: SparkSession, preprocessed: Preprocessed
) -> None:
    """Exit code 0 would say that they are there."""
    archive, output = preprocessed.archive, str(preprocessed.output)
    Tables(spark, output).delete("pages", "url LIKE '%/1'")
    label = run_stages(spark, ["label"], output, STAGED, loader=load_hash)
    assert (label.exit_code, label.ledger["planned"], label.totals.label.pages) == (3, 1, 0)
    lost = (
        f"batch 1 goes back to the stage preprocess: the table pages has 6 of the 7 pages that were read from {archive}"
    )
    assert label.complaints[0].startswith(lost)
    again = run_stages(spark, ["preprocess"], output, STAGED, archive, loader=load_hash)
    assert (again.exit_code, again.totals.pages, again.ledger["preprocessed"]) == (0, 7, 1)


@pytest.mark.slow
def test_rows_that_were_deleted_before_they_are_extracted_put_the_batch_back(
    spark: SparkSession, preprocessed: Preprocessed
) -> None:
    output, tables = str(preprocessed.output), Tables(spark, str(preprocessed.output))
    assert run_stages(spark, ["label"], output, STAGED, loader=load_hash).exit_code == 0
    lost = tables.read("labels").head()
    assert lost is not None
    tables.delete("labels", f"page_id = '{lost['page_id']}'")
    extract = run_stages(spark, ["extract"], output, STAGED)
    assert (extract.exit_code, extract.ledger["preprocessed"]) == (3, 1)
    assert extract.complaints[0].startswith("batch 1 goes back to the stage label: 7 pages went into the table labels")
    assert run_stages(spark, ["label"], output, STAGED, loader=load_hash).exit_code == 0
    tables.delete("pages", f"page_id = '{lost['page_id']}'")
    extract = run_stages(spark, ["extract"], output, STAGED)
    assert (extract.exit_code, extract.ledger["planned"], read(spark, preprocessed.output).count()) == (3, 1, 0)


@pytest.mark.parametrize(
    ("table", "stage"),
    [
        ("labels", "label"),
        pytest.param("blocks", "preprocess", marks=pytest.mark.slow),
        pytest.param("pages", "preprocess", marks=pytest.mark.slow),
    ],
)
def test_data_files_that_were_deleted_beneath_a_table_put_the_batch_back(
    spark: SparkSession, preprocessed: Preprocessed, table: str, stage: str
) -> None:
    """By a person, or a bucket's rule: the log still names them, and whoever reads them fails."""
    output, todo = preprocessed.output, ["label", "extract"]
    if table == "labels":
        run_stages(spark, todo[:1], str(output), STAGED, loader=load_hash)
        todo = todo[1:]
    shutil.rmtree(output / table / "batch=1")
    spark.catalog.clearCache()
    outcome = run_stages(spark, todo, str(output), STAGED, loader=load_hash)
    assert outcome.exit_code == 3
    assert outcome.complaints[0].startswith(f"batch 1 goes back to the stage {stage}: ")
    assert f" of the table {table}, deleted beneath it" in outcome.complaints[0]
    again = run_stages(spark, list(STAGES), str(output), STAGED, preprocessed.archive, loader=load_hash)
    assert again.complaints == ()
    assert len(rows_of(spark, output)) == 7


def test_an_engine_that_hangs_ends_its_worker_and_says_so(spark: SparkSession, preprocessed: Preprocessed) -> None:
    """Spark sees a crash, and tries again on a cluster; nothing would wait for ever."""
    settings = load(assignments=["labeler.name=all", "labeler.staged=true", "stages.stall_seconds=1"])
    outcome = run_stages(spark, ["label"], str(preprocessed.output), settings, loader=load_hanging)
    assert (outcome.exit_code, outcome.ledger["preprocessed"]) == (3, 1)
    assert "no progress for 1 s while the labeler all labels: this worker process ends itself" in outcome.complaints[0]


@pytest.mark.slow
def test_a_table_pages_that_was_dropped_is_not_taken_for_an_empty_one(
    spark: SparkSession, preprocessed: Preprocessed, tmp_path: Path
) -> None:
    other = write_warc(tmp_path / "b.warc", pages(20, 2))
    shutil.rmtree(preprocessed.output / "pages")
    first = run_stages(spark, ["preprocess"], str(preprocessed.output), STAGED, str(other), loader=load_hash)
    assert (first.exit_code, first.ledger["planned"], first.ledger["preprocessed"]) == (3, 1, 1)
    assert first.complaints[0].startswith("batch 1 goes back to the stage preprocess: the table pages is not there")
    both = f"{preprocessed.archive},{other}"
    second = run_stages(spark, ["preprocess"], str(preprocessed.output), STAGED, both, loader=load_hash)
    assert (second.exit_code, second.totals.pages, second.ledger["preprocessed"]) == (0, 7, 2)


def test_a_file_between_stages_is_read_again_when_somebody_asks(
    spark: SparkSession, preprocessed: Preprocessed
) -> None:
    again = run_stages(
        spark, ["preprocess"], str(preprocessed.output), STAGED, redo=preprocessed.archive, loader=load_hash
    )
    assert (again.exit_code, again.totals.files, again.ledger["preprocessed"]) == (0, 1, 1)
    assert read(spark, preprocessed.output, "pages").count() == 7


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
    """The driver cannot tell: the folder may be on the machines with GPUs only."""
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
