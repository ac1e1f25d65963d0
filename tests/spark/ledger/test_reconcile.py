"""Changes by people to the tables are noticed before a run works, named, and repaired: exit code 0
means that the rows are there."""

import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from dripper.errors import DifferenceError, InputError
from dripper.labels.config import load
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import LedgerEntry
from dripper.spark.ledger.reconcile import Difference, bounds, compare, find_differences, find_lost_rows
from dripper.spark.run.notes import Notes
from dripper.spark.run.run import run, run_stages
from dripper.spark.tables import counts
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.counts import BatchCounts, FileRows, rows_by_batch
from dripper.spark.tables.fence import SPARK_ERRORS
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.maintain import maintain
from dripper.spark.upkeep.publish import publish
from dripper.spark.upkeep.repair import choose_repairs
from support.job_mains import job
from support.memory_books import MemoryBooks, Storage
from support.warcs import pages, write_warc

ONE_BY_ONE = load(assignments=["batch.files=1"])


def entry(name: str, batch: int, state: str = "done", pages: int = 3, **more: Any) -> LedgerEntry:
    return LedgerEntry(PlannedFile(name, **more), batch, state, pages)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([entry("a", 1), entry("b", 1, "failed", 2), entry("c", 2, "set_aside", 0)], {1: (5, 5), 2: (0, 0)}),
        # On its way: any number, before its commit as after.
        ([entry("a", 1, "planned", 0)], {1: (0, None)}),
        # Its old rows are in batch 1, or not any more; the rows of b are there in any case.
        ([entry("a", 2, "planned", replaces=1), entry("b", 1)], {1: (3, None), 2: (0, None)}),
        ([entry("a", 2, "preprocessed", 9, replaces=1), entry("b", 1)], {1: (3, None), 2: (0, None)}),
        # A batch is redone as a whole.
        ([entry("a", 1, "labelled"), entry("b", 1)], {1: (0, None)}),
        # The rows of a selection go with the commit of the whole reading.
        ([entry("a", 1, selection="s"), entry("a", 2, "planned", 0), entry("b", 1)], {1: (3, 6), 2: (0, None)}),
        ([entry("a", 1, selection="s"), entry("a", 2)], {1: (3, 3), 2: (3, 3)}),
    ],
)
def test_how_many_rows_a_batch_may_have(
    entries: list[LedgerEntry], expected: dict[int, tuple[int, int | None]]
) -> None:
    assert bounds(entries) == expected


def test_a_difference_is_too_few_rows_too_many_or_rows_of_nobody_but_not_those_forgotten() -> None:
    entries = [entry("a", 1), entry("b", 2), entry("c", 3, "planned", 0)]
    assert find_differences(entries, {1: 3, 2: 3}) == find_differences(entries, {1: 3, 2: 3, 3: 7}) == []
    assert find_differences(entries, {1: 2, 2: 4, 4: 1}) == [
        Difference(1, 2, 3),
        Difference(2, 4, 3),
        Difference(4, 1, 0),
    ]
    assert find_differences(entries, {1: 2, 2: 3}, {1: 1}) == []
    assert find_differences(entries, {1: 1, 2: 3}, {1: 1}) == [Difference(1, 1, 3)]


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def known(name: str, batch: int, keys: int | None, **more: Any) -> LedgerEntry:
    """A file with two pages, and the sum of their keys."""
    return replace(entry(name, batch, pages=2, **more), page_keys=keys, checked_at=NOON)


class Found(MemoryBooks):
    """Books whose `extractions` has rows of batch 1, written at a time, and of batch 2."""

    def __init__(self, entries: list[LedgerEntry], files: dict[tuple[int, str], FileRows], written: datetime) -> None:
        super().__init__(Storage(), lambda _: None, lambda _: None)
        self.files, self.written = files, written
        self.asked: list[Any] = []
        rows = [
            {"warc_file": e.file.warc_file, "batch": e.batch, "state": e.state, "pages": e.pages}
            | {"page_keys": e.page_keys, "checked_at": e.checked_at, "replaces": e.file.replaces}
            for e in entries
        ]
        self.append("warc_files", rows)

    def count_batches(self, table: str) -> BatchCounts:
        numbers = Counter({1: 0})
        for (batch, _), found in self.files.items():
            numbers[batch] += found.rows
        return BatchCounts(dict(numbers), (), {1: self.written, 2: NOON - timedelta(hours=1)})

    def count_files(self, table: str, batches: Any) -> dict[tuple[int, str], FileRows]:
        self.asked.append(batches and set(batches))
        return {place: rows for place, rows in self.files.items() if batches is None or place[0] in batches}


