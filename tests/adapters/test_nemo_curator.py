"""The extractors for NeMo Curator in its own stages (make test-adapters)."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dripper
from support.warcs import page, pages, write_warc

pytest.importorskip("nemo_curator", reason="NeMo Curator is not installed: make test-adapters")

from nemo_curator.stages.text.download.base.iterator import DocumentIterateExtractStage
from nemo_curator.stages.text.download.common_crawl.extract import CommonCrawlHTMLExtractor
from nemo_curator.stages.text.download.common_crawl.warc_iterator import CommonCrawlWarcIterator
from nemo_curator.tasks import FileGroupTask

from dripper.adapters.nemo_curator import DripperAlgorithm, DripperExtractor

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
