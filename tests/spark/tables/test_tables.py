"""The tables on real Delta: schema, comments, versions, and batches that are replaced as a
whole."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from dripper.errors import InputError
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.spark.tables.data_files import DATA_FILES
from dripper.spark.tables.schemas import EXTRACTIONS, PROPERTIES, SCHEMA_VERSION, TABLES, WARC_FILES
from dripper.spark.tables.sql import missing_fields
from dripper.spark.tables.store import Tables

pytestmark = pytest.mark.spark


def ledger_rows(spark: SparkSession, batch: int, *names: str) -> DataFrame:
    rows = [
        tuple({"warc_file": name, "batch": batch, "state": "done"}.get(field) for field in WARC_FILES.names)
        for name in names
    ]
    return spark.createDataFrame(rows, WARC_FILES)


@pytest.fixture(autouse=True)
def _tables_are_made(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere they are copies (support/table_templates.py)."""
    monkeypatch.setattr(Tables, "bring_up", Tables.bring_up.__wrapped__)  # type: ignore[attr-defined]


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    made = Tables(spark, str(tmp_path / "out"))
    made.create("warc_files")
    return made


def test_a_new_table_has_the_schema_comments_and_version(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    tables.create("extractions")
    frame = tables.read("extractions")
    assert [(f.name, f.dataType) for f in frame.schema] == [(f.name, f.dataType) for f in EXTRACTIONS]
    comments = {
        row["col_name"]: row["comment"] for row in spark.sql(f"DESCRIBE {tables.sql_name('extractions')}").collect()
    }
    assert comments["markdown"].startswith("main_html as Markdown")
    assert all(comments[field.name] for field in EXTRACTIONS)
    properties = spark.sql(f"DESCRIBE DETAIL {tables.sql_name('extractions')}").head()
    assert properties["properties"]["dripper.schema_version"] == str(SCHEMA_VERSION)
    assert properties["partitionColumns"] == ["batch"]


def test_a_batch_written_twice_is_there_once(spark: SparkSession, tables: Tables) -> None:
    tables.replace_batch("warc_files", ledger_rows(spark, 1, "a", "b"), Batch(1, ()))
    tables.replace_batch("warc_files", ledger_rows(spark, 2, "c"), Batch(2, ()))
    tables.replace_batch("warc_files", ledger_rows(spark, 1, "b", "d"), Batch(1, ()))
    rows = {(row["batch"], row["warc_file"]) for row in tables.read("warc_files").collect()}
    assert rows == {(1, "b"), (1, "d"), (2, "c")}


def test_a_batch_takes_the_place_of_what_its_files_left_elsewhere(spark: SparkSession, tables: Tables) -> None:
    tables.append("warc_files", ledger_rows(spark, 1, "it's", "b").union(ledger_rows(spark, 2, "c")))
    again = Batch(3, (PlannedFile("it's", replaces=1), PlannedFile("d")))
    for _ in range(2):
        tables.replace_batch("warc_files", ledger_rows(spark, 3, "it's", "d"), again)
        rows = {(row["batch"], row["warc_file"]) for row in tables.read("warc_files").collect()}
        assert rows == {(1, "b"), (2, "c"), (3, "it's"), (3, "d")}


def test_rows_are_replaced_where_deletion_vectors_are_on(spark: SparkSession, tables: Tables) -> None:
    """Delta cannot mark rows in a table that has a column `path`, as the ledger does."""
    tables.append("warc_files", ledger_rows(spark, 1, "a", "b").union(ledger_rows(spark, 2, "c")))
    spark.sql(f"ALTER TABLE {tables.sql_name('warc_files')} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    tables.replace_batch("warc_files", ledger_rows(spark, 1, "d"), Batch(1, ()))
    assert {row["warc_file"] for row in tables.read("warc_files").collect()} == {"c", "d"}
    assert not any('"deletionVector"' in log.read_text() for log in Path(tables.output).glob("*/_delta_log/*.json"))


def test_data_files_are_laid_out_for_those_who_look_for_a_page(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    tables.create("extractions")
    pages = [(f"{i}", 1, "a.warc", i, f"http://{host}.org/{i}", f"{host}.org") for i, host in enumerate("cabcab")]
    names = ("page_id", "batch", "warc_file", "warc_offset", "url", "host")
    schema = StructType([EXTRACTIONS[name] for name in names])
    tables.append("extractions", spark.createDataFrame(pages, schema).coalesce(1))
    assert DATA_FILES.keys().isdisjoint(dict(spark.conf.getAll)), "they are set while something is written"
    (file,) = (tmp_path / "extractions/batch=1").glob("*.parquet")
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    urls = pq.read_table(file, columns=["url"])["url"].to_pylist()
    assert urls == [f"http://{at}" for at in ("a.org/1", "a.org/4", "b.org/2", "b.org/5", "c.org/0", "c.org/3")]
    (add,) = (
        json.loads(line)["add"]
        for log in (tmp_path / "extractions/_delta_log").glob("*.json")
        for line in log.read_text().splitlines()
        if line.startswith('{"add"')
    )
    assert set(json.loads(add["stats"])["minValues"]) == {"page_id", "url", "host", "warc_file"}


def test_a_table_of_an_older_release_gets_the_layout_but_what_a_person_has_set_stays(
    spark: SparkSession, tables: Tables
) -> None:
    assert tables.set_layout("warc_files", PROPERTIES["warc_files"]) == []
    wanted = {"a": "1", "delta.dataSkippingStatsColumns": "pages"}
    assert tables.set_layout("warc_files", wanted) == ["a"]
    assert tables.properties("warc_files")["delta.dataSkippingStatsColumns"] == "batch"


def test_a_number_that_was_there_adds_nothing(spark: SparkSession, tables: Tables) -> None:
    for name, number in (("a", 1), ("b", 1), ("c", 2)):
        tables.append("warc_files", ledger_rows(spark, 1, name), ("runs", number))
    assert {row["warc_file"] for row in tables.read("warc_files").collect()} == {"a", "c"}


def test_what_another_driver_made_first_is_taken_as_it_is(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked, and seen no table, or one without a column, before one of them makes it."""
    assert tables.bring_up("warc_files", False) is False
    seen = [tables.read("warc_files").drop("error")]
    monkeypatch.setattr(tables, "read", lambda table: seen.pop() if seen else Tables.read(tables, table))
    assert tables.bring_up("warc_files", True) is False
    assert not seen


def test_a_table_gets_the_columns_that_it_lacks_and_keeps_a_users_own(spark: SparkSession, tmp_path: Path) -> None:
    tables = Tables(spark, str(tmp_path))
    properties = f"TBLPROPERTIES ('dripper.schema_version' = '{SCHEMA_VERSION}')"
    spark.sql(
        f"CREATE TABLE {tables.sql_name('warc_files')} (warc_file STRING NOT NULL, batch BIGINT NOT NULL, mine INT) "
        f"USING delta {properties}"
    )
    spark.sql(f"INSERT INTO {tables.sql_name('warc_files')} VALUES ('a', 1, 7)")
    assert tables.create("warc_files") is False
    assert set(tables.read("warc_files").columns) == {*WARC_FILES.names, "mine"}
    row = tables.read("warc_files").collect()[0]
    assert (row["warc_file"], row["mine"], row["version"]) == ("a", 7, None)
    tables.append("warc_files", ledger_rows(spark, 2, "b"))
    assert tables.read("warc_files").count() == 2


OLD = (
    "page_id STRING NOT NULL, batch BIGINT NOT NULL, url STRING, page_metadata STRUCT<a: INT>, "
    "seen ARRAY<STRUCT<a: INT>>, by MAP<STRING, STRUCT<a: INT>>"
)


@pytest.fixture
def grown(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """An output of an older release: its table `labels` has a row, and lacks fields of structs."""
    now = OLD.replace("<a: INT>", "<b: STRUCT<c: STRING>, a: INT>")
    fields = [StructField(f.name, f.dataType, f.nullable, {"comment": "it"}) for f in StructType.fromDDL(now)]
    monkeypatch.setitem(TABLES, "labels", (StructType(fields), "it"))
    tables = Tables(spark, str(tmp_path))
    mapping = "'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"
    properties = f"TBLPROPERTIES ('dripper.schema_version' = '{SCHEMA_VERSION}', {mapping})"
    spark.sql(f"CREATE TABLE {tables.sql_name('labels')} ({OLD}) USING delta {properties}")
    values = "'p', 1, 'u', named_struct('a', 1), array(named_struct('a', 2)), map('k', named_struct('a', 3))"
    spark.sql(f"INSERT INTO {tables.sql_name('labels')} VALUES ({values})")
    return tables


def test_structs_get_the_fields_that_they_lack(spark: SparkSession, grown: Tables) -> None:
    assert grown.create("labels") is False
    schema = TABLES["labels"][0]
    assert not missing_fields(schema, grown.read("labels").schema)
    value = {"b": {"c": "new"}, "a": 4}
    rows = spark.createDataFrame([("q", 2, "v", value, [value], {"k": value})], schema)
    grown.replace_batch("labels", rows, Batch(2, ()))
    old, new = (row.asDict(recursive=True) for row in grown.read("labels").orderBy("batch").collect())
    assert (old["page_metadata"], old["seen"], old["by"]) == (
        {"a": 1, "b": None},
        [{"a": 2, "b": None}],
        {"k": {"a": 3, "b": None}},
    )
    assert (new["page_metadata"], new["seen"], new["by"]) == (value, [value], {"k": value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("RENAME COLUMN url TO address", r"had the column url, which was renamed to address: name it so again \(ALTER"),
        ("RENAME COLUMN page_metadata.a TO z", r"had the column page_metadata.a, which was renamed to page_metadata.z"),
        ("DROP COLUMN url", "had the column url, which was dropped: restore it"),
    ],
)
def test_a_column_that_somebody_renamed_or_dropped_is_not_made_again(
    spark: SparkSession, grown: Tables, change: str, words: str
) -> None:
    spark.sql(f"ALTER TABLE {grown.sql_name('labels')} {change}")
    before = grown.read("labels").schema
    with pytest.raises(InputError, match=words):
        grown.create("labels")
    assert grown.read("labels").schema == before


def test_rows_of_another_batch_are_refused(spark: SparkSession, tables: Tables) -> None:
    with pytest.raises(Exception, match="REPLACE_WHERE"):
        tables.replace_batch("warc_files", ledger_rows(spark, 2, "a"), Batch(1, ()))


@pytest.mark.parametrize("file", ["_delta_log/.begun", "begun"])
def test_a_table_that_another_driver_is_creating_is_waited_for(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """Delta writes files into the folder before the table's first version."""
    mine, other = (Tables(spark, str(tmp_path / name)) for name in ("mine", "other"))
    other.create("runs")
    begun = tmp_path / "mine" / "runs" / file
    begun.parent.mkdir(parents=True)
    begun.touch()

    def end_its_creation(seconds: float) -> None:
        if seconds:
            shutil.copytree(tmp_path / "other" / "runs", tmp_path / "mine" / "runs", dirs_exist_ok=True)

    monkeypatch.setattr("dripper.spark.tables.store.sleep", end_its_creation)
    assert not mine.create("runs")
    assert mine.read("runs").count() == 0


def test_creating_again_keeps_what_is_there(spark: SparkSession, tables: Tables) -> None:
    tables.append("warc_files", ledger_rows(spark, 1, "a"))
    tables.create("warc_files")
    assert tables.read("warc_files").count() == 1


def test_delete_takes_only_what_the_condition_names(spark: SparkSession, tables: Tables) -> None:
    tables.append("warc_files", ledger_rows(spark, 1, "a", "b"))
    tables.delete("warc_files", "batch IN (1) AND warc_file IN ('a')")
    assert [row["warc_file"] for row in tables.read("warc_files").collect()] == ["b"]


def test_a_table_of_another_version_is_refused(spark: SparkSession, tables: Tables) -> None:
    spark.sql(f"ALTER TABLE {tables.sql_name('warc_files')} SET TBLPROPERTIES ('dripper.schema_version' = '99')")
    with pytest.raises(
        InputError, match=r"schema version 99, this release \(dripper .*\) writes 2: use a newer release"
    ):
        tables.create("warc_files")


def test_a_foreign_delta_table_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "extractions"))
    with pytest.raises(InputError, match="was made by another program"):
        Tables(spark, str(tmp_path)).create("extractions")


def test_a_folder_of_something_else_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "extractions").mkdir()
    (tmp_path / "extractions" / "notes.txt").write_text("mine")
    with pytest.raises(
        InputError, match=r"cannot create .*[^.]\. It has files but no Delta log: .*move the table's folder away"
    ):
        Tables(spark, str(tmp_path)).create("extractions")


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("{folder}/file", "cannot create .*DELTA_CANNOT_CREATE_LOG_PATH"),
        ("s3a://bucket/out", "S3AFileSystem not found.*--packages org.apache.hadoop:hadoop-aws"),
        ("nowhere://bucket/out", 'No FileSystem for scheme "nowhere"'),
        ("no_catalog.main", "may not know such a catalog; a folder of that name is --output ./no_catalog.main"),
    ],
)
def test_an_output_that_cannot_be_is_one_sentence(spark: SparkSession, tmp_path: Path, output: str, words: str) -> None:
    (tmp_path / "file").touch()
    tables = Tables(spark, output.format(folder=tmp_path))
    with pytest.raises(InputError, match=words) as caught:
        tables.create("warc_files")
    assert "\n" not in str(caught.value)