OTHERS = {(1, "a"): FileRows(2, 0, 12), (2, "b"): FileRows(2, 0, 30)}
"""As many rows as counted for `a`, but one of them twice."""


def test_rows_of_other_pages_are_a_difference_where_a_batch_was_rewritten() -> None:
    entries = [known("a", 1, 11), known("b", 2, 31)]
    books = Found(entries, OTHERS, NOON + timedelta(hours=1))
    assert compare(books, Ledger(books, ""), lambda: None)[0] == [Difference(1, 2, 2)]
    assert books.asked == [{1}], "batch 2 is as it was when it was looked at last"
    # There were no writes since: nothing is scanned, except on request.
    books = Found(entries, OTHERS, NOON)
    assert compare(books, Ledger(books, ""), lambda: None)[0] == []
    assert books.asked == []
    assert compare(books, Ledger(books, ""), lambda: None, every=True)[0] == [Difference(1, 2, 2), Difference(2, 2, 2)]
    # Rows that are about to be replaced may be anything.
    books = Found([replace(known("a", 3, 11, state="planned"), file=PlannedFile("a", replaces=1))], OTHERS, NOON)
    assert 1 not in {each.batch for each in compare(books, Ledger(books, ""), lambda: None, every=True)[0]}


def test_rows_that_were_looked_at_are_looked_at_once() -> None:
    """For instance after OPTIMIZE. With a ledger without keys they are accepted."""
    books = Found([known("a", 1, 12), known("b", 2, None)], OTHERS, NOON + timedelta(days=99999))
    assert compare(books, Ledger(books, ""), lambda: None)[0] == []
    assert compare(books, Ledger(books, ""), lambda: None)[0] == []
    assert books.asked == [{1}]
    assert compare(books, Ledger(books, ""), lambda: None, every=True)[0] == []
    assert sorted((row["warc_file"], row["page_keys"]) for row in books.read("warc_files")) == [("a", 12), ("b", 30)]


def test_only_files_that_lost_rows_are_read_again() -> None:
    entries = [known("a", 1, 11), known("b", 1, 31), known("c", 1, 5), known("d", 2, 7)]
    rows = {
        (1, "a"): FileRows(2, 0, 11),
        (1, "b"): FileRows(1, 0, 30),
        (1, "c"): FileRows(2, 0, 6),
        (2, "d"): FileRows(),
    }
    repairs = choose_repairs(entries, {1}, rows)
    assert [(each.file.warc_file, each.file.replaces) for each in repairs.again] == [("b", 1), ("c", 1)]
    assert (repairs.unknown, repairs.outdated) == ([], [])
    # Rows of a file that was read again, and rows of no file.
    rows = {(1, "a"): FileRows(2, 0, 11), (3, "a"): FileRows(2, 0, 11), (4, "z"): FileRows(2, 1, 9)}
    repairs = choose_repairs(entries[:1], {1, 3, 4}, rows)
    assert (repairs.again, repairs.outdated) == ([], [(3, "a")])
    assert [(row["warc_file"], row["batch"], row["pages"], row["page_keys"]) for row in repairs.unknown] == [
        ("z", 4, 2, 9)
    ]


