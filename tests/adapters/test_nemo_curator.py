"""The stages and extractors for NeMo Curator, in its own pipelines (make test-adapters)."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dripper
from dripper.html import preprocess
from support.rays import ray_of_two_processors
from support.stage_labelers import HashLabeler, load_hash
from support.warcs import page, pages, write_warc

pytest.importorskip("nemo_curator", reason="NeMo Curator is not installed: make test-adapters")

from nemo_curator.backends.ray_data import RayDataExecutor
from nemo_curator.backends.ray_data.utils import is_actor_stage
from nemo_curator.pipeline import Pipeline
from nemo_curator.stages.text.download.base.iterator import DocumentIterateExtractStage
from nemo_curator.stages.text.download.common_crawl.extract import CommonCrawlHTMLExtractor
from nemo_curator.stages.text.download.common_crawl.warc_iterator import CommonCrawlWarcIterator
from nemo_curator.tasks import DocumentBatch, FileGroupTask

from dripper.adapters.nemo_curator import DripperAlgorithm, DripperExtractor, DripperPages

EMPTY = ("http://example.org/empty", b"<html><body></body></html>")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_warc(tmp_path / "a.warc.gz", [*pages(0, 3), EMPTY])


@pytest.fixture
def records(archive: Path) -> Iterator[dict[str, Any]]:
    return CommonCrawlWarcIterator().iterate(str(archive))


def test_a_stage_of_curator_over_an_archive(archive: Path) -> None:
    stage = DocumentIterateExtractStage(CommonCrawlWarcIterator(), DripperExtractor(keep_failed=True))
    batch = stage.process(FileGroupTask(dataset_name="d", data=[str(archive)]))
    rows = batch.to_pandas().to_dict("records")
    assert [row["url"] for row in rows] == [url for url, _ in [*pages(0, 3), EMPTY]]
    for row, (url, html) in zip(rows, pages(0, 3), strict=False):
        assert row["text"] == dripper.extract(html, url=url).markdown
        assert (row["language"], row["title"], row["error_code"]) == ("en", f"Article {url[-1]}", None)
    assert (rows[3]["text"], rows[3]["error_code"]) == ("", "empty_page")


def test_pages_without_content_are_left_out_as_curator_does(records: Iterator[dict[str, Any]]) -> None:
    extractor = DripperExtractor("text")
    made = [extractor.extract(record) for record in records]
    assert made[3] is None
    assert all(set(row) == set(extractor.output_columns()) for row in made[:3] if row is not None)
    assert made[0] is not None
    assert made[0]["text"] == dripper.extract(page(0)[1]).text


def test_the_algorithm_in_curators_own_extractor(records: Iterator[dict[str, Any]]) -> None:
    extractor = CommonCrawlHTMLExtractor(DripperAlgorithm(), stop_lists={"ENGLISH": frozenset()})
    first = extractor.extract(next(records))
    url, html = page(0)
    assert first is not None
    assert (first["url"], first["language"]) == (url, "ENGLISH")
    assert first["text"] == dripper.extract(html).markdown.strip()
    assert DripperAlgorithm().extract_text(EMPTY[1].decode(), frozenset(), "ENGLISH") is None


def test_both_travel_to_workers() -> None:
    for made in (DripperAlgorithm(labeler="all"), DripperExtractor(labeler="all")):
        assert pickle.loads(pickle.dumps(made)).settings == made.settings


def batch(*documents: tuple[str, bytes | None]) -> DocumentBatch:
    return DocumentBatch("d", pd.DataFrame(documents, columns=["url", "content"]))


@pytest.fixture
def executor() -> Iterator[RayDataExecutor]:
    """It stops Ray after each pipeline."""
    with ray_of_two_processors():
        yield RayDataExecutor()


def run(executor: RayDataExecutor, stage: DripperPages, *batches: DocumentBatch) -> dict[str, dict[str, Any]]:
    made = Pipeline("p", stages=[stage]).run(executor, list(batches))
    rows = [row for task in made for row in task.to_pandas().to_dict("records")]
    assert len(rows) == sum(each.num_items for each in batches)
    return {row["url"]: row for row in rows}


def test_a_pipeline_with_the_labeler_cpu_loses_no_page(executor: RayDataExecutor) -> None:
    documents = [
        *pages(0, 3),
        EMPTY,
        ("http://example.org/pdf", b"%PDF-1.7 \0\1\2\3"),
        ("http://example.org/none", None),
    ]
    stage = DripperPages("cpu", form="text")
    assert [each.name for each in stage.decompose()] == ["dripper_prepare", "dripper_finish"]
    rows = run(executor, stage, batch(*documents[:2]), batch(*documents[2:]))
    for url, html in documents[:3]:
        assert html is not None
        alone = dripper.extract(html, url=url)
        assert (rows[url]["text"], rows[url]["confidence"]) == (alone.text, alone.confidence)
        assert "content" not in rows[url]
    errors = [rows[url]["error_code"] for url, _ in documents[3:]]
    assert errors == ["empty_page", "not_html", "empty_page"]


def test_an_engine_labels_batches_in_a_stage_of_its_own(executor: RayDataExecutor) -> None:
    settings = {"labeler.name": "cpu,all", "labeler.staged": True, "labeler.escalate_below": 1}
    stage = DripperPages(settings=settings, gpus=0, loader=load_hash)
    names = ["dripper_prepare", "dripper_label", "dripper_finish"]
    assert [each.name for each in stage.decompose()] == names
    documents = [*pages(0, 9), EMPTY]
    rows = run(executor, stage, batch(*documents[:4]), batch(*documents[4:5]), batch(*documents[5:]))
    labels = {url: HashLabeler().label([preprocess(html.decode())])[0] for url, html in documents[:-1]}
    assert {url: rows[url]["n_main"] for url in labels if labels[url].main.any()} == {
        url: labels[url].main.sum() for url in labels if labels[url].main.any()
    }
    methods = {url: "hash" if labels[url].main.any() else "cpu:instead_of_hash" for url in labels}
    assert {url: rows[url]["method"] for url in labels} == methods
    assert rows[EMPTY[0]]["error_code"] == "empty_page"


def test_a_stage_of_labels_asks_for_a_gpu_where_its_labeler_does(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    given = {"profile": "mineru-1.1", "labels.encoder.model": str(tmp_path)}
    prepare, label, finish = DripperPages("cpu,encoder", given).decompose()
    assert (prepare.resources.gpus, label.resources.gpus, finish.resources.gpus) == (0, 1, 0)
    assert is_actor_stage(label)
    assert not is_actor_stage(prepare)
    composite = DripperPages("cpu,encoder", given, gpus=0.5)
    composite.with_({"dripper_label": {"batch_size": 9, "num_workers": 3}})
    _, label, _ = composite.decompose_and_apply_with()
    assert (label.resources.gpus, label.batch_size, label.num_workers()) == (0.5, 9, 3)
