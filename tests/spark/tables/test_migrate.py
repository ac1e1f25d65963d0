"""Tables of the first release: the next run brings them up to this one, and reads nothing again
that it does not have to."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.config import Settings
from dripper.errors import InputError
from dripper.spark.run.run import run
from dripper.spark.tables.migrate import renamings, tables_to_migrate
from dripper.spark.tables.schemas import SCHEMA_VERSION
from dripper.spark.tables.store import Tables
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark

_FIRST_LEDGER = (
    "warc_file STRING NOT NULL, batch BIGINT NOT NULL, state STRING, size_bytes BIGINT, bytes_read BIGINT, "
    "records BIGINT, pages BIGINT, failed_pages BIGINT, skipped MAP<STRING, BIGINT>, clipped BOOLEAN, "
    "n_problems BIGINT, problems ARRAY<STRING>, error STRING, finished_at TIMESTAMP"
)


def as_first_release(spark: SparkSession, output: Path, typed: dict[str, str]) -> None:
    """Turn the tables of a run into those that the first release would have left, had the files
    been typed so."""
    tables = Tables(spark, str(output))
    for table in ("extractions", "warc_files"):
        rows = [row.asDict() for row in tables.read(table).collect()]
        for row in rows:
            row["warc_file"] = typed[Path(row["warc_file"]).name]
            if table == "extractions":
                row["page_id"] = hashlib.sha256(f"{row['warc_file']}\n{row['warc_offset']}".encode()).hexdigest()[:32]
        schema = tables.read(table).schema
        fields = [name.split(" ")[0] for name in _FIRST_LEDGER.split(", ") if " " in name and name[0].islower()]
        names = schema.names if table == "extractions" else [name for name in schema.names if name in fields]
        frame = spark.createDataFrame([tuple(row[name] for name in schema.names) for row in rows], schema).select(
            *names
        )
        unset = "UNSET TBLPROPERTIES IF EXISTS ('delta.dataSkippingStatsColumns')"
        spark.sql(f"ALTER TABLE {tables.sql_name(table)} {unset}")
        whole = frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        whole.partitionBy("batch").save(f"{output}/{table}")
        spark.sql(f"ALTER TABLE {tables.sql_name(table)} SET TBLPROPERTIES ('dripper.schema_version' = '1')")


@pytest.mark.slow
def test_rows_get_the_addresses_and_ids_of_this_release(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        write_warc(tmp_path / f"{name}.warc", pages(10 * ord(name), 2))
    output = tmp_path / "out"
    run(spark, "a.warc,b.warc", str(output), Settings())
    tables = Tables(spark, str(output))
    before = {row["page_id"]: row for row in tables.read("extractions").collect()}
    as_first_release(spark, output, {"a.warc": "a.warc", "b.warc": f"file://{tmp_path}/b.warc"})
    assert not before.keys() & {row["page_id"] for row in tables.read("extractions").collect()}
    outcome = run(spark, str(tmp_path / "*.warc"), str(output), Settings())
    assert (outcome.exit_code, outcome.totals.files, outcome.plan.n_done) == (0, 1, 2)
    after = {row["page_id"]: row for row in tables.read("extractions").collect()}
    assert {page_id: after[page_id] for page_id in before} == before
    assert len(after) == 6
    assert {name: tables.version(name) for name in ("extractions", "warc_files")} == {
        "extractions": SCHEMA_VERSION,
        "warc_files": SCHEMA_VERSION,
    }
    detail = spark.sql(f"DESCRIBE DETAIL {tables.sql_name('warc_files')}").head()
    assert detail["partitionColumns"] == []
    assert detail["properties"]["delta.dataSkippingStatsColumns"] == "batch"


def test_of_a_file_that_was_read_under_several_names_the_last_whole_reading_stays(tmp_path: Path) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    file = f"{tmp_path}/a.warc"
    ledger = [
        {"warc_file": f"file://{file}", "state": "done", "finished_at": late},
        {"warc_file": file, "state": "done", "finished_at": early},
        {"warc_file": f"file:{file}", "state": "failed", "finished_at": late},
        {"warc_file": "s3a://bucket/k", "state": "planned", "finished_at": None},
        {"warc_file": "nowhere/x.warc", "state": "done", "finished_at": early},
    ]
    renamed, dropped = renamings(ledger)
    assert renamed == {f"file://{file}": file, "s3a://bucket/k": "s3://bucket/k"}
    assert sorted(dropped) == [file, f"file:{file}"]


def test_a_table_of_a_newer_release_or_of_another_program_is_left_alone(tmp_path: Path) -> None:
    class Named:
        """As much of the tables as is asked."""

        @staticmethod
        def sql_name(table: str) -> str:
            return table

    with pytest.raises(InputError, match="schema version 9, this release writes"):
        tables_to_migrate(Named(), [9], ["warc_files"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="made by another program"):
        tables_to_migrate(Named(), [0], ["warc_files"])  # type: ignore[arg-type]
    assert tables_to_migrate(Named(), [1, None, 2], ["a", "b", "c"]) == ["a"]  # type: ignore[arg-type]
