"""The books on Delta and in memory behave the same, so tests on one are valid for the other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.spark.tables.batches import Batch, PlannedFile, replaced_rows
from dripper.spark.tables.books import EVERY_ROW, Books, Where, among, at_least, is_set
from dripper.spark.tables.schemas import RUNS
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from support.memory_books import MemoryBooks, Storage


def row(name: str, batch: int, **more: Any) -> dict[str, Any]:
    return {"warc_file": name, "batch": batch, "state": "planned"} | more


ROWS = [
    row("a", 1, skipped={"status": 2}, problems=["it's \\ odd"], slowest_page={"page_id": "p", "ms": 3}),
    row("b", 1, selection="x"),
    row("a", 2, selection="y", attempts=1),
]
AGAIN = Batch(2, (PlannedFile("a", replaces=1), PlannedFile("b")))
WHERES: list[Where] = [
    EVERY_ROW,
    among("batch", [1, 7]),
    among("batch", []),
    among("warc_file", ["a", "it's"]),
    at_least("batch", 2),
    is_set("selection"),
    is_set("selection") & among("warc_file", ["a"]),
    among("batch", [2]) | is_set("selection"),
    replaced_rows(AGAIN),
]


def told(books: Books, where: Where = EVERY_ROW) -> list[dict[str, Any]]:
    """Return rows in an order, without the columns that have no value."""
    rows = [{k: v for k, v in each.items() if v is not None} for each in books.read("warc_files", where)]
    return sorted(rows, key=lambda each: (each["batch"], each["warc_file"]))


def amended(books: Books) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the rows, each with its new values: another batch and another map."""
    return [(each, each | {"batch": 4, "skipped": {"x": 1}}) for each in books.read("warc_files", at_least("batch", 1))]


STEPS: list[Callable[[Books], object]] = [
    lambda books: books.append("warc_files", ROWS) is not None,
    lambda books: books.append("warc_files", [row("n", 9)], ("x", 5)) is not None,
    lambda books: books.append("warc_files", [row("m", 9)], ("x", 5)),
    lambda books: books.append("warc_files", [row("m", 9)], ("x", 4)),
    lambda books: books.append("warc_files", [row("m", 9)], ("y", 1)) is not None,
    lambda books: books.replace("warc_files", [row("a", 2, pages=3)], replaced_rows(AGAIN)) and None,
    lambda books: books.amend("warc_files", amended(books), at_least("batch", 1)),
    lambda books: books.amend("warc_files", [(row("a", 2, pages=7), row("a", 2))], among("batch", [2])),
    lambda books: books.count_batches("warc_files"),
    lambda books: books.read("warc_files", among("batch", [2]), ("warc_file", "pages", "state")),
]


@pytest.mark.spark
def test_on_delta_and_in_memory_alike(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    on_delta, in_memory = SparkBooks(spark, tables), MemoryBooks(Storage(), lambda _: None, lambda _: None)
    assert on_delta.read("warc_files") == []
    assert on_delta.version("warc_files") is None
    tables.create("warc_files")
    start = on_delta.version("warc_files")
    assert start is not None
    for number, step in enumerate(STEPS):
        assert step(on_delta) == step(in_memory), number
        assert told(on_delta) == told(in_memory), number
        made, in_memory_made = on_delta.version("warc_files"), in_memory.version("warc_files")
        assert made is not None
        assert made - start == in_memory_made, "a commit that was left out makes no version"
        if number == 0:
            for where in WHERES:
                assert told(on_delta, where) == told(in_memory, where), where.sql


@pytest.mark.spark
def test_a_table_that_is_not_there_is_asked_nothing(spark: SparkSession, tmp_path: Path) -> None:
    context: Any = spark.sparkContext._jsc.sc()
    executions: Any = spark._jsparkSession.sharedState().statusStore()
    context.listenerBus().waitUntilEmpty()
    before = executions.executionsCount()
    assert SparkBooks(spark, Tables(spark, str(tmp_path))).read("forgotten") == []
    context.listenerBus().waitUntilEmpty()
    assert executions.executionsCount() == before


def test_a_table_that_was_made_anew_is_no_later_version_of_the_old_one(spark: SparkSession, tmp_path: Path) -> None:
    books = SparkBooks(spark, Tables(spark, str(tmp_path)))
    for is_known in (True, False):
        Tables(spark, str(tmp_path)).make("runs", RUNS.fields, "it")
        assert (books.version("runs") is not None) == is_known
        (tmp_path / "runs").rename(tmp_path / f"gone {is_known}")


@pytest.mark.spark
def test_peoples_own_columns_are_written_back(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    tables.create("warc_files")
    spark.sql(f"ALTER TABLE {tables.sql_name('warc_files')} ADD COLUMNS (mine INT)")
    books = SparkBooks(spark, tables)
    books.append("warc_files", [row("a", 1) | {"mine": 7}])
    found = books.read("warc_files")
    books.replace("warc_files", [found[0] | {"state": "done"}], among("batch", [1]))
    assert [(each["mine"], each["state"]) for each in books.read("warc_files")] == [(7, "done")]


@pytest.mark.spark
def test_the_log_tells_of_commits_and_counts_their_rows(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    log = tables.log("warc_files")
    assert (log.newest(), log.is_absent(), log.find(("x", 1), -1)) == (None, True, None)
    tables.create("warc_files")
    books = SparkBooks(spark, tables)
    frame = books.frame("warc_files", [row(str(i), 1) for i in range(5)]).repartition(3)
    before = log.newest()
    assert before is not None
    tables.append("warc_files", frame, ("x", 1))
    found = log.find(("x", 1), before.version)
    assert found is not None
    assert (found.version, found.rows) == (before.version + 1, 5)
    assert log.find(("x", 2), before.version) is None
    assert log.find(("x", 1), found.version) is None
    (tmp_path / "labels").mkdir()
    assert not tables.log("labels").is_absent()
