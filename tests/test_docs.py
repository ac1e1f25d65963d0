"""What the documents say of the tables is what the tables are, and their SQL runs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dripper.config import load
from dripper.errors import ErrorCode, FileErrorKind
from dripper.labels.fallback import Fallback
from dripper.warc.record import FLAGS, SKIP_REASONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
TABLES_MD = (ROOT / "docs" / "tables.md").read_text()
VIEWS = ("extractions", "warc_files", "runs")


def section(title: str) -> str:
    """Return what stands under a heading of docs/tables.md that begins with `title`."""
    return re.split(r"^## ", TABLES_MD.split(f"\n## {title}", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(text: str) -> set[str]:
    """Return the code words in the first cells of a table."""
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {word for row in rows for word in re.findall("`([^`]+)`", row)}


def test_every_column_stands_there_with_its_comment() -> None:
    from dripper.spark.schemas import TABLES

    for name, (schema, comment) in TABLES.items():
        rows = [f"| `{f.name}` | {f.dataType.simpleString()} | {f.metadata['comment']} |" for f in schema]
        expected = "\n".join([f"{comment}.", "", "| column | type | holds |", "|---|---|---|", *rows])
        assert expected in section(f"`{name}`"), name
    assert set(re.findall(r"^## `(\w+)`", TABLES_MD, re.MULTILINE)) == TABLES.keys()


def test_every_value_of_a_closed_list_is_explained_and_no_other() -> None:
    assert first_cells(section("Why there is no extraction")) == {code.value for code in ErrorCode}
    assert first_cells(section("What was skipped")) == set(SKIP_REASONS)
    assert first_cells(section("What was odd")) == set(FLAGS)
    decided = section("Who decided")
    assert set(re.findall(r"`fallback:(\w+)`", decided)) == {value.value for value in Fallback}


def fenced(file: str, language: str) -> list[str]:
    """Return the blocks of a document that are in a language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / file).read_text(), re.DOTALL)


def statements(text: str) -> list[str]:
    """Return SQL statements."""
    return [statement.strip() for statement in text.split(";") if statement.strip()]


@pytest.fixture(scope="module")
def views(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The statements that `make sql` begins with. Spark's relative paths start at a folder with the
    empty tables of `out`."""
    from dripper.spark.tables import Tables

    folder = tmp_path_factory.mktemp("clone")
    tables = Tables(spark, str(folder / "out"))
    for table in (*VIEWS, "published"):
        tables.create(table)
    java = spark._jvm
    files = java.org.apache.hadoop.fs.FileSystem.get(java.java.net.URI("file:///"), spark._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(java.org.apache.hadoop.fs.Path(str(folder)))
    spark.sql("SET output=out")
    yield statements((ROOT / "conf/views.sql").read_text())
    files.setWorkingDirectory(before)
    spark.sql("RESET output")
    for table in (*VIEWS, "published"):
        spark.catalog.dropTempView(table)


@pytest.mark.spark
@pytest.mark.parametrize("file", ["README.md", "docs/tables.md", "docs/operations.md"])
def test_the_sql_of_the_documents_runs_as_it_stands(spark: "SparkSession", views: list[str], file: str) -> None:
    asked = [statement for block in fenced(file, "sql") for statement in statements(block)]
    # The other queries are for `make sql`; docs/tables.md makes the views itself.
    for statement in asked if file == "docs/tables.md" else (*views, *asked):
        assert spark.sql(statement).collect() == [], statement
    assert len(asked) >= 3


def test_the_page_of_the_readme_gives_what_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    command, (python, *_), (told, printed) = (fenced("README.md", language) for language in ("sh", "python", "text"))
    (extract,) = [block for block in command if block.startswith("dripper extract tests/data")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        extract, shell=True, capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "PATH": path}
    )
    assert done.stdout == told
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        exec(python, {})
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("file", ["docs/python.md", "docs/labeler_cpu.md"])
def test_the_python_of_the_documents_runs(monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in fenced(file, "python"):
        exec(block, names)


def test_the_readme_is_short_and_names_what_there_is() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 100] == []
    makefile = (ROOT / "Makefile").read_text()
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"(?:^|`)make ([a-z-]+)(?=`|\s*$|\s+#| [A-Z]+=)", document.read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (document.name, target)


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)", document.read_text()):
            assert target.startswith("http") or (document.parent / target).exists(), (document.name, target)


def test_operations_explain_every_state_of_a_file_and_why_it_failed() -> None:
    from dripper.spark.ledger import CRASHED
    from dripper.spark.plan import FINISHED, UNFINISHED

    text = (ROOT / "docs/operations.md").read_text().split("\n## What a file's state wants", 1)[1].split("\n## ", 1)[0]
    states, kinds = text.split("| `error_kind` |")
    assert first_cells(states) == {*UNFINISHED, *FINISHED}
    assert first_cells(kinds) == {*FileErrorKind, CRASHED}


def test_the_settings_that_operations_name_exist() -> None:
    words = set(
        re.findall(r"`((?:batch|limits|labeler|reading|stages)\.\w+)`", (ROOT / "docs/operations.md").read_text())
    )
    settings = load().model_dump()
    assert {"batch.in_flight", "limits.page_memory_bytes"} <= words
    assert {word for word in words if word.split(".")[1] not in settings[word.split(".")[0]]} == set()
