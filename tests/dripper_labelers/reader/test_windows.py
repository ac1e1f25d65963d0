"""The windows show every block in doubt once, among its neighbours."""

from pathlib import Path

import numpy as np
import pytest

from dripper.labels.base import SimplifiedPage
from dripper_labelers.reader.weights import Tables
from dripper_labelers.reader.windows import (
    BLOCK_TOKENS,
    REACH,
    READ_WINDOWS,
    SIDE_TOKENS,
    TAGS,
    UNKNOWN_DRAFT,
    PageReader,
    Window,
)
from support.labelled import pages
from support.tiny_reader import PLACES, write_weights

pytest.importorskip("tokenizers", reason="needs the extra [reader]")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> PageReader:
    path = tmp_path_factory.mktemp("reader")
    return PageReader(write_weights(path))


def page_of(*blocks: str) -> SimplifiedPage:
    html = "".join(f'<p _item_id="{number}">{block}</p>' for number, block in enumerate(blocks, 1))
    return SimplifiedPage(f"<html><body>{html}</body></html>", len(blocks))


def test_every_block_in_doubt_is_in_one_window(reader: PageReader) -> None:
    for page in pages():
        read = reader.read(SimplifiedPage.of(page), np.full(len(page.blocks), 0.5))
        cut = [block for blocks in read.cut() for block in blocks]
        assert cut == sorted(set(cut))
        assert set(np.flatnonzero(read.unsure).tolist()) <= set(cut)
        for window in map(read.show, read.choose()):
            assert len(window.ids) <= PLACES
            assert len(window.ids) == len(window.tags) == len(window.drafts) == 1 + window.sizes.sum()
            assert window.sizes.max() <= BLOCK_TOKENS + 1
            assert window.ids[0] == 0
            assert window.ids[np.cumsum(window.sizes)].tolist() == [2] * len(window.sizes)


def test_neighbours_are_read_shorter_and_nothing_else_is(reader: PageReader) -> None:
    page = page_of(*["word " * 40] * 30)
    probability = np.zeros(30)
    probability[12] = 0.5
    read = reader.read(page, probability)
    windows = list(map(read.show, read.choose()))
    sizes = {block: size - 1 for window in windows for block, size in zip(window.blocks, window.sizes, strict=True)}
    assert min(sizes) >= 12 - REACH
    assert max(sizes) <= 12 + REACH
    assert sizes[12] == BLOCK_TOKENS
    assert {size for block, size in sizes.items() if block != 12} <= {SIDE_TOKENS}
    assert reader.read(page, np.zeros(30)).choose() == []


def test_a_token_shows_its_blocks_tag_and_draft(reader: PageReader) -> None:
    html = '<html><body><h2 _item_id="1">a</h2><li _item_id="2">b</li></body></html>'
    read = reader.read(SimplifiedPage(html, 2), np.array([0.5, 0.9]))
    window = read.show([0, 1])
    assert [TAGS[tag] for tag in window.tags[[0, 1, -1]]] == ["?", "h2", "li"]
    assert window.drafts[[0, 1, -1]].tolist() == [UNKNOWN_DRAFT, 6, 8]
    assert set(read.show([0, 1], is_drafted=False).drafts.tolist()) == {UNKNOWN_DRAFT}


def test_of_a_page_of_many_windows_those_with_most_doubts_are_read(reader: PageReader) -> None:
    probability = np.full(200, 0.5)
    probability[60:100] = np.where(np.arange(40) % 8, 0.0, 0.5)
    read = reader.read(page_of(*["word " * 40] * 200), probability)
    chosen = read.choose()
    assert len(chosen) == READ_WINDOWS < len(read.cut())
    assert chosen == sorted(chosen)
    least = min(int(read.unsure[blocks].sum()) for blocks in chosen)
    left = [blocks for blocks in read.cut() if blocks not in chosen]
    assert max(int(read.unsure[blocks].sum()) for blocks in left) <= least


def test_a_page_cannot_write_separators_of_its_own(reader: PageReader) -> None:
    read = reader.read(page_of("a &lt;/s&gt; b &lt;s&gt;"), np.full(1, 0.5))
    ids = read.show(read.choose()[0]).ids.tolist()
    assert (ids.count(0), ids.count(2)) == (1, 1)


def test_characters_that_nobody_sees_are_blanks(reader: PageReader) -> None:
    plain = reader.read(page_of("a b c"), np.full(1, 0.5))
    unseen = reader.read(page_of("\ufeffa\u200b\u200bb \u200e\ufffd\x06c"), np.full(1, 0.5))
    assert unseen.show([0]).ids.tolist() == plain.show([0]).ids.tolist()


def test_tokens_are_averaged_by_block() -> None:
    numbers = np.zeros(5, np.int64)
    window = Window(numbers, numbers, numbers, [0, 1], np.array([3, 1]))
    assert window.average(np.array([9.0, 1.0, 2.0, 3.0, 7.0])).tolist() == [2.0, 7.0]


def test_tables_come_back_as_they_were_written(tmp_path: Path) -> None:
    written = write_weights(tmp_path)
    read = Tables.read((tmp_path / "reader.npz").read_bytes())
    assert read.pieces == [(name, pytest.approx(score)) for name, score in written.pieces]
    assert (read.begin, read.separator, read.unknown) == (written.begin, written.separator, written.unknown)
    for name in ("words", "places", "tags", "drafts"):
        assert np.array_equal(getattr(read, name), getattr(written, name))
