"""Properties that people turn on for tables of an output: every command works with them, or refuses
the output before it writes anything, with the SQL that undoes the property."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.labels.config import load
from dripper.spark.ledger.forgotten import Rule
from dripper.spark.ledger.relocated import move, relocate
from dripper.spark.run.run import run, run_stages
from dripper.spark.run.staged import STAGES
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.forget import forget
from dripper.spark.upkeep.maintain import maintain
from dripper.spark.upkeep.publish import publish
from support.warcs import pages, write_warc

ONE_BY_ONE = load(assignments=["batch.files=1"])
STAGED = load(assignments=["batch.files=1", "labeler.name=all", "labeler.staged=true"])
EVERY = (
    *("extractions", "warc_files", "runs", "published", "pages", "blocks", "labels"),
    *("layouts", "forgotten", "relocated", "evaluations"),
)
NOT_PARTITIONED = ("warc_files", "runs", "published", "forgotten", "relocated")


@dataclass(frozen=True)
class Property:
    """Something that SQL turns on for a table."""

    sql: str
    """What follows ALTER TABLE t; {column}: one of its columns."""
    tables: tuple[str, ...] = EVERY
    undo: str = ""
    """Words of the sentence that refuses it; "": it is allowed."""


def turned_on(**values: str) -> str:
    listed = ", ".join(f"'delta.{key.replace('_', '.')}' = '{value}'" for key, value in values.items())
    return f"SET TBLPROPERTIES ({listed})"


MAPPED = turned_on(columnMapping_mode="name", minReaderVersion="2", minWriterVersion="5")
PROPERTIES = {
    "deletion vectors": Property(turned_on(enableDeletionVectors="true")),
    "column mapping": Property(MAPPED),
    "type widening": Property(turned_on(enableTypeWidening="true")),
    "row tracking": Property(turned_on(enableRowTracking="true")),
    "change feed": Property(turned_on(enableChangeDataFeed="true")),
    "clustering": Property("CLUSTER BY ({column})", NOT_PARTITIONED),
    "in-commit timestamps": Property(turned_on(enableInCommitTimestamps="true")),
    "v2 checkpoints": Property(turned_on(checkpointPolicy="v2", checkpointInterval="1")),
    "log retention 0": Property(turned_on(logRetentionDuration="interval 0 days", checkpointInterval="1")),
    "append-only": Property(turned_on(appendOnly="true"), undo="'delta.appendOnly' = 'false'"),
    "CHECK": Property("ADD CONSTRAINT few CHECK ({column} IS NOT NULL)", undo="DROP CONSTRAINT `few`"),
    # Of a release before the first one.
    "schema version 1": Property("SET TBLPROPERTIES ('dripper.schema_version' = '1')", undo="a release of before"),
}
COLUMNS = {"runs": "epoch", "relocated": "old_prefix"}


def turn_on(spark: SparkSession, tables: Tables, table: str, name: str) -> None:
    column = COLUMNS.get(table, "batch")
    spark.sql(f"ALTER TABLE {tables.sql_name(table)} {PROPERTIES[name].sql.format(column=column)}")


@dataclass(frozen=True)
class Output:
    """An output, and the archives that it was made of."""

    spark: SparkSession
    folder: Path
    output: str

    def archive(self, name: str) -> str:
        return str(self.folder / f"{name}.warc")


def run_again(at: Output, name: str = "a", redo: str = "") -> None:
    outcome = run(at.spark, at.archive(name), at.output, ONE_BY_ONE, redo=redo)
    assert outcome.exit_code == 0, outcome.complaints


def run_staged(at: Output) -> None:
    outcome = run_stages(at.spark, STAGES, at.output, STAGED, at.archive("d"))
    assert outcome.exit_code == 0, outcome.complaints


COMMANDS: dict[str, Callable[[Output], object]] = {
    "run": lambda at: run_again(at, "c"),
    "--redo": lambda at: run_again(at, redo=at.archive("a")),
    "forget": lambda at: list(forget(at.spark, at.output, [Rule("url", "http://example.org/2")], "asked")),
    "publish": lambda at: publish(at.spark, at.output),
    "maintain": lambda at: list(maintain(at.spark, at.output)),
    "--repair": lambda at: list(maintain(at.spark, at.output, repairs=True)),
    "--verify": lambda at: list(maintain(at.spark, at.output, verifies=True)),
    "relocate": lambda at: relocate(at.spark, at.output, move(f"{at.folder}/moved", "/new")),
    "staged run": run_staged,
}


@pytest.fixture(scope="module")
def template(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of archives, and `out`: an output with every table, for which two of them are
    read."""
    return make_output(spark, tmp_path_factory.mktemp("properties"))


def make_output(spark: SparkSession, folder: Path) -> Path:
    (folder / "moved").mkdir()
    for i, name in enumerate(("a", "moved/b", "c", "d")):
        write_warc(folder / f"{name}.warc", pages(10 * i + 1, 2))
    output = str(folder / "out")
    run(spark, f"{folder}/a.warc,{folder}/moved/b.warc", output, ONE_BY_ONE)
    publish(spark, output)
    for table in EVERY:
        Tables(spark, output).create(table)
    return folder


@pytest.fixture
def at(spark: SparkSession, template: Path, tmp_path: Path) -> Output:
    return Output(spark, template, str(shutil.copytree(template / "out", tmp_path / "out")))


ALLOWED = [name for name, each in PROPERTIES.items() if not each.undo]
REFUSED = [name for name, each in PROPERTIES.items() if each.undo]


@pytest.mark.spark
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.draw("property")) for name in ALLOWED])
def test_every_command_works_with_a_property_of_every_table(at: Output, name: str) -> None:
    turn_on_everywhere(at, name)
    for command, do in COMMANDS.items():
        if command != "staged run":
            do(at)
    urls = [row["url"].rpartition("/")[2] for row in Tables(at.spark, at.output).read("extractions").collect()]
    assert sorted(urls, key=int) == ["1", "11", "12", "21", "22"]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", ALLOWED)
def test_a_staged_run_works_with_a_property_of_every_table(at: Output, name: str) -> None:
    turn_on_everywhere(at, name)
    run_staged(at)


def turn_on_everywhere(at: Output, name: str) -> None:
    for table in PROPERTIES[name].tables:
        turn_on(at.spark, Tables(at.spark, at.output), table, name)


@pytest.mark.spark
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("table", ["extractions", pytest.param("others", marks=pytest.mark.slow)])
def test_every_command_refuses_a_property_before_it_writes_anything(at: Output, name: str, table: str) -> None:
    tables = Tables(at.spark, at.output)
    for each in EVERY if table == "others" else [table]:
        turn_on(at.spark, tables, each, name)
        before = list_versions(at)
        for command in COMMANDS.values():
            with pytest.raises(InputError) as caught:
                command(at)
            assert PROPERTIES[name].undo in str(caught.value)
            assert tables.sql_name(each) in str(caught.value)
        assert list_versions(at) == before
        shutil.rmtree(Path(at.output) / each)
        shutil.copytree(at.folder / "out" / each, Path(at.output) / each)


def list_versions(at: Output) -> list[str]:
    """Return the commits of all tables, by their names."""
    return sorted(str(path) for path in Path(at.output).glob("*/_delta_log/*.json"))
