"""The labelers that need PyTorch, in the stage `label` of a real staged run and in one pass."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.labels.config import load
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from support.tiny_encoder import WHY_NOT, make_encoder
from support.tiny_neuscraper import make_neuscraper
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark
pytest.importorskip("torch", reason=WHY_NOT)


@pytest.fixture(scope="module")
def warcs(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("in")
    for i in range(2):
        write_warc(folder / f"{i}.warc", [*pages(10 * i, 3), (f"http://example.org/empty/{i}", b"<html></html>")])
    return str(folder)


def test_from_archives_to_extractions_and_in_one_pass_with_the_same_labels(
    spark: SparkSession, warcs: str, tmp_path: Path
) -> None:
    encoder = ["labeler.name=encoder", f"labels.encoder.model={make_encoder(tmp_path / 'tiny', 'bert', 'outline')}"]
    output = str(tmp_path / "out")
    outcome = run(spark, warcs, output, load(assignments=[*encoder, "batch.files=1"]))
    assert outcome.complaints == ()
    label = outcome.totals.label
    assert (outcome.totals.rows, label.pages, label.failed) == (8, 6, 0)
    tables = Tables(spark, output)
    assert sum(row["tokens"] for row in tables.read("blocks").collect()) > 0
    for row in tables.read("labels").collect():
        assert len(row["main"]) == len(row["probability"])
        assert (row["labeler"], row["error_code"]) == ("encoder", None)
        assert "tiny@" in row["labeler_version"]
    rows = tables.read("extractions").collect()
    assert {row["error_code"] for row in rows} == {None, "empty_page"}
    assert {row["method"] for row in rows if row["error_code"] is None} <= {
        "encoder",
        "encoder:windowed",
        "fallback:cpu",
    }
    fused = str(tmp_path / "fused")
    assert run(spark, warcs, fused, load(assignments=[*encoder, "labeler.staged=false"])).complaints == ()
    columns = ("page_id", "main_html", "n_main", "method")
    said = [Tables(spark, folder).read("extractions").select(*columns).collect() for folder in (output, fused)]
    assert sorted(said[0]) == sorted(said[1])
    assert len(said[0]) == 8


def test_neuscraper_closes_its_counts_too(spark: SparkSession, warcs: str, tmp_path: Path) -> None:
    settings = ["labeler.name=neuscraper", f"labels.neuscraper.model={make_neuscraper(tmp_path / 'tiny')}"]
    output = str(tmp_path / "out")
    outcome = run(spark, warcs, output, load(assignments=settings))
    assert outcome.complaints == ()
    assert (outcome.totals.rows, outcome.totals.label.pages, outcome.totals.label.failed) == (8, 6, 0)
    rows = Tables(spark, output).read("extractions").collect()
    assert {row["method"] for row in rows if row["error_code"] is None} <= {"neuscraper", "fallback:cpu"}
