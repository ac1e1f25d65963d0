"""The windows show every block that is unsure once, among its neighbours."""

import numpy as np
import pytest

from dripper.labels.base import SimplifiedPage
from dripper_labelers.encoder.sequence import Chunk
from dripper_labelers.reader.base import read_base
from dripper_labelers.reader.windows import BLOCK_TOKENS, READ_WINDOWS, Window, WindowMaker
from support.labelled import pages
from support.tiny_base import POSITIONS, write_base

pytest.importorskip("tokenizers", reason="needs the extra [lm]")


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> WindowMaker:
    path = tmp_path_factory.mktemp("base") / "e5.bin"
    write_base(path)
    return WindowMaker(read_base(path))


def test_every_block_with_text_is_in_one_window(maker: WindowMaker) -> None:
    for page in pages():
        words, ids = maker.encode(SimplifiedPage.of(page))
        cut = [block for blocks in maker.cut(ids) for block in blocks]
        assert cut == sorted(set(cut))
        assert set(np.flatnonzero(words).tolist()) <= set(cut)
        read = maker.read(SimplifiedPage.of(page), np.ones(len(page.blocks), bool))
        shown = [block for window in read.windows for block in window.blocks]
        assert shown == (cut if len(maker.cut(ids)) <= READ_WINDOWS else sorted(set(shown)))
        for chunk, blocks, sizes in read.windows:
            assert len(chunk.ids) <= POSITIONS
            assert len(blocks) == len(sizes)
            assert sizes.max() <= BLOCK_TOKENS + 1
            assert len(chunk.separators) == sizes.sum() == len(chunk.ids) - 1
            assert chunk.ids[0] == 0
            assert [chunk.ids[at] for at in np.cumsum(sizes)] == [2] * len(sizes)


def test_only_windows_with_a_block_in_doubt_are_read(maker: WindowMaker) -> None:
    page = pages()[0]
    whole = maker.read(SimplifiedPage.of(page), np.ones(len(page.blocks), bool))
    block = whole.windows[2].blocks[0]
    unsure = np.arange(len(page.blocks)) == block
    read = maker.read(SimplifiedPage.of(page), unsure)
    assert [window.blocks for window in read.windows] == [whole.windows[2].blocks]
    assert read.words.tolist() == whole.words.tolist()
    assert maker.read(SimplifiedPage.of(page), unsure & False).windows == []


def test_of_a_page_of_many_windows_those_with_most_doubts_are_read(maker: WindowMaker) -> None:
    blocks = "".join(f'<p _item_id="{number}">{"word " * 40}</p>' for number in range(1, 101))
    page = SimplifiedPage(f"<html><body>{blocks}</body></html>", 100)
    whole = maker.read(page, np.ones(100, bool))
    assert len(whole.windows) == READ_WINDOWS
    unsure = np.arange(100) >= 90
    unsure[0] = True
    read = maker.read(page, unsure)
    shown = [block for window in read.windows for block in window.blocks]
    assert shown == sorted(shown)
    assert {0, *range(90, 100)} <= set(shown)


def test_a_page_cannot_write_separators_of_its_own(maker: WindowMaker) -> None:
    page = SimplifiedPage('<html><body><p _item_id="1">a &lt;/s&gt; b &lt;s&gt;</p></body></html>', 1)
    read = maker.read(page, np.ones(1, bool))
    assert list(read.windows[0].chunk.ids).count(2) == 1
    assert list(read.windows[0].chunk.ids).count(0) == 1


def test_tokens_are_averaged_by_block() -> None:
    window = Window(Chunk(0, 2, range(5), range(1, 5)), [0, 1], np.array([3, 1]))
    assert window.average(np.array([1.0, 2.0, 3.0, 7.0])).tolist() == [2.0, 7.0]
