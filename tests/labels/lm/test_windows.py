"""Pages cut to fit and put together again."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.errors import ErrorCode, PageError
from dripper.html import PROFILES, preprocess
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import PageWindow, clip, cut_windows, merge_windows, split_blocks
from dripper.warc import decode
from support.labelled import labelled_pages


def count(html: str) -> int:
    """A tokenizer: words, and every other character by itself."""
    return len(re.findall(r"\w+|[^\w\s]", html))


def page_of(lengths: list[int]) -> SimplifiedPage:
    blocks = "".join(
        f'<p class="a<b" _item_id="{item}">{"word " * length}</p>' for item, length in enumerate(lengths, 1)
    )
    return SimplifiedPage(f"<html><head></head><body>{blocks}</body></html>", len(lengths))


LENGTHS = st.lists(st.integers(0, 80), min_size=1, max_size=30)


@settings(deadline=None)
@given(LENGTHS, st.integers(60, 400), st.integers(0, 6))
def test_every_window_fits_and_every_block_is_in_one(lengths: list[int], room: int, overlap: int) -> None:
    page = page_of(lengths)
    windows = cut_windows(page, lambda n: room - 4 * n, count, overlap)
    assert windows[0].start == 0
    assert windows[-1].end == page.n_blocks
    for window in windows:
        assert window.start < window.end
        assert count(window.html) <= room - 4 * (window.end - window.start)
    for earlier, later in pairwise(windows):
        assert earlier.start < later.start <= earlier.end < later.end
        assert earlier.end - later.start <= overlap


@settings(deadline=None)
@given(LENGTHS, st.integers(60, 400), st.integers(0, 6))
def test_merged_labels_have_every_block_once_and_in_order(lengths: list[int], room: int, overlap: int) -> None:
    page = page_of(lengths)
    windows = cut_windows(page, lambda n: room - 4 * n, count, overlap)
    own = [np.arange(window.start, window.end) for window in windows]
    assert merge_windows(windows, own).tolist() == list(range(page.n_blocks))


def test_an_overlap_is_shared_half_and_half() -> None:
    windows = [PageWindow(0, 6, ""), PageWindow(2, 8, "")]
    merged = merge_windows(windows, [np.zeros(6), np.ones(6)])
    assert merged.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@settings(deadline=None)
@given(LENGTHS, st.integers(60, 400))
def test_windows_are_numbered_from_one_as_a_page_of_their_own(lengths: list[int], room: int) -> None:
    for window in cut_windows(page_of(lengths), lambda n: room - 4 * n, count, 2):
        ids = re.findall(r'_item_id="(\d+)"', window.html)
        assert ids in ([], [str(item) for item in range(1, window.end - window.start + 1)])


def test_a_page_that_fits_is_left_as_it_is() -> None:
    page = page_of([3, 4])
    assert cut_windows(page, lambda n: 1000, count, 2) == [PageWindow(0, 2, page.simplified_html)]


def test_one_huge_block_is_clipped_and_its_neighbours_are_not() -> None:
    page = page_of([2, 5000, 2])
    windows = cut_windows(page, lambda n: 100, count, 1)
    assert any(window.end - window.start == 1 and "word" in window.html for window in windows)
    assert windows[-1].html.endswith("word word </p></body></html>")
    assert all(count(window.html) <= 100 for window in windows)


def test_a_prompt_that_fills_the_context_is_an_error_of_the_page() -> None:
    with pytest.raises(PageError, match="the prompt alone fills") as caught:
        cut_windows(page_of([5]), lambda n: 0, count, 1)
    assert caught.value.code is ErrorCode.LABELER_FAILED


@given(st.text(max_size=300), st.integers(1, 50))
def test_clipped_texts_are_beginnings_that_fit(text: str, tokens: int) -> None:
    clipped = clip(text, tokens, count)
    assert text.startswith(clipped)
    assert count(clipped) <= tokens


@pytest.mark.parametrize("profile", PROFILES)
def test_real_pages_come_apart_and_together(profile: str) -> None:
    for labelled in labelled_pages():
        page = preprocess(decode(labelled.html).text, profile=profile)
        texts = split_blocks(SimplifiedPage.of(page))
        assert texts.head + "".join(texts.blocks) + texts.tail == page.simplified_html
        assert texts.html(0, len(page.blocks)) == page.simplified_html
        assert len(texts.blocks) == len(page.blocks)


@pytest.mark.parametrize(
    "html",
    [
        '<p>_item_id=&quot;9&quot;</p><p>&lt;p _item_id="9"&gt;</p>',
        "<p class='a _item_id=\"9\">'>x</p><p title='<b _item_id=\"9\">'>y</p>",
        "<p class=\"a<b <c _item_id='5'>\">x</p><img alt=\"_item_id='9'>\" src=a>",
        '<p _item_id=9>x</p><p _item_id="10">y</p>',
        "a<br>b<div>c</div>d",
        "<p>x <span class='<p _item_id=\"2\">'>y</span></p><p>z</p>",
        # As on truncated pages: names of elements with a bracket or a quote.
        '<ul><li>a</li></ul><lierology< class="b">(21) </lierology<><p>c</p>',
        "<div>a</div><flag'<x\"><p>b <i<u>c</i<u></p></flag'<x\">d",
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_markup_that_looks_like_a_block_is_none(html: str, profile: str) -> None:
    page = preprocess(f"<body>{html}</body>", profile=profile)
    texts = split_blocks(SimplifiedPage.of(page))
    assert len(texts.blocks) == len(page.blocks)


def test_html_that_is_not_ours_is_told() -> None:
    with pytest.raises(PageError, match="1 blocks that are not numbered 1 to 2"):
        split_blocks(SimplifiedPage('<p _item_id="1">x</p>', 2))
