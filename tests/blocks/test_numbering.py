"""From paragraphs to numbered blocks: text, line breaks, visible elements."""

import pytest

from dripper.html import Block, preprocess
from dripper.tree.plain import plain_parts
from support.labelled import pages


def only(html: str) -> Block:
    (block,) = preprocess(html).blocks
    return block


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p> a  b </p>", "a  b"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<p>a &amp; b &lt;i&gt; &eacute;&nbsp;c</p>", "a & b <i> \u00e9\u00a0c"),
        ("<ul><li>a<li>b</ul>", "a\n\nb"),
        ("<table role=table><tr><td>a<td>b</table>", "a\n\nb"),
    ],
)
def test_text_is_what_is_visible(html: str, text: str) -> None:
    assert only(html).text == text


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<p><img src=x>", 1),
        ("<p><img src=''>", 0),
        ("<p><img alt=x>", 0),
        ("<p><img data-src=/x.png>", 1),
        ("<p> \n\t\u00a0", 0),
        ("<p>.", 1),
    ],
)
def test_a_block_shows_text_or_an_image(html: str, count: int) -> None:
    assert len(preprocess(html).blocks) == count


def test_a_run_stands_inside_its_element() -> None:
    first, middle, last = preprocess("<div>a <b>b</b><p>c</p>d</div>").blocks
    assert (first.is_run, middle.is_run, last.is_run) == (True, False, True)
    assert first.element == last.element != middle.element


@pytest.mark.parametrize("number", range(len(pages())))
def test_real_pages_have_blocks_in_order_with_counts_that_fit(number: int) -> None:
    page = pages()[number]
    tree = page.elements
    plain = plain_parts(tree, tree.parts)
    assert len(plain) == len(tree.parts)
    assert set(plain[1::2]) <= {"", "\n"}
    for block in page.blocks:
        assert block.text == block.text.strip()
        assert block.item_id == page.blocks[block.item_id - 1].item_id
