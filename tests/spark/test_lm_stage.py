"""The labeler lm for real: a tiny checkpoint in vLLM on the CPU, in the stage `label` of a real
staged run on real Delta."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.labels.base import SimplifiedPage
from dripper.labels.config import load
from dripper.spark.reports.report import summary
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from support.killing import Job, assert_nothing_stays, assert_the_next_run_ends_it
from support.labelled import pages as split_pages
from support.tiny_lm import make_checkpoint
from support.warcs import pages, write_warc

pytestmark = [pytest.mark.spark, pytest.mark.vllm]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    samples = [SimplifiedPage.of(page) for page in split_pages()[:3]]
    return make_checkpoint(tmp_path_factory.mktemp("model") / "tiny", samples)


def test_from_archives_to_extractions(spark: SparkSession, model: Path, tmp_path: Path) -> None:
    """Every page is accounted for; two batches, one engine; tokens are the tokenizer's."""
    for i in range(2):
        empty = (f"http://example.org/empty/{i}", b"<html></html>")
        write_warc(tmp_path / f"{i}.warc", [*pages(10 * i, 3), empty])
    settings = load(
        assignments=[
            "labeler.name=lm",
            f"labels.lm.model={model}",
            "labels.lm.dtype=float32",
            "batch.files=1",
        ]
    )
    output = str(tmp_path / "out")
    outcome = run(spark, str(tmp_path), output, settings)
    assert outcome.complaints == ()
    label = outcome.totals.label
    assert (outcome.totals.rows, label.pages, label.failed) == (8, 6, 0)
    assert label.passes >= 6
    assert "1,000 pages took" in summary(outcome, output, settings.cost.devices)
    tables = Tables(spark, output)
    tokens = {row["tokens"] for row in tables.read("blocks").collect()}
    assert sum(tokens) > 0
    for row in tables.read("labels").collect():
        assert len(row["main"]) == len(row["probability"])
        assert (row["labeler"], row["error_code"]) == ("lm", None)
        assert "tiny" in row["labeler_version"]
    rows = tables.read("extractions").collect()
    assert {row["error_code"] for row in rows} == {None, "empty_page"}
    assert {row["method"] for row in rows if row["error_code"] is None} <= {"lm", "fallback:cpu"}


@pytest.mark.parametrize("who", ["worker", pytest.param("driver", marks=pytest.mark.slow)])
def test_a_killed_engine_leaves_nothing_behind(
    spark: SparkSession, model: Path, tmp_path: Path, python: str, who: str
) -> None:
    """vLLM in the worker: no separate process, no shared memory."""
    folder = tmp_path / "killed"
    folder.mkdir()
    job = Job(python, folder, model)
    try:
        assert_nothing_stays(job, who)
    finally:
        job.end()
    assert_the_next_run_ends_it(spark, job, folder)
