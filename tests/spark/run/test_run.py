"""The main job in one session, on real WARC files and real Delta: every record is accounted for,
whatever happens."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from dripper.errors import InputError, SettingsError
from dripper.labels import load as load_labeler
from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.reports.report import show, summary
from dripper.spark.run.outcome import Outcome
from dripper.spark.run.run import dismiss, run
from dripper.spark.tables.schemas import OF_RUN
from dripper.spark.tables.store import Tables
from dripper.spark.workers import parts
from support.warcs import page, pages, write_warc

pytestmark = pytest.mark.spark


def read(spark: SparkSession, output: Path, table: str = "extractions") -> DataFrame:
    return Tables(spark, str(output)).read(table)


def assert_closed(spark: SparkSession, outcome: Outcome, output: Path) -> None:
    """The trust rule, counted afresh from the tables."""
    files = read(spark, output, "warc_files").collect()
    rows = read(spark, output).select("page_id", "warc_file", "error_code").collect()
    assert len({row["page_id"] for row in rows}) == len(rows)
    for file in files:
        assert file["records"] == file["pages"] + sum(file["skipped"].values())
        mine = [row for row in rows if row["warc_file"] == file["warc_file"]]
        assert len(mine) == file["pages"]
        assert sum(row["error_code"] is not None for row in mine) == file["failed_pages"]
    assert outcome.ledger["pages"] == len(rows)


@dataclass(frozen=True)
class SampleRun:
    """One run over the sample, for tests of its results."""

    output: Path
    outcome: Outcome


@pytest.fixture(scope="module")
def sample_run(spark: SparkSession, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    output = tmp_path_factory.mktemp("sample") / "out"
    return SampleRun(output, run(spark, str(sample), str(output), Settings()))


def test_the_sample(spark: SparkSession, sample_run: SampleRun) -> None:
    outcome, output = sample_run.outcome, sample_run.output
    assert outcome.complaints == ()
    assert_closed(spark, outcome, output)
    good = read(spark, output).where("error_code IS NULL").collect()
    assert len(good) >= 20
    for row in good:
        assert 0 < row["n_main"] <= row["n_blocks"]
        assert row["markdown"].strip()
        assert row["versions"]["labeler"] == "cpu"
    assert len({row["language"] for row in good}) >= 3
    words = summary(outcome, "out")
    assert f"= {outcome.totals.pages} pages + " in words
    assert "NOT DONE" not in words


@pytest.mark.slow
@pytest.mark.parametrize("labeler", ["web2text", "vote:cpu,web2text,trafilatura"])
def test_other_labelers_in_one_pass(spark: SparkSession, tmp_path: Path, labeler: str) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", [*pages(1, 6), ("http://example.org/empty", b"<html></html>")])
    outcome = run(spark, str(archive), str(tmp_path / "out"), load(assignments=[f"labeler.name={labeler}"]))
    assert outcome.complaints == ()
    assert_closed(spark, outcome, tmp_path / "out")
    rows = read(spark, tmp_path / "out").collect()
    good = [row for row in rows if row["error_code"] is None]
    assert (len(rows), len(good)) == (7, 6)
    assert {row["method"] for row in good} == {labeler}
    assert {row["versions"]["labeler_version"] for row in good} == {load_labeler(labeler).version}
    assert all(0 < row["n_main"] <= row["n_blocks"] for row in good)


@pytest.mark.slow
def test_the_same_input_gives_the_same_rows(
    spark: SparkSession, sample: Path, sample_run: SampleRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any division of the work: one batch, one batch per file, and each file in parts."""
    monkeypatch.setattr(parts, "SMALLEST_TASK_BYTES", 1000)
    monkeypatch.setattr(parts, "SPLIT_BYTES", 1000)
    run(spark, str(sample), str(tmp_path), load(assignments=["batch.files=1"]))
    for table, key in (("extractions", "page_id"), ("warc_files", "warc_file")):
        first, second = (
            {row[key]: row for row in read(spark, output, table).drop(*OF_RUN).collect()}
            for output in (sample_run.output, tmp_path)
        )
        assert first == second


