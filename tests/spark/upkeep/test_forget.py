"""Pages that are forgotten leave every table and come back by no way; counts close all the time."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from dripper.errors import BusyError, DifferenceError, InputError
from dripper.labels.config import load
from dripper.spark.ledger.forgotten import Rule, rule
from dripper.spark.ledger.lease import Lease
from dripper.spark.run.run import run, run_stages
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep import forget as forgetting
from dripper.spark.upkeep.forget import forget
from dripper.spark.upkeep.maintain import maintain
from dripper.spark.upkeep.publish import publish
from support.job_mains import job
from support.warcs import page, pages, write_warc

pytestmark = pytest.mark.spark

ONE_BY_ONE = load(assignments=["batch.files=1"])
BAD = [(f"http://www.bad.example.org/{i}", page(30 + i)[1]) for i in range(2)]
GONE = {rule("host", "www.bad.example.org"), rule("url", "http://example.org/11")}
KEPT = ["http://example.org/0", "http://example.org/1", "http://example.org/10"]


@pytest.fixture(scope="module")
def first_night(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two archives, and an output into which both were read, and that is
    published."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "in").mkdir()
    write_warc(folder / "in/a.warc", [*pages(0, 2), *BAD])
    write_warc(folder / "in/b.warc", pages(10, 2))
    assert run(spark, str(folder / "in"), str(folder / "out"), ONE_BY_ONE).exit_code == 0
    publish(spark, str(folder / "out"))
    # A table of an older release, which this one does not know.
    spark.createDataFrame([("www.bad.example.org",)], "host string").write.format("delta").save(
        f"{folder}/out/site_blocks"
    )
    return folder


@pytest.fixture
def tables(spark: SparkSession, first_night: Path, tmp_path: Path) -> Tables:
    return Tables(spark, str(shutil.copytree(first_night / "out", tmp_path / "out")))


def urls(tables: Tables, table: str) -> list[str]:
    return sorted(row["url"] for row in tables.read(table).select("url").collect())


def counts(tables: Tables) -> list[tuple[Any, ...]]:
    rows = tables.read("warc_files").orderBy("warc_file").collect()
    assert all(row["records"] == row["pages"] + sum(row["skipped"].values()) for row in rows)
    return [(Path(row["warc_file"]).name, row["pages"], row["skipped"]) for row in rows]


CLOSED = [("a.warc", 2, {"forgotten": 2}), ("b.warc", 1, {"forgotten": 1})]


def assert_forgotten(tables: Tables) -> None:
    assert urls(tables, "extractions") == urls(tables, "published") == KEPT
    assert counts(tables) == CLOSED
    rows = tables.read("forgotten").orderBy("kind").collect()
    assert [(row["kind"], row["batch"], row["rows"], row["state"]) for row in rows] == [
        ("host", 1, 2, "done"),
        ("url", 2, 1, "done"),
    ]


@pytest.mark.draw("books on Delta")
def test_forgotten_pages_leave_all_tables_and_stay_away(
    spark: SparkSession, first_night: Path, tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# court order\nWWW.bad.example.org\n")
    flags = ["--output", tables.output, "--host", f"@{hosts}", "--url", "http://example.org/11"]
    assert job("forget").main([*flags, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "host www.bad.example.org: 2 pages in 1 batch would be forgotten" in told
    assert counts(tables) == [("a.warc", 4, {}), ("b.warc", 2, {})]
    version = spark.sql(f"DESCRIBE HISTORY {tables.sql_name('published')}").agg({"version": "max"}).collect()[0][0]
    assert job("forget").main([*flags, "--reason", "order 7/26"]) == 0
    told = capsys.readouterr().out
    assert "url http://example.org/11: 1 page in 1 batch is forgotten" in told
    assert "--retain-hours 168 clears them" in told
    assert_forgotten(tables)
    row = tables.read("forgotten").where("kind = 'host'").collect()[0]
    assert (row["reason"], row["pattern"]) == ("order 7/26", "www.bad.example.org")
    assert row["forgotten_by"]
    # The change feed has these rows and no others, then and later.
    assert "nothing to publish" in publish(spark, tables.output)
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", version + 1)
    changes = feed.format("delta").load(f"{tables.output}/published").collect()
    assert sorted((row["_change_type"], row["url"]) for row in changes) == [
        ("delete", "http://example.org/11"),
        *(("delete", url) for url, _ in BAD),
    ]
    # Read again, rebuilt, as a new file: they come back by no way.
    archives = str(first_night / "in")
    new = write_warc(tmp_path / "new.warc", [*BAD, page(10)])
    outcome = run(spark, str(new), tables.output, ONE_BY_ONE, redo=f"{archives}/a.warc")
    assert (outcome.exit_code, dict(outcome.totals.skipped)) == (0, {"forgotten": 4})
    assert urls(tables, "extractions") == sorted([*KEPT, "http://example.org/10"])
    publish(spark, tables.output)
    assert urls(tables, "published") == urls(tables, "extractions")
    list(maintain(spark, tables.output, repairs=True))
    assert counts(tables) == [*CLOSED, ("new.warc", 1, {"forgotten": 2})]


@pytest.mark.slow
def test_a_kill_between_any_two_steps_leaves_what_goes_on(
    spark: SparkSession, first_night: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the next call, by a run, or when the output is published."""
    template, commit = tables.output, Tables._commit
    steps = ["forgotten", "published", "extractions", "warc_files", "forgotten"]
    for n in range(len(steps)):
        mine = Tables(spark, str(shutil.copytree(template, tmp_path / f"out{n}")))
        done: list[str] = []

        def killed(self: Tables, table: str, do: Callable[..., None]) -> None:
            if table != "runs":
                if len(done) == n:  # noqa: B023
                    raise RuntimeError("killed")
                done.append(table)  # noqa: B023
            commit(self, table, do)

        with monkeypatch.context() as patch:
            patch.setattr(Tables, "_commit", killed)
            with pytest.raises(RuntimeError, match="killed"):
                list(forget(spark, mine.output, GONE, "order"))
        assert done == steps[:n]
        if n in (0, 1, 4):
            # Before the rules are there, nothing is known of them.
            list(forget(spark, mine.output, () if n else GONE, "order"))
        elif n == 2:
            assert "nothing to publish" in publish(spark, mine.output)
        else:
            assert run(spark, str(first_night / "in"), mine.output, ONE_BY_ONE).exit_code == 0
        assert_forgotten(mine)


