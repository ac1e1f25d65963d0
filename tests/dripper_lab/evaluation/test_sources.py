"""The sources of pages: counted, sampled the same way every time, free of annotations."""

from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.datasets import PageCounts
from dripper_lab.evaluation.sources import PageSource
from support.small_set import write_set

RECORD = Path(__file__).parents[2] / "data" / "webmainbench" / "record.jsonl"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_set(tmp_path, "dragnet", range(20))
    return tmp_path


def test_all_pages_or_the_same_sample(data: Path) -> None:
    everything = [page.id for page in PageSource(data).pages("dragnet")]
    sample = [page.id for page in PageSource(data, sample=5).pages("dragnet")]
    assert len(everything) == 20
    assert len(sample) == 5
    assert sample == [page.id for page in PageSource(data, sample=5).pages("dragnet")]
    assert set(sample) < {page.id for page in PageSource(data, sample=8).pages("dragnet")}


@pytest.mark.parametrize(("sample", "size"), [(None, 20), (5, 5), (100, 20)])
def test_size_is_what_comes(data: Path, sample: int | None, size: int) -> None:
    source = PageSource(data, sample=sample)
    assert source.size("dragnet") == size == len(list(source.pages("dragnet")))
    assert source.counts("dragnet") == PageCounts(20, 20, 0, {})


def test_a_missing_set_is_named(data: Path) -> None:
    with pytest.raises(InputError, match="no data set 'fundus'"):
        list(PageSource(data).pages("fundus"))


def test_webmainbench_needs_its_file(data: Path) -> None:
    with pytest.raises(InputError, match="--webmainbench"):
        list(PageSource(data).pages("webmainbench"))


def test_pages_of_a_webmainbench_file_carry_no_marks(data: Path) -> None:
    source = PageSource(data, webmainbench=RECORD)
    pages = list(source.pages("webmainbench"))
    assert source.size("webmainbench") == len(pages) > 0
    assert not any(b"cc-select" in page.html for page in pages)
    sampled = list(PageSource(data, sample=1, webmainbench=RECORD).pages("webmainbench"))
    assert [page.id for page in sampled] == [page.id for page in pages if page.id == sampled[0].id]