@pytest.fixture(scope="module")
def first_night(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three archives of two pages, and an output into which two of them were read."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "in").mkdir()
    for i, name in enumerate("ab"):
        write_warc(folder / f"in/{name}.warc", pages(10 * i, 2))
    assert run(spark, str(folder / "in"), str(folder / "out"), ONE_BY_ONE).exit_code == 0
    write_warc(folder / "c.warc", pages(20, 2))
    return folder


@pytest.fixture
def tables(spark: SparkSession, first_night: Path, tmp_path: Path) -> Tables:
    return Tables(spark, str(shutil.copytree(first_night / "out", tmp_path / "out")))


def urls(tables: Tables, table: str = "extractions") -> list[str]:
    return sorted(row["url"].rsplit("/", 1)[1] for row in tables.read(table).select("url").collect())


def content(tables: Tables) -> list[Any]:
    """Return the rows, or of a table that cannot be read its data files."""
    folder = Path(tables.output, "extractions")
    try:
        return sorted(tables.read("extractions").collect()) if folder.exists() else []
    except SPARK_ERRORS:
        return sorted(folder.glob("batch=*/*.parquet"))


ALL = ["0", "1", "10", "11"]
Damage = Callable[[SparkSession, Tables], None]


def sql(words: str) -> Damage:
    def damage(spark: SparkSession, tables: Tables) -> None:
        spark.sql(words.format(**{table: tables.sql_name(table) for table in ("extractions", "warc_files")}))

    return damage


def removed(table: str) -> Damage:
    return lambda _, tables: shutil.rmtree(f"{tables.output}/{table}")


def lost(pattern: str) -> Damage:
    """As a lifecycle rule of a bucket deletes old files, without Delta."""

    def damage(_: SparkSession, tables: Tables) -> None:
        for path in Path(tables.output, "extractions").glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


@pytest.mark.spark
@pytest.mark.draw("lost rows")
@pytest.mark.parametrize(
    ("damage", "words", "repaired"),
    [
        pytest.param(
            sql("RESTORE TABLE {extractions} TO VERSION AS OF 0"),
            r"batch 1 has 0 rows of 2 since version 3 \(RESTORE, .* UTC\); batch 2 has 0 rows of 2 since version 3",
            r"2 files are planned again, .*/a.warc, .*/b.warc: give them to the next run",
            id="restored",
        ),
        pytest.param(
            sql("DELETE FROM {extractions} WHERE url = 'http://example.org/1'"),
            r"batch 1 has 1 row of 2 since version 3 \(DELETE, .* UTC\)\. Nothing was done",
            r"1 file is planned again, .*/a.warc: give",
            id="host deleted",
        ),
        pytest.param(
            removed("extractions"),
            r"batch 1 has 0 rows of 2 since version 0 \(CREATE TABLE, ",
            r"2 files are planned again",
            id="folder removed",
        ),
        pytest.param(
            removed("warc_files"),
            r"the ledger .* was dropped or emptied by version 0 \(CREATE TABLE, .*4 rows in 2 batches",
            r"the ledger is rebuilt for 2 files, .*/a.warc, .*/b.warc",
            id="ledger dropped",
        ),
        pytest.param(
            sql("DELETE FROM {warc_files} WHERE batch = 2"),
            r"batch 2 has 2 rows of 0; the ledger was last changed by version \d+ \(DELETE, ",
            r"the ledger is rebuilt for 1 file, .*/b.warc",
            id="ledger partly deleted",
        ),
        pytest.param(
            sql("INSERT INTO {extractions} SELECT * FROM {extractions} WHERE batch = 1"),
            r"batch 1 has 4 rows of 2 since version 3 \(WRITE, ",
            r"1 file is planned again, .*/a.warc",
            id="rows twice",
        ),
        pytest.param(
            lost("batch=1/*.parquet"),
            r"data files of .*extractions` are gone from storage, of batch 1, though",
            r"batch 1 of .* cleared\n1 file is planned again, .*/a.warc: give",
            id="data files deleted",
        ),
        pytest.param(
            lost("batch=*"),
            r"of 2 batches \(1 to 2\), though",
            r"2 batches \(1 to 2\) of .* cleared\n2 files are planned again",
            id="folders of batches deleted",
        ),
    ],
)
def test_damage_is_named_before_anything_is_written_then_mended(
    spark: SparkSession,
    first_night: Path,
    tables: Tables,
    capsys: pytest.CaptureFixture[str],
    damage: Damage,
    words: str,
    repaired: str,
) -> None:
    damage(spark, tables)
    flags = ["--output", tables.output, "--set", "batch.files=1"]
    left = content(tables)
    assert job("run").main(["--warcs", str(first_night / "c.warc"), *flags]) == 3
    told = capsys.readouterr().err
    assert re.search(words, told), told
    assert f"jobs/maintain.py --output {tables.output} --repair" in told
    assert content(tables) == left
    assert job("maintain").main(["--output", tables.output, "--repair"]) == 0
    told = capsys.readouterr().out
    assert re.search(repaired, told), told
    outcome = run(spark, f"{first_night}/in,{first_night}/c.warc", tables.output, ONE_BY_ONE)
    assert (outcome.exit_code, outcome.ledger["done"], outcome.ledger["pages"]) == (0, 3, 6)
    assert urls(tables) == sorted([*ALL, "20", "21"])
    assert job("maintain").main(["--output", tables.output, "--repair"]) == 0
    assert "nothing to repair" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.slow
def test_rows_of_an_earlier_reading_that_came_back_stay_until_the_next(
    spark: SparkSession, first_night: Path, tables: Tables
) -> None:
    """As with a file that was read again, if the table was restored to an earlier version."""
    archive = str(first_night / "in/a.warc")
    assert run(spark, archive, tables.output, ONE_BY_ONE, redo=archive).exit_code == 0
    spark.sql(f"RESTORE TABLE {tables.sql_name('extractions')} TO VERSION AS OF 2")
    with pytest.raises(DifferenceError, match=r"batch 1 has 2 rows of 0 .*; batch 3 has 0 rows of 2 since .*RESTORE"):
        run(spark, archive, tables.output, ONE_BY_ONE)
    list(maintain(spark, tables.output, repairs=True))
    assert urls(tables) == ALL
    assert run(spark, archive, tables.output, ONE_BY_ONE).exit_code == 0
    assert urls(tables) == ALL
    assert {row["batch"] for row in tables.read("extractions").collect()} == {2, 4}


@pytest.mark.slow
@pytest.mark.spark
def test_nothing_is_published_from_rows_that_are_not_as_counted_and_lost_ones_are_published_anew(
    spark: SparkSession, first_night: Path, tables: Tables
) -> None:
    publish(spark, tables.output)
    tables.delete("extractions", "url = 'http://example.org/1'")
    with pytest.raises(DifferenceError, match="batch 1 has 1 row of 2"):
        publish(spark, tables.output)
    list(maintain(spark, tables.output, repairs=True))
    assert "nothing to publish" in publish(spark, tables.output)
    assert run(spark, str(first_night / "in"), tables.output, ONE_BY_ONE).exit_code == 0
    publish(spark, tables.output)
    assert urls(tables, "published") == ALL

    tables.delete("published", "url = 'http://example.org/10'")
    told = publish(spark, tables.output)
    assert "1 of them were published before, and had 1 of their 2 rows since version" in told
    assert "(DELETE, " in told
    assert urls(tables, "published") == ALL


@pytest.mark.slow
@pytest.mark.spark
def test_new_batches_are_numbered_above_all_that_a_table_has(
    spark: SparkSession, first_night: Path, tmp_path: Path
) -> None:
    """Also above the numbers in `pages`, if the ledger is lost."""
    output, archives = str(tmp_path / "out"), str(first_night / "in")
    staged = load(assignments=["batch.files=1", "labeler.name=all", "labeler.staged=true"])
    run_stages(spark, ("preprocess",), output, staged, archives)
    tables = Tables(spark, output)
    before = sorted(tables.read("pages").select("page_id", "batch").collect())
    shutil.rmtree(tmp_path / "out/warc_files")
    run_stages(spark, ("preprocess",), output, staged, str(first_night / "c.warc"))
    after = tables.read("pages").select("page_id", "batch").collect()
    assert sorted(row for row in after if row["batch"] <= 2) == before
    assert {row["batch"] for row in after} == {1, 2, 3}


def at_the_end(spark: SparkSession, tables: Tables) -> list[str]:
    return find_lost_rows(spark, tables, Ledger(SparkBooks(spark, tables), "a run"), lambda: None)


@pytest.mark.spark
def test_rows_that_change_while_a_run_is_at_work_are_told_at_its_end(spark: SparkSession, tables: Tables) -> None:
    name = tables.sql_name("extractions")
    spark.sql(f"UPDATE {name} SET title = 'another' WHERE batch = 1")
    assert at_the_end(spark, tables) == []
    spark.sql(f"UPDATE {name} SET page_id = reverse(page_id) WHERE url = 'http://example.org/1'")
    (told,) = at_the_end(spark, tables)
    assert "batch 1 has 2 rows, but of other pages than were read. Somebody changed them while the run was" in told
    tables.delete("extractions", "url = 'http://example.org/1'")
    (told,) = at_the_end(spark, tables)
    assert re.search(r"batch 1 has 1 row of 2 since version \d+ \(DELETE", told)
    assert "--repair has these batches read again" in told


@pytest.mark.spark
def test_a_table_that_is_removed_while_a_run_is_at_work_is_told_at_its_end(spark: SparkSession, tables: Tables) -> None:
    """The next write of the run creates it again, with its own rows."""
    later = spark.createDataFrame(tables.read("extractions").where("batch = 2").toArrow())
    shutil.rmtree(f"{tables.output}/extractions")
    tables.append("extractions", later)
    (told,) = at_the_end(spark, tables)
    assert "was removed while the run was at work: move the rest away, then jobs/maintain.py" in told
    with pytest.raises(InputError, match="removed beside a run: choose another --output, or move it away"):
        tables.exists("extractions")
    shutil.rmtree(f"{tables.output}/extractions")
    assert at_the_end(spark, tables) == [told]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    ("statement", "operation"),
    [
        ("DELETE FROM {} WHERE url = 'http://example.org/1'", "DELETE"),
        ("RESTORE TABLE {} TO VERSION AS OF 1", "RESTORE"),
    ],
)
def test_a_run_beside_which_rows_go_ends_with_work_left(
    spark: SparkSession,
    first_night: Path,
    tables: Tables,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    operation: str,
) -> None:
    """The rows disappear after the run's last batch is recorded, and before its end is recorded."""
    finish = Notes.finish

    def finish_and_change(notes: Notes) -> dict[int, str]:
        failed = finish(notes)
        spark.sql(statement.format(tables.sql_name("extractions")))
        return failed

    monkeypatch.setattr(Notes, "finish", finish_and_change)
    outcome = run(spark, str(first_night / "c.warc"), tables.output, ONE_BY_ONE)
    assert outcome.exit_code == 3
    assert f"({operation}, " in outcome.complaints[0]
    assert "Somebody changed them while the run was at work" in outcome.complaints[0]
    monkeypatch.undo()
    list(maintain(spark, tables.output, repairs=True))
    assert run(spark, f"{first_night}/in,{first_night}/c.warc", tables.output, ONE_BY_ONE).exit_code == 0
    assert len(urls(tables)) == len(set(urls(tables))) == len(ALL) + 2


