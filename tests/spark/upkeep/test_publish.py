"""The published table: the rows of `extractions`, each once, after any redo or kill, and clustered
for queries by host."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dripper.errors import BusyError, InputError
from dripper.labels.config import load
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.reconcile import Difference
from dripper.spark.run.run import run
from dripper.spark.tables.row_keys import page_keys
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep import publish as publishing
from dripper.spark.upkeep.publish import publish
from support.job_mains import job
from support.warcs import Response, pages, write_warc

pytestmark = pytest.mark.spark

ONE_BY_ONE = load(assignments=["batch.files=1"])


def rows(frame: DataFrame) -> list[Any]:
    named = [name for name in frame.columns if name != "batch_version" and not name.startswith("_")]
    return frame.select(*sorted(named)).orderBy("page_id").collect()


def assert_same(tables: Tables, *left_out: str) -> None:
    assert rows(tables.read("published")) == rows(tables.read("extractions").drop(*left_out))


@pytest.fixture(scope="module")
def first_night(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two archives, and an output into which both were read."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "in").mkdir()
    write_warc(folder / "in/a.warc", pages(0, 2))
    write_warc(folder / "in/b.warc", pages(10, 2))
    assert run(spark, str(folder / "in"), str(folder / "out"), ONE_BY_ONE).exit_code == 0
    return folder


@pytest.fixture
def nights(spark: SparkSession, first_night: Path, tmp_path: Path) -> Iterator[tuple[Tables, Callable[..., None]]]:
    """A copy of the first night's tables, and a function that writes some archives and runs the job
    over all of them. Archives keep their place, by which the tables know them."""
    archives, output = first_night / "in", shutil.copytree(first_night / "out", tmp_path / "out")
    kept = shutil.copytree(archives, tmp_path / "in")

    def night(**changed: list[Response]) -> None:
        for name, responses in changed.items():
            write_warc(archives / f"{name}.warc", responses)
        assert run(spark, str(archives), str(output), ONE_BY_ONE).exit_code == 0

    yield Tables(spark, str(output)), night
    shutil.rmtree(archives)
    shutil.copytree(kept, archives)


@pytest.mark.slow
def test_what_changed_is_replaced_and_nothing_else(
    spark: SparkSession,
    nights: tuple[Tables, Callable[..., None]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables, night = nights
    with pytest.raises(InputError, match="there is no table extractions"):
        publish(spark, str(tmp_path / "nothing"))
    assert job("maintain").main(["--output", tables.output, "--publish", "--without-main-html"]) == 0
    assert "2 batches with 4 rows published in 1 commit" in capsys.readouterr().out
    assert_same(tables, "main_html")
    before = {row["page_id"]: row["batch_version"] for row in tables.read("published").collect()}
    n_commits = commits(spark, tables)
    assert publish(spark, tables.output).endswith("nothing to publish, all 2 batches are there")
    assert commits(spark, tables) == n_commits

    night(a=pages(1, 3), c=[("http://example.org/empty.png", b"\x89PNG")])
    assert "2 batches with 3 rows published in 1 commit" in publish(spark, tables.output)
    assert_same(tables, "main_html")
    after = {
        row["page_id"]: row["batch_version"] for row in tables.read("published").where("url LIKE '%/1_'").collect()
    }
    assert after.items() <= before.items()
    drops = f"ALTER TABLE {tables.sql_name('published')} SET TBLPROPERTIES ('dripper.schema_version' = '1')"
    spark.sql(drops)
    with pytest.raises(InputError, match="has schema version 1"):
        publish(spark, tables.output)


@pytest.mark.slow
def test_a_kill_between_commits_doubles_nothing_nor_does_a_run_beside_it(
    spark: SparkSession, nights: tuple[Tables, Callable[..., None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, _ = nights
    monkeypatch.setattr(publishing, "_ROWS_A_COMMIT", 2)
    append, done = Tables.append, []

    def killed(self: Tables, table: str, frame: DataFrame, *more: Any, **options: Any) -> None:
        if table == "published" and done:
            raise RuntimeError("killed")
        done.extend([table] * (table == "published"))
        append(self, table, frame, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Tables, "append", killed)
        with pytest.raises(RuntimeError, match="killed"):
            publish(spark, tables.output)
    assert tables.read("published").count() == 2

    other = Lease(SparkBooks(spark, tables))
    other.take(job="run")
    with pytest.raises(BusyError, match="another run is at work on this output"):
        publish(spark, tables.output)
    other.end("ended")
    assert "1 batch with 2 rows published in 1 commit" in publish(spark, tables.output)
    assert_same(tables)


def commits(spark: SparkSession, tables: Tables) -> int:
    return spark.sql(f"DESCRIBE HISTORY {tables.sql_name('published')}").count()


@pytest.mark.slow
def test_ten_nights_end_in_few_files_of_which_a_host_reads_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables(spark, str(tmp_path / "out"))
    hosts = [(f"http://host{i}.example.org/{i}", body) for i, (_, body) in enumerate(pages(0, 40))]
    run(spark, str(write_warc(tmp_path / "a.warc", hosts)), tables.output, ONE_BY_ONE)
    extractions, ledger = (tables.read(table).where("batch = 1") for table in ("extractions", "warc_files"))
    # 13 kB a row that do not compress: the pages of the test are alike, and would end in one small
    # file.
    unlike = F.expr("array_join(transform(sequence(1, 200), i -> sha2(concat(page_id, i), 256)), '')")
    # One file a batch, as the batches are partitions.
    nights_2_to_10 = F.explode(F.sequence(*(F.lit(n).cast("long") for n in (2, 10))))
    copies = extractions.withColumn("batch", nights_2_to_10)
    copies = copies.withColumn("page_id", F.md5(F.concat("page_id", F.col("batch")))).withColumn("main_html", unlike)
    of_night = F.col("batch").cast("string")
    tables.append("extractions", copies.withColumn("warc_file", of_night))
    keys = copies.groupBy("batch").agg(page_keys().alias("page_keys"))
    noted = ledger.withColumn("batch", nights_2_to_10).drop("page_keys").join(keys, "batch").select(*ledger.columns)
    tables.append("warc_files", noted.withColumn("warc_file", of_night))
    detail = spark.sql(f"DESCRIBE DETAIL {tables.sql_name('extractions')}").head()
    assert detail is not None
    monkeypatch.setattr(publishing, "TARGET_BYTES", detail["sizeInBytes"] // 6)
    told = publish(spark, tables.output)
    assert "10 batches with 400 rows published in 1 commit" in told
    of_one_host = "host = 'host7.example.org'"
    (published, n_published), (written, n_written) = (
        (files_read(tables.read(table).where(of_one_host)), len(tables.read(table).inputFiles()))
        for table in ("published", "extractions")
    )
    assert 1 <= published < n_published < n_written == written
    assert tables.read("published").where(of_one_host).count() == 10
    assert_same(tables)


def files_read(frame: DataFrame) -> int:
    """Return how many data files a query opens."""
    frame.collect()
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    return int(leaves.head().metrics().apply("numFiles").value())


def drained(source: DataFrame, checkpoint: Path, target: Path) -> None:
    writer = source.writeStream.format("delta").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start(str(target))
    try:
        query.awaitTermination()
    finally:
        query.stop()


@pytest.mark.slow
def test_streams_after_a_batch_was_redone_are_as_the_document_says(
    spark: SparkSession, nights: tuple[Tables, Callable[..., None]], tmp_path: Path
) -> None:
    tables, night = nights
    publish(spark, tables.output)

    def stream(table: str, **options: str) -> DataFrame:
        return spark.readStream.format("delta").options(**options).load(f"{tables.output}/{table}")

    plain = lambda: drained(stream("extractions"), tmp_path / "plain", tmp_path / "p")  # noqa: E731
    skipping = lambda: drained(  # noqa: E731
        stream("extractions", skipChangeCommits="true"), tmp_path / "skipping", tmp_path / "s"
    )
    feed = lambda: copy_of_feed(stream("published", readChangeFeed="true"), tmp_path)  # noqa: E731
    for read in (plain, skipping, feed):
        read()
    assert rows(spark.read.format("delta").load(str(tmp_path / "copy"))) == rows(tables.read("published"))

    night(a=pages(1, 3), c=pages(20, 1))
    publish(spark, tables.output)
    with pytest.raises(StreamingQueryException, match="DELTA_SOURCE_TABLE_IGNORE_CHANGES"):
        plain()
    skipping()
    seen = {row["url"].rsplit("/", 1)[1] for row in spark.read.format("delta").load(str(tmp_path / "s")).collect()}
    assert seen == {"0", "1", "10", "11", "20"}  # batch 0 is not withdrawn, and batches 2 and 3 do not arrive
    feed()
    assert rows(spark.read.format("delta").load(str(tmp_path / "copy"))) == rows(tables.read("published"))
    assert_same(tables)


def copy_of_feed(changes: DataFrame, folder: Path) -> None:
    """Keep a copy of the published table with the code of docs/tables/published.md."""
    spark, target = changes.sparkSession, str(folder / "copy")
    if not Path(target).exists():
        empty = spark.createDataFrame([], changes.schema)
        empty.drop("_change_type", "_commit_version", "_commit_timestamp").write.format("delta").save(target)
    names: dict[str, Any] = {"spark": spark}
    exec(copying_code().replace('"copy"', repr(target)), names)
    query = changes.writeStream.foreachBatch(names["apply"]).option("checkpointLocation", str(folder / "copying"))
    query.trigger(availableNow=True).start().awaitTermination()


def copying_code() -> str:
    """Return imports and the function `apply` of the document."""
    text = (Path(__file__).parents[3] / "docs/tables/published.md").read_text()
    code = text.split("### Reading as a stream")[1].split("```python\n", 1)[1].split("```", 1)[0]
    return code.rsplit("\n\n\n", 1)[0]


def test_readers_without_spark_read_every_table_whatever_the_workspace_has_as_default(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`deltalake` refuses deletion vectors and checkpoints of the second kind. Another time zone
    makes no batch another."""
    # Newly created tables, not copies of templates.
    monkeypatch.setattr(Tables, "bring_up", getattr(Tables.bring_up, "__wrapped__"))  # noqa: B009
    defaults = {"enableDeletionVectors": "true", "checkpointPolicy": "v2"}
    archives, output = tmp_path / "in", str(tmp_path / "out")
    archives.mkdir()
    for i, name in enumerate("ab"):
        write_warc(archives / f"{name}.warc", pages(10 * i, 2))
    try:
        for name, value in defaults.items():
            spark.conf.set(f"spark.databricks.delta.properties.defaults.{name}", value)
        assert run(spark, str(archives), output, ONE_BY_ONE).exit_code == 0
        publish(spark, output)
        spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
        assert publish(spark, output).endswith("nothing to publish, all 2 batches are there")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        for name in defaults:
            spark.conf.unset(f"spark.databricks.delta.properties.defaults.{name}")
    tables = Tables(spark, output)
    for table in ("extractions", "published"):
        tables.delete(table, "url = 'http://example.org/10'")
        there = DeltaTable(f"{output}/{table}")
        assert sorted(there.to_pyarrow_table(columns=["url"])["url"].to_pylist()) == [
            f"http://example.org/{i}" for i in (0, 1, 11)
        ]
    for table, n_rows in (("warc_files", 2), ("runs", 3)):
        assert len(DeltaTable(f"{output}/{table}").to_pyarrow_table()) == n_rows
    versions = {table: DeltaTable(f"{output}/{table}").protocol().min_reader_version for table in tables_of(output)}
    assert versions == dict.fromkeys(("extractions", "published", "runs", "warc_files"), 1)


def tables_of(output: str) -> list[str]:
    return sorted(path.parent.name for path in Path(output).glob("*/_delta_log"))


def test_batches_of_the_wanted_state_that_lack_rows_are_published_anew() -> None:
    state, settled = publishing.State, {1: publishing.State("v", 2), 2: publishing.State("v", 2)}
    assert publishing._find_lost_rows(settled, {1: state("v", 1), 2: state("v", 2)}) == [Difference(1, 1, 2)]
    assert publishing._find_lost_rows(settled, {1: state("v", 3)}) == [Difference(1, 3, 2)]
    # Of another state, of no batch, and of one that is on its way.
    assert publishing._find_lost_rows(settled, {1: state("u", 1), 7: state("v", 1)}) == []
    assert publishing._find_lost_rows({1: state("v", 2, is_settled=False)}, {1: state("v", 1)}) == []
    assert list(publishing._groups(settled, {1: state("v", 1), 2: state("v", 2)})) == [[1]]