def test_catalog_names_work_too(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS spark_catalog.dripper_tests")
    tables = Tables(spark, "spark_catalog.dripper_tests")
    try:
        tables.create("warc_files")
        tables.replace_batch("warc_files", ledger_rows(spark, 1, "a"), Batch(1, ()))
        assert spark.sql("SELECT warc_file FROM spark_catalog.dripper_tests.warc_files").head()["warc_file"] == "a"
    finally:
        spark.sql("DROP SCHEMA spark_catalog.dripper_tests CASCADE")


@pytest.mark.parametrize(
    ("output", "in_catalog"),
    [
        ("out", False),
        ("./out", False),
        ("/data/out", False),
        ("s3a://bucket/x", False),
        ("main.web", True),
        ("my-catalog.web-2026", True),
        ("out-1.0", False),
        ("my.v1.0", False),
        ("main.2024_crawl", True),
        ("main.web ", True),
        ("`main`.`2024`", True),
        ("hdfs:/out", False),
    ],
)
def test_output_is_a_place_or_a_catalog_name(spark: SparkSession, output: str, in_catalog: bool) -> None:
    tables = Tables(spark, output)
    assert tables.in_catalog is in_catalog
    if in_catalog:
        assert tables.sql_name("runs") == "`{}`.`{}`.`runs`".format(*output.strip().replace("`", "").split("."))


@pytest.mark.parametrize("output", ["dbfs:/mnt/x", "s3:/bucket/x", "file://host/x", "main.crawl.pages"])
def test_what_looks_like_an_address_becomes_no_folder(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--output"):
        Tables(spark, output)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_output_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InputError, match="--output is empty"):
        Tables(spark, " ")
