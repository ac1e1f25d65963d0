"""The main job over S3: a real server process, real boto3, prefixes and Common Crawl's kind of
list."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer
from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.ledger.plan import Plan
from dripper.spark.run.run import dry_plan, run
from dripper.spark.tables.store import Tables
from support.indexes import write_cdxj
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server with two archives and a list of them in the bucket `jobs`.

    Servers of one process share their buckets, so the name is this file's own.
    """
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
    client.create_bucket(Bucket="jobs")
    for i in range(2):
        file = write_warc(tmp_path / f"{i}.warc.gz", pages(10 * i, 3))
        client.upload_file(str(file), "jobs", f"data/{file.name}", ExtraArgs={"ACL": "public-read"})
    paths = gzip.compress(b"data/0.warc.gz\ndata/1.warc.gz\n")
    client.put_object(Bucket="jobs", Key="warc.paths.gz", Body=paths, ACL="public-read")
    yield f"http://{host}:{port}"
    server.stop()


def settings(endpoint: str, *more: str) -> Settings:
    # Anonymous, as the Python workers were forked before these tests set their credentials.
    s3 = [f"reading.s3.endpoint_url={endpoint}", "reading.s3.region=us-east-1", "reading.s3.anonymous=true"]
    return load(assignments=[*s3, *more])


def test_prefixes_lists_and_patterns(spark: SparkSession, endpoint: str, tmp_path: Path) -> None:
    """The three flags name the same two files: with the second and the third, they are recognized
    as done."""
    outcome = run(spark, "@s3://jobs/warc.paths.gz", str(tmp_path / "out"), settings(endpoint))
    assert (outcome.complaints, outcome.totals.files, outcome.ledger["done"]) == ((), 2, 2)
    for warcs in ("s3://jobs/data/", "s3://jobs/data/*.warc.gz"):
        assert dry_plan(spark, warcs, str(tmp_path / "out"), settings(endpoint)) == Plan(n_done=2)
    rows = Tables(spark, str(tmp_path / "out")).read("extractions").collect()
    assert len(rows) == 6
    assert {row["warc_file"] for row in rows} == {"s3://jobs/data/0.warc.gz", "s3://jobs/data/1.warc.gz"}


@pytest.mark.slow
def test_a_selection_reads_single_records(spark: SparkSession, endpoint: str, tmp_path: Path) -> None:
    """The names in the index are relative to its bucket, as in Common Crawl's."""
    index = write_cdxj(tmp_path / "index.cdxj", [tmp_path / "0.warc.gz", tmp_path / "1.warc.gz"], "data/")
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.upload_file(str(index), "jobs", "index.cdxj", ExtraArgs={"ACL": "public-read"})
    select, output = "index=s3://jobs/index.cdxj,url-prefix=http://example.org/1", str(tmp_path / "out")
    outcome = run(spark, "", output, settings(endpoint), select=select)
    assert (outcome.exit_code, outcome.totals.pages) == (0, 4)
    selected = Tables(spark, output).read("extractions").drop("batch").orderBy("page_id").collect()
    run(spark, "s3://jobs/data/", str(tmp_path / "whole"), settings(endpoint))
    whole = Tables(spark, str(tmp_path / "whole")).read("extractions").where("url LIKE 'http://example.org/1%'")
    assert selected == whole.drop("batch").orderBy("page_id").collect()


@pytest.mark.slow
def test_a_missing_object_of_a_local_list_with_a_prefix_is_a_failed_file(
    spark: SparkSession, endpoint: str, tmp_path: Path
) -> None:
    (tmp_path / "warc.paths").write_text("data/1.warc.gz\ns3://jobs/data/9.warc.gz\n")
    of_list = settings(endpoint, "reading.list_prefix=s3://jobs/")
    outcome = run(spark, f"@{tmp_path}/warc.paths", str(tmp_path / "out"), of_list)
    assert (outcome.complaints, len(outcome.bad_inputs), outcome.totals.pages) == ((), 1, 3)
    failed = Tables(spark, str(tmp_path / "out")).read("warc_files").where("state = 'failed'").collect()
    assert [row["warc_file"] for row in failed] == ["s3://jobs/data/9.warc.gz"]
    assert "9.warc.gz" in failed[0]["error"]


def test_a_missing_bucket_is_one_sentence(spark: SparkSession, endpoint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="s3://nowhere"):
        run(spark, "s3://nowhere/data/", str(tmp_path / "out"), settings(endpoint))