@pytest.mark.spark
def test_rows_are_counted_without_a_look_at_data_and_also_where_the_log_is_out_of_reach(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = "SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    spark.sql(f"ALTER TABLE {tables.sql_name('extractions')} {vectors}")
    tables.delete("extractions", "url = 'http://example.org/1'")
    extractions = tables.read("extractions")
    assert rows_by_batch(extractions) == {1: 1, 2: 2}
    data = list(Path(tables.output, "extractions").rglob("batch=*/*.parquet"))
    for file in data:
        file.rename(file.with_suffix(".away"))
    assert rows_by_batch(tables.read("extractions")) == {1: 1, 2: 2}
    for file in data:
        file.with_suffix(".away").rename(file)
    monkeypatch.setattr(counts, "_files_in_log", lambda table: None)
    assert rows_by_batch(extractions) == {1: 1, 2: 2}


@pytest.mark.spark
def test_rows_of_a_catalogs_table_are_counted_in_every_version(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS spark_catalog.reconciled")
    tables = Tables(spark, "spark_catalog.reconciled")
    try:
        tables.create("labels")
        row = "page_id, batch, labeler, labeler_version) VALUES ('a', 7, 'cpu', '1')"
        spark.sql(f"INSERT INTO {tables.sql_name('labels')} ({row}")
        assert [rows_by_batch(tables.read("labels", version)) for version in (None, 1, 0)] == [{7: 1}, {7: 1}, {}]
    finally:
        spark.sql("DROP SCHEMA spark_catalog.reconciled CASCADE")


def test_a_session_without_a_jvm_counts_rows() -> None:
    class Remote:
        """As a DataFrame of Spark Connect, which has no `_jdf`."""

    frame: Any = Remote()
    assert counts._files_in_log(frame) is None


@pytest.mark.spark
def test_the_ledger_is_read_once_before_a_plan(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, reads = Ledger(SparkBooks(spark, tables), "a run"), []
    read = Tables.read

    def counting(self: Tables, table: str, *more: Any) -> DataFrame:
        reads.append(table)
        return read(self, table, *more)

    monkeypatch.setattr(Tables, "read", counting)
    assert len(ledger.entries()) == len(ledger.entries()) == 2
    assert reads == ["warc_files"]
    assert ledger.last_batch == 2
    ledger.dismiss([])
    ledger.entries()
    assert reads == ["warc_files"]
