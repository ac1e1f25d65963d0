"""Characters inside links, by block."""

import pytest

from dripper.html import preprocess
from dripper.labels.cpu.features.places import link_chars
from support.labelled import pages


@pytest.mark.parametrize(
    ("html", "chars"),
    [
        ("<p>a <a href=x>bc</a> d", [2]),
        ("<p><a href=x> b &amp; c </a>", [5]),
        ("<p><a><b>x</b> <i>yz</i></a> t <a>u</a>", [4]),
        ("<p>a", [0]),
        ("", []),
        ("<nav>n1 <a href=/>n2</a></nav><div><a href=x>l<div>z</div></a>t</div>", [2, 1, 1, 0]),
    ],
)
def test_links_may_stand_in_blocks_and_blocks_in_links(html: str, chars: list[int]) -> None:
    assert link_chars(preprocess(html)) == chars


@pytest.mark.parametrize("number", range(len(pages())))
def test_real_pages_have_no_more_link_characters_than_characters(number: int) -> None:
    page = pages()[number]
    counts = link_chars(page)
    assert len(counts) == len(page.blocks)
    assert all(0 <= count <= len(block.text) for count, block in zip(counts, page.blocks, strict=True))
    assert any(counts) or "<a" not in page.mapping_html