@pytest.mark.slow
def test_every_shared_archive_is_accounted_for(
    spark: SparkSession, shared: Path, archives: Path, tmp_path: Path
) -> None:
    outcome = run(spark, str(archives), str(tmp_path), Settings())
    assert outcome.complaints == ()
    assert_closed(spark, outcome, tmp_path)
    files = {Path(row["warc_file"]).name: row for row in read(spark, tmp_path, "warc_files").collect()}
    assert len(files) >= 120
    for clipped in ("clipped.warc.gz", "transfer_compression_none_truncated.warc.gz", "Evil-Warc-Headers.warc"):
        assert files[clipped]["clipped"]
        assert files[clipped]["problems"]


@dataclass(frozen=True)
class BrokenRun:
    """One run over good and broken archives, its folder, and the cut archive before the cut."""

    folder: Path
    outcome: Outcome
    whole: bytes

    @property
    def output(self) -> Path:
        return self.folder / "out"

    @property
    def cut(self) -> Path:
        return self.folder / "in" / "cut.warc.gz"


@pytest.fixture(scope="module")
def broken_run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> BrokenRun:
    folder = tmp_path_factory.mktemp("broken")
    (folder / "in").mkdir()
    write_warc(folder / "in/a.warc", pages(1, 2))
    (folder / "in/empty.warc").touch()
    (folder / "in/text.warc.gz").write_text("this is no archive")
    surrogates = b"\xed\xa0\x80<p>half a pair &#xD800; and a \x00 byte</p>"
    bodies = [b"<html></html>", b"<script>nothing()</script>", b"<p>" + b"x" * 3000 + b"</p>", surrogates]
    write_warc(folder / "in/p.warc", [(f"http://p.example.org/{i}", body) for i, body in enumerate(bodies)])
    cut = write_warc(folder / "in/cut.warc.gz", pages(11, 3))
    whole = cut.read_bytes()
    cut.write_bytes(whole[: len(whole) - 100])
    settings = load(assignments=["reading.page_bytes=2000"])
    return BrokenRun(folder, run(spark, str(folder / "in"), str(folder / "out"), settings), whole)


def test_broken_archives_leave_no_work_and_every_record_is_counted(spark: SparkSession, broken_run: BrokenRun) -> None:
    outcome = broken_run.outcome
    assert (outcome.complaints, outcome.exit_code) == ((), 4)
    assert_closed(spark, outcome, broken_run.output)


def test_pages_that_cannot_be_extracted_are_rows(spark: SparkSession, broken_run: BrokenRun) -> None:
    rows = read(spark, broken_run.output).where("host = 'p.example.org'").collect()
    codes = {row["url"][-1]: row["error_code"] for row in rows}
    assert codes == {"0": "empty_page", "1": "empty_page", "2": "page_too_large", "3": None}


def test_files_that_are_no_archives_are_named_and_done(spark: SparkSession, broken_run: BrokenRun) -> None:
    """An empty or foreign file must not make every later run end short."""
    outcome, folder = broken_run.outcome, broken_run.folder / "in"
    words = f"2 files hold no WARC or ARC record, {folder}/empty.warc, {folder}/text.warc.gz"
    assert [told for told in outcome.bad_inputs if told.startswith(words)]
    assert outcome.totals.broken_files == 3
    files = {Path(row["warc_file"]).name: row for row in read(spark, broken_run.output, "warc_files").collect()}
    assert {name: (files[name]["state"], files[name]["problems"][-1:]) for name in files if name != "cut.warc.gz"} == {
        "a.warc": ("done", []),
        "p.warc": ("done", []),
        "empty.warc": ("done", ["the file is empty"]),
        "text.warc.gz": ("done", ["no WARC or ARC record in it"]),
    }


def test_an_archive_that_is_cut_short_is_named_until_somebody_dismisses_it(
    spark: SparkSession, broken_run: BrokenRun
) -> None:
    """Pages before the cut are kept."""
    cut, output = str(broken_run.cut), str(broken_run.output)
    words = f"1 file is cut short (the pages before the cut are rows), {cut}"
    assert [told for told in broken_run.outcome.bad_inputs if told.startswith(words)]
    again = run(spark, cut, output, Settings())
    assert (again.exit_code, again.totals.files) == (4, 0)
    assert again.bad_inputs[0].startswith(words)
    n_rows = read(spark, broken_run.output).where(f"warc_file = '{cut}'").count()
    assert n_rows >= 2
    assert dismiss(spark, cut, output, Settings()) == 1
    quiet = run(spark, cut, output, Settings())
    assert (quiet.exit_code, quiet.ledger["dismissed"]) == (0, 1)
    assert quiet.ledger["pages"] == read(spark, broken_run.output).count()
    broken_run.cut.write_bytes(broken_run.whole)
    mended = run(spark, cut, output, Settings())
    assert (mended.exit_code, mended.totals.files) == (0, 1)
    assert read(spark, broken_run.output).where(f"warc_file = '{cut}'").count() == 3


