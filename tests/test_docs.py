"""What the documents say of the tables is what the tables are, and their SQL runs."""

import re
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
SQL = re.compile(r"```sql\n(.*?)```", re.DOTALL)


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


def statements(file: str) -> list[str]:
    """Return the SQL statements of a document."""
    blocks = SQL.findall((ROOT / file).read_text())
    return [statement.strip() for block in blocks for statement in block.split(";") if statement.strip()]


@pytest.mark.parametrize("file", ["README.md", "docs/tables.md"])
def test_the_sql_of_the_documents_runs(spark: "SparkSession", tmp_path: Path, file: str) -> None:
    from dripper.spark.tables import Tables

    for table in ("extractions", "warc_files"):
        Tables(spark, str(tmp_path)).create(table)
    found = statements(file)
    assert len(found) >= 3
    for statement in found:
        assert spark.sql(statement.replace("`out/", f"`{tmp_path}/")).collect() == []


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
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
