"""Staged runs that are killed, lose rows or begin again: every page is accounted for in the end."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.settings import Settings
from dripper.spark.run.outcome import Outcome
from dripper.spark.run.run import run, run_stages
from dripper.spark.run.staged import STAGES
from dripper.spark.tables.store import Tables
from support.killing import killed
from support.stage_labelers import load_hash
from support.staged_runs import STAGED, Preprocessed, read, rows_of
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_every_stage_killed_after_its_rows_is_done_again_with_the_same_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kill is at the worst moment: the rows are committed, the ledger does not know."""
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
    """Return a function that raises instead of appending to this table, once it has rows. The pages
    of a commit depend on their ids, and these on the folder of the test, so the first commit may
    have none."""

    def killed_or_append(tables: Tables, to: str, *rest: object, **options: object) -> object:
        has_rows = to == table and not tables.read(to).isEmpty()
        return killed() if has_rows else append(tables, to, *rest, **options)

    return killed_or_append


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


@pytest.mark.draw("lost rows")
def test_rows_that_were_deleted_before_they_are_labelled_put_the_batch_back(
    spark: SparkSession, preprocessed: Preprocessed
) -> None:
    """Exit code 0 would mean that they are there."""
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


@pytest.mark.draw("lost rows")
def test_rows_of_another_version_put_the_batch_back(spark: SparkSession, preprocessed: Preprocessed) -> None:
    """Another version may split pages into other blocks than the labelled ones."""
    output, tables = str(preprocessed.output), Tables(spark, str(preprocessed.output))
    tables.change("pages", f"UPDATE {tables.sql_name('pages')} SET dripper = '0.0.9' WHERE url LIKE '%/1'")
    label = run_stages(spark, ["label"], output, STAGED, loader=load_hash)
    assert (label.exit_code, label.ledger["planned"], label.totals.label.pages) == (3, 1, 0)
    assert label.complaints[0].startswith("batch 1 goes back to the stage preprocess: another version of dripper")
    again = run_stages(spark, list(STAGES), output, STAGED, preprocessed.archive, loader=load_hash)
    assert (again.complaints, len(rows_of(spark, preprocessed.output))) == ((), 7)


@pytest.mark.draw("lost rows")
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


@pytest.mark.draw("lost rows")
@pytest.mark.parametrize(("table", "stage"), [("labels", "label"), ("blocks", "preprocess"), ("pages", "preprocess")])
def test_data_files_that_were_deleted_beneath_a_table_put_the_batch_back(
    spark: SparkSession, preprocessed: Preprocessed, table: str, stage: str
) -> None:
    """By a person, or by a bucket's lifecycle rule: the log still names them, and reading them
    fails."""
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