def test_what_cannot_be_is_refused_in_a_sentence(
    spark: SparkSession, tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="there is no table pages or extractions"):
        list(forget(spark, str(tmp_path / "nothing"), GONE, "order"))
    with pytest.raises(InputError, match="name what to forget"):
        list(forget(spark, tables.output, (), ""))
    with pytest.raises(InputError, match="name what to forget"):
        list(forget(spark, tables.output, (), "", dry_run=True))
    assert job("forget").main(["--output", tables.output, "--host", "a.org"]) == 2
    assert job("forget").main(["--output", tables.output, "--host", "a/b", "--reason", "r"]) == 2
    assert job("forget").main(["--output", tables.output, "--host", "@/nowhere", "--reason", "r"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3
    other = Lease(SparkBooks(spark, tables))
    other.take(job="run")
    with pytest.raises(BusyError):
        list(forget(spark, tables.output, GONE, "order"))
    other.end("ended", exit_code=0)


def live_urls(tables: Tables, table: str) -> set[str]:
    """Return the addresses in the data files of a table, deleted or not."""
    files = [file.removeprefix("file://") for file in tables.read(table).inputFiles()]
    return {url for file in files for url in pq.ParquetFile(file).read(["url"])["url"].to_pylist()}


def test_no_data_file_that_is_read_holds_what_is_forgotten_and_what_is_not_so_is_said(
    spark: SparkSession, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {table: tables.sql_name(table) for table in ("extractions", "published")}
    for name in names.values():
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"ALTER TABLE {names['published']} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')")
    flags = ["--output", tables.output, "--reason", "order"]
    # And an address that was typed as a browser shows it.
    shown = ["--url", "https://www.Example.org/11/#top"]
    assert job("forget").main([*flags, "--host", "www.bad.example.org", *shown]) == 5
    told = capsys.readouterr()
    assert "the change feed of published is off" in told.out
    assert "names no page; like it are http://example.org/11, which" in told.err
    for table in names:
        assert not live_urls(tables, table) & {url for url, _ in BAD}, table
    # A rule that cannot be applied is not recorded, because no run could continue with it.
    spark.sql(f"ALTER TABLE {names['extractions']} SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    assert job("forget").main([*flags, "--url", "http://example.org/11"]) == 2
    assert "extractions` is append-only" in capsys.readouterr().err
    patterns = {row["pattern"] for row in tables.read("forgotten").collect()}
    assert patterns == {"www.bad.example.org", "https://www.Example.org/11/#top"}


def test_rows_that_a_restore_brought_back_go_with_a_repair_and_other_damage_is_a_difference(
    spark: SparkSession, tables: Tables, caplog: pytest.LogCaptureFixture
) -> None:
    history = spark.sql(f"DESCRIBE HISTORY {tables.sql_name('extractions')}").agg({"version": "max"}).collect()
    list(forget(spark, tables.output, GONE, "order"))
    spark.sql(f"RESTORE TABLE {tables.sql_name('extractions')} TO VERSION AS OF {history[0][0]}")
    assert len(urls(tables, "extractions")) == 6
    (told,) = maintain(spark, tables.output, repairs=True)
    assert "nothing to repair" in told
    assert "3 pages are there again, though forgotten, and deleted" in caplog.text
    assert_forgotten(tables)
    tables.delete("extractions", "url = 'http://example.org/0'")
    with pytest.raises(DifferenceError, match="batch 1 has 1 row of 2"):
        list(forget(spark, tables.output, {rule("url", "http://example.org/1")}, "order"))
    shutil.rmtree(f"{tables.output}/forgotten")
    with pytest.raises(DifferenceError, match="0 of 3 rules, by which 3 pages"):
        list(maintain(spark, tables.output, repairs=True))


def test_many_rules_are_told_in_one_line() -> None:
    rules = [Rule("host", f"h{i}.org") for i in range(3000)]
    told = forgetting._sentences({(rules[0], 1): 2, (rules[0], 2): 1, (rules[7], 1): 4}, rules, lambda n: "are")
    assert told == [
        "3000 rules: 7 pages in 2 batches are forgotten, by 2 rules; the table forgotten has how many by which"
    ]


@pytest.mark.slow
def test_nothing_is_left_between_stages_nor_of_layouts(spark: SparkSession, tmp_path: Path) -> None:
    """In a run by layout with preprocessed batches: the remaining pages are processed to the
    end."""
    archive = str(write_warc(tmp_path / "a.warc", [*pages(0, 3), *BAD]))
    settings = load(
        assignments=["labeler.staged=true", "labeler.name=cpu,all", "labeler.escalate_below=1", "layouts.enabled=true"]
    )
    output = str(tmp_path / "out")
    run_stages(spark, ["preprocess"], output, settings, archive)
    tables = Tables(spark, output)
    n_before = {table: tables.read(table).count() for table in ("pages", "blocks")}
    list(forget(spark, output, {rule("host", "www.bad.example.org"), rule("url", "http://example.org/1")}, "order"))
    assert urls(tables, "pages") == ["http://example.org/0", "http://example.org/2"]
    assert tables.read("blocks").count() == n_before["blocks"] - 3
    assert counts(tables) == [("a.warc", 2, {"forgotten": 3})]
    outcome = run_stages(spark, ["label", "extract"], output, settings)
    assert (outcome.exit_code, outcome.ledger["pages"]) == (0, 2)
    assert urls(tables, "extractions") == urls(tables, "pages")
    # After all stages, of everything that they left.
    list(forget(spark, output, {rule("host", "example.org")}, "order"))
    for table in ("pages", "blocks", "labels", "extractions"):
        assert tables.read(table).isEmpty(), table
    assert tables.read("layouts").where("host = 'example.org'").isEmpty()
    assert counts(tables) == [("a.warc", 0, {"forgotten": 5})]
    outcome = run_stages(spark, ["preprocess", "label", "extract"], output, settings, archive, redo=archive)
    assert (outcome.exit_code, outcome.ledger["pages"], outcome.ledger["skipped"]) == (0, 0, 5)
