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


def turned_on(**values: str) -> str:
    listed = ", ".join(f"'delta.{key.replace('_', '.')}' = '{value}'" for key, value in values.items())
    return f"SET TBLPROPERTIES ({listed})"


# Each is the text after ALTER TABLE t. Properties of a group do not change each other's way of
# writing: a table with deletion vectors, say, writes no change feed when rows are deleted.
GROUPS = {
    "vectors": turned_on(
        enableDeletionVectors="true", enableTypeWidening="true", checkpointPolicy="v2", checkpointInterval="1"
    ),
    "mapping": turned_on(
        columnMapping_mode="name",
        minReaderVersion="2",
        minWriterVersion="5",
        enableChangeDataFeed="true",
        # Delta 4.4 refuses a log that is kept for less time than files that are deleted.
        deletedFileRetentionDuration="interval 0 days",
        logRetentionDuration="interval 0 days",
        checkpointInterval="1",
    ),
    "tracking": turned_on(enableRowTracking="true", enableInCommitTimestamps="true"),
}
CLUSTERED = {
    "warc_files": "batch",
    "runs": "epoch",
    "published": "batch",
    "forgotten": "batch",
    "relocated": "old_prefix",
}
"""Tables that have no partitions, and the columns by which the group `tracking` clusters them."""
REFUSED = {
    # Each with words of the sentence that refuses it.
    "append-only": (turned_on(appendOnly="true"), "'delta.appendOnly' = 'false'"),
    "CHECK": ("ADD CONSTRAINT few CHECK ({column} IS NOT NULL)", "DROP CONSTRAINT `few`"),
    # Of a release before the first one.
    "schema version 1": ("SET TBLPROPERTIES ('dripper.schema_version' = '1')", "a release of before"),
}


def alter(spark: SparkSession, tables: Tables, table: str, sql: str) -> None:
    column = tables.read(table).columns[0]
    spark.sql(f"ALTER TABLE {tables.sql_name(table)} {sql.format(column=column)}")


@dataclass(frozen=True)
class Output:
    """An output, and the folder of the archives that it was made of."""

    spark: SparkSession
    folder: Path
    output: str

    def archive(self, name: str) -> str:
        return str(self.folder / f"{name}.warc")


def run_again(at: Output, name: str, redo: str = "") -> None:
    outcome = run(at.spark, at.archive(name), at.output, ONE_BY_ONE, redo=redo)
    assert outcome.exit_code == 0, outcome.complaints


def run_staged(at: Output) -> None:
    outcome = run_stages(at.spark, STAGES, at.output, STAGED, at.archive("c"))
    assert outcome.exit_code == 0, outcome.complaints


COMMANDS: dict[str, Callable[[Output], object]] = {
    "run": lambda at: run_again(at, "b"),
    "--redo": lambda at: run_again(at, "old/a", redo=at.archive("old/a")),
    "forget": lambda at: list(forget(at.spark, at.output, [Rule("url", "http://example.org/2")], "asked")),
    "publish": lambda at: publish(at.spark, at.output),
    "maintain": lambda at: list(maintain(at.spark, at.output)),
    "--repair": lambda at: list(maintain(at.spark, at.output, repairs=True)),
    "--verify": lambda at: list(maintain(at.spark, at.output, verifies=True)),
    "relocate": lambda at: relocate(at.spark, at.output, move(f"{at.folder}/old", "/new")),
    "staged run": run_staged,
}
PARTS = [
    # Commands in order, and the pages that are there in the end. Each part starts from a copy of
    # the same output, and has only the commands that the last of them needs before it.
    (["run"], ["1", "2", "11"]),
    (["--redo"], ["1", "2"]),
    (["relocate"], ["1", "2"]),
    (["publish", "forget", "--verify"], ["1"]),
    (["publish", "maintain"], ["1", "2"]),
    (["staged run"], ["1", "2", "21"]),
    (["--repair"], ["1", "2"]),
]


@pytest.fixture(scope="module")
def template(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of archives, and `out`: an output with every table, for which one of them is
    read."""
    folder = tmp_path_factory.mktemp("properties")
    (folder / "old").mkdir()
    for i, (name, n) in enumerate({"old/a": 2, "b": 1, "c": 1}.items()):
        write_warc(folder / f"{name}.warc", pages(10 * i + 1, n))
    output = str(folder / "out")
    run(spark, str(folder / "old/a.warc"), output, ONE_BY_ONE)
    for table in EVERY:
        Tables(spark, output).create(table)
    return folder


@pytest.fixture
def at(spark: SparkSession, template: Path, tmp_path: Path) -> Output:
    return Output(spark, template, str(shutil.copytree(template / "out", tmp_path / "out")))


def turn_on(spark: SparkSession, template: Path, group: str) -> Path:
    """Return a copy of the output in which every table has these properties, made once."""
    output = template / group
    if not output.exists():
        made = shutil.copytree(template / "out", template / f"{group} in the making")
        tables = Tables(spark, str(made))
        for table in EVERY:
            alter(spark, tables, table, GROUPS[group])
            if group == "tracking" and table in CLUSTERED:
                alter(spark, tables, table, f"CLUSTER BY ({CLUSTERED[table]})")
        made.rename(output)
    return output


@pytest.mark.spark
@pytest.mark.draw("property")
@pytest.mark.parametrize(("commands", "left"), PARTS, ids=[" ".join(commands) for commands, _ in PARTS])
@pytest.mark.parametrize("group", GROUPS)
def test_every_command_works_with_properties_of_every_table(
    spark: SparkSession, template: Path, tmp_path: Path, group: str, commands: list[str], left: list[str]
) -> None:
    at = Output(spark, template, str(shutil.copytree(turn_on(spark, template, group), tmp_path / "out")))
    for command in commands:
        COMMANDS[command](at)
    urls = [row["url"].rpartition("/")[2] for row in Tables(spark, at.output).read("extractions").collect()]
    assert sorted(urls, key=int) == left


@pytest.mark.spark
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("table", ["extractions", pytest.param("others", marks=pytest.mark.slow)])
def test_every_command_refuses_a_property_before_it_writes_anything(at: Output, name: str, table: str) -> None:
    tables, (sql, undo) = Tables(at.spark, at.output), REFUSED[name]
    for each in EVERY if table == "others" else [table]:
        alter(at.spark, tables, each, sql)
        before = list_versions(at)
        for command in COMMANDS.values():
            with pytest.raises(InputError) as caught:
                command(at)
            assert undo in str(caught.value)
            assert tables.sql_name(each) in str(caught.value)
        assert list_versions(at) == before
        shutil.rmtree(Path(at.output) / each)
        shutil.copytree(at.folder / "out" / each, Path(at.output) / each)


def list_versions(at: Output) -> list[str]:
    """Return the commits of all tables, by their names."""
    return sorted(str(path) for path in Path(at.output).glob("*/_delta_log/*.json"))
