"""Pages in Ray Data, on a Ray of this machine (make test-adapters)."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import dripper
from dripper.errors import SettingsError
from support.rays import load_where, ray_of_two_processors
from support.stage_labelers import load_hash
from support.warcs import pages

pytest.importorskip("ray", reason="Ray is not installed: make test-adapters")
pytest.importorskip("ray.data", reason="ray[data] is not installed: make test-adapters")

import ray
import ray.data

from dripper.adapters.ray_data import extract_dataset

STAGED = {"labeler.name": "all", "labeler.staged": True}
EMPTY = ("http://example.org/empty", b"<html><body></body></html>")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with ray_of_two_processors():
        yield


def dataset(*documents: tuple[str, bytes | None]) -> Any:
    urls, htmls = zip(*documents, strict=True)
    return ray.data.from_arrow(pa.table({"url": list(urls), "content": list(htmls)})).repartition(3)


def by_url(made: Any) -> dict[str, dict[str, Any]]:
    rows = made.take_all()
    return {row["url"]: row for row in rows}


def test_the_labeler_cpu_needs_no_pool_and_loses_no_page() -> None:
    documents = [*pages(0, 5), EMPTY, ("http://example.org/none", None)]
    rows = by_url(extract_dataset(dataset(*documents), form="text"))
    assert len(rows) == len(documents)
    for url, html in pages(0, 5):
        alone = dripper.extract(html, url=url)
        assert (rows[url]["text"], rows[url]["title"]) == (alone.text, alone.title)
    assert [rows[url]["error_code"] for url, _ in documents[5:]] == ["empty_page", "empty_page"]


def test_a_pool_of_actors_labels_batches() -> None:
    made = extract_dataset(
        dataset(*pages(0, 9), EMPTY), settings=STAGED, concurrency=(1, 2), batch_pages=4, loader=load_hash
    )
    rows = by_url(made)
    assert len(rows) == 10
    assert {row["method"] for row in rows.values() if row["n_main"]} == {"hash"}
    assert rows[EMPTY[0]]["error_code"] == "empty_page"


def test_only_pages_below_a_confidence_reach_the_pool() -> None:
    settings = {"labeler.name": "cpu,all", "labeler.staged": True, "labeler.escalate_below": 0}
    rows = by_url(extract_dataset(dataset(*pages(0, 3)), settings=settings, loader=load_hash))
    assert {row["method"] for row in rows.values()} == {"cpu"}


def test_what_cannot_work_is_told_before_any_page() -> None:
    with pytest.raises(SettingsError, match="the labeler lm needs"):
        extract_dataset(dataset(EMPTY), "lm")


def test_an_actor_has_as_many_gpus_as_are_asked_for() -> None:
    """Ray gets a number of GPUs that do not exist."""
    ray.shutdown()
    with ray_of_two_processors(gpus=2):
        made = extract_dataset(dataset(*pages(0, 3)), settings=STAGED, num_gpus=2, loader=load_where)
        assert {row["method"] for row in by_url(made).values()} == {"2 of ['0', '1']"}