@pytest.mark.slow
def test_poison_pages_cost_one_row_each(spark: SparkSession, tmp_path: Path) -> None:
    heavy = b"<p>one more paragraph</p>" * 1_000_000
    write_warc(tmp_path / "p.warc.gz", [page(1), ("http://example.org/heavy", heavy), page(2)])
    output = tmp_path / "out"
    outcome = run(spark, str(tmp_path / "p.warc.gz"), str(output), load(assignments=["limits.page_cpu_seconds=1"]))
    assert outcome.complaints == ()
    rows = {row["url"]: row for row in read(spark, output).collect()}
    assert rows["http://example.org/heavy"]["error_code"] in ("time_limit", "memory_limit")
    assert [rows[f"http://example.org/{i}"]["error_code"] for i in (1, 2)] == [None, None]


@pytest.mark.slow
def test_an_unreadable_file_is_told_and_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    write_warc(tmp_path / "a.warc", pages(1, 2))
    (tmp_path / "list").write_text(f"{tmp_path}/a.warc\n{tmp_path}/b.warc\n")
    output = tmp_path / "out"
    first = run(spark, f"@{tmp_path}/list", str(output), Settings())
    assert (first.exit_code, first.complaints) == (4, ())
    assert first.bad_inputs[0].startswith(f"1 file does not exist, {tmp_path}/b.warc; if that is known")
    assert "BAD INPUT" in summary(first, "out")
    states = {Path(r["warc_file"]).name: (r["state"], r["error"]) for r in read(spark, output, "warc_files").collect()}
    assert states["a.warc"] == ("done", None)
    assert states["b.warc"][0] == "failed"
    assert "b.warc" in states["b.warc"][1]
    write_warc(tmp_path / "b.warc", pages(3, 2))
    second = run(spark, f"@{tmp_path}/list", str(output), Settings())
    assert (second.exit_code, second.totals.files) == (0, 1)
    assert read(spark, output).count() == 4
    assert_closed(spark, second, output)


@pytest.mark.slow
def test_a_limit_is_gone_on_from(spark: SparkSession, tmp_path: Path) -> None:
    for i in range(3):
        write_warc(tmp_path / f"{i}.warc", pages(i, 1))
    output = tmp_path / "out"
    first = run(spark, str(tmp_path), str(output), Settings(), limit=2)
    assert (first.totals.files, first.plan.n_left) == (2, 1)
    assert "--limit left 1 file" in summary(first, "out")
    second = run(spark, str(tmp_path), str(output), Settings(), limit=2)
    assert (second.totals.files, second.plan.n_done, second.plan.n_left) == (1, 2, 0)
    assert_closed(spark, second, output)


def test_show_prints_rows_and_their_sql(spark: SparkSession, sample_run: SampleRun) -> None:
    words = show(spark, str(sample_run.output), 2)
    assert "SELECT url, n_main, markdown FROM delta.`" in words
    assert words.count("\n  http") == 2


@pytest.mark.parametrize("warcs", ["/nowhere/at/all.warc.gz", "@/nowhere/list"])
def test_a_missing_input_is_one_sentence(spark: SparkSession, tmp_path: Path, warcs: str) -> None:
    with pytest.raises(InputError, match="/nowhere"):
        run(spark, warcs, str(tmp_path), Settings())


def test_a_folder_without_archives_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="no archive files in"):
        run(spark, str(tmp_path / "in"), str(tmp_path / "out"), Settings())


def test_an_unknown_labeler_is_one_sentence_before_anything_is_made(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="did you mean 'cpu'"):
        run(spark, str(tmp_path), str(tmp_path / "out"), load(assignments=["labeler.name=cpuu"]))
    assert list(tmp_path.iterdir()) == []
