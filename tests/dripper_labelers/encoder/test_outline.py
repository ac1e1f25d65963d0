"""Blocks in few tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.windows import split_blocks
from dripper_labelers.encoder.sequence import FIRST_CHARACTERS, LAST_CHARACTERS, MARKERS, outline
from support.labelled import pages


@pytest.mark.parametrize(
    ("markup", "marker", "head", "text"),
    [
        ('<p _item_id="1">One &amp; two.</p>', "<|words 2 links 0|>", "p", "One & two."),
        ('<h1 class="Entry-title" id="t" _item_id="2">Rain</h1>', "<|words 1 links 0|>", "h1 entry title", "Rain"),
        ('<div _item_id="3"><a>All of it</a></div>', "<|words 2 links 3|>", "div a", "All of it"),
        ('<div _item_id="3"><a>Half of</a> it is</div>', "<|words 3 links 2|>", "div a", "Half of it is"),
        ('<div _item_id="3">By <a>Ann</a> in Rome</div>', "<|words 3 links 1|>", "div a", "By Ann in Rome"),
        ('<img src="a.png" alt="A cat" _item_id="4">', "<|words 0 links 0|>", "img", ""),
    ],
)
def test_what_is_kept_of_a_block(markup: str, marker: str, head: str, text: str) -> None:
    assert outline(markup) == (marker, head, text)


def test_long_texts_keep_beginning_and_end() -> None:
    words = " ".join(f"w{i}" for i in range(400))
    kept = outline(f'<p _item_id="1">{words}</p>').text
    assert kept.startswith("w0 w1 ")
    assert kept.endswith(" w398 w399")
    assert len(kept) == FIRST_CHARACTERS + 1 + LAST_CHARACTERS


def test_every_block_of_real_pages_has_a_known_marker() -> None:
    found = set()
    for page in pages():
        texts = split_blocks(SimplifiedPage.of(page))
        found |= {outline(block).marker for block in texts.blocks}
    assert found <= set(MARKERS)
    assert len(found) > 10


@given(st.text(alphabet="<>a/ =\"'&;pé", max_size=60))
def test_any_markup_has_an_outline(markup: str) -> None:
    assert outline(markup).marker in MARKERS
