"""Readers without Spark, over `extractions` as created, and after people turn on features: right,
refused, or wrong, as in docs/tables.md."""

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dripper.spark.tables.schemas import EXTRACTIONS
from dripper.spark.tables.store import Tables
from support.neighbour_rows import RIGHT, read_rows

pytestmark = pytest.mark.spark

NAMES = ("page_id", "batch", "warc_file", "warc_offset", "url", "host", "http_status", "language", "error_code")
ROWS = [
    (f"{i}", i // 2, "a.warc", i, f"https://{host}/{'long/' * 9}{i}", host, 200 + i, language, error)
    for i, (host, language, error) in enumerate(
        [("a.org", "de", None), ("b.org", None, "empty_page"), ("c.org", "en", None), ("\U0010ffff", "en", None)]
    )
]
MAPPED = (
    "SET TBLPROPERTIES ('delta.columnMapping.mode'='name', 'delta.minReaderVersion'='2', 'delta.minWriterVersion'='5')"
)
STATES = {
    "as made": [],
    "a column renamed": [MAPPED, "RENAME COLUMN error_code TO fault"],
    "deletion vectors": [
        "SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "DELETE FROM {table} WHERE batch = 0 AND page_id = '0'",
    ],
    "a type widened": [
        "SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "ALTER COLUMN http_status TYPE BIGINT",
    ],
    "v2 checkpoints": ["SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')"],
}


def by_deltalake(folder: str, filters: Any = None) -> list[dict[str, Any]]:
    from deltalake import DeltaTable

    rows: list[dict[str, Any]] = DeltaTable(folder).to_pyarrow_table(filters=filters).to_pylist()
    return rows


def by_polars(folder: str, filters: Any = None) -> list[dict[str, Any]]:
    import polars

    frame = polars.scan_delta(folder)
    for name, _, value in filters or ():
        frame = frame.filter(polars.col(name) == value)
    return frame.collect().to_dicts()


READERS: dict[str, Callable[..., list[dict[str, Any]]]] = {"deltalake": by_deltalake, "polars": by_polars}
WRONG, REFUSED = "wrong", "refused"
EXPECTED = {
    ("a column renamed", "deltalake"): WRONG,
    ("a column renamed", "polars"): REFUSED,
    ("deletion vectors", "deltalake"): REFUSED,
    ("a type widened", "deltalake"): REFUSED,
    ("a type widened", "polars"): REFUSED,
    ("v2 checkpoints", "deltalake"): REFUSED,
    ("v2 checkpoints", "polars"): REFUSED,
}
"""All other pairs read the rows that Spark reads."""


TABLE = Path(__file__).parents[3] / "docs" / "neighbours" / "tables.md"
ROWS_OF_STATES = {
    "as made": "`extractions` of this project",
    "a column renamed": "column mapping, and a column renamed",
    "deletion vectors": "deletion vectors",
    "a type widened": "type widening, INT to BIGINT",
    "v2 checkpoints": "a v2 checkpoint, and the log before it removed",
}


def test_the_table_of_readers_says_the_same() -> None:
    rows = {
        name: {reader.lower(): word for reader, word in row.items()}
        for name, row in read_rows(TABLE.read_text()).items()
    }
    for state, row in ROWS_OF_STATES.items():
        for reader in READERS:
            word = {None: RIGHT, WRONG: "**", REFUSED: "refused"}[EXPECTED.get((state, reader))]
            assert rows[row].get(reader, RIGHT).startswith(word), (row, reader)
    # chDB has no NULL for a map, such as `runs.skipped`.
    others = [found for name, found in rows.items() if "of this project" in name and "`runs`" not in name]
    assert others == [{}, {}, {}]


@pytest.fixture(scope="module")
def template(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output with four pages."""
    output = tmp_path_factory.mktemp("readers")
    tables = Tables(spark, str(output))
    tables.create("extractions")
    tables.append("extractions", spark.createDataFrame(ROWS, StructType([EXTRACTIONS[name] for name in NAMES])))
    return output


def readers() -> list[str]:
    return [name for name in READERS if find_spec(name)]


def test_a_filter_on_any_column_finds_its_rows(template: Path) -> None:
    """Also on columns without statistics, and on texts that are longer than these or end beyond
    them."""
    for reader in readers():
        for at, name in enumerate(NAMES):
            for row in ROWS:
                if row[at] is not None:
                    found = READERS[reader](f"{template}/extractions", [(name, "=", row[at])])
                    wanted = [each[0] for each in ROWS if each[at] == row[at]]
                    assert sorted(each["page_id"] for each in found) == wanted, (reader, name, row[at])


@pytest.mark.parametrize("state", STATES)
def test_what_readers_make_of_a_table(spark: SparkSession, template: Path, tmp_path: Path, state: str) -> None:
    folder = str(shutil.copytree(template / "extractions", tmp_path / "extractions"))
    for statement in STATES[state]:
        text = statement if statement.startswith("DELETE") else f"ALTER TABLE {{table}} {statement}"
        spark.sql(text.format(table=f"delta.`{folder}`"))
    table = spark.read.format("delta").load(folder)
    names = [name for name in table.columns if name in (*NAMES, "fault")]
    wanted = sorted((tuple(row[name] for name in names) for row in table.collect()), key=repr)
    for reader in readers():
        expected = EXPECTED.get((state, reader))
        try:
            found = READERS[reader](folder)
        except Exception:
            assert expected == REFUSED, (state, reader)
            continue
        told = sorted((tuple(row[name] for name in names) for row in found), key=repr)
        assert (told == wanted) == (expected != WRONG), (state, reader, told[:1])
        assert expected != REFUSED, (state, reader)
