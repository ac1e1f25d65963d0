"""Nodes of pages."""

import pytest

from dripper.errors import PageError
from dripper.html import preprocess
from dripper.labels.base import SimplifiedPage
from dripper_labelers.neuscraper.nodes import READ_CHARACTERS, find_nodes, find_nodes_of_page
from support.labelled import pages


def page(*blocks: str) -> SimplifiedPage:
    numbered = (block.replace(">", f' _item_id="{i}">', 1) for i, block in enumerate(blocks, 1))
    return SimplifiedPage(f"<html><body>{''.join(numbered)}</body></html>", len(blocks))


@pytest.mark.parametrize(
    ("block", "texts"),
    [
        ("<p>One &amp; <b>two</b> three</p>", ["One &", "two", "three"]),
        ("<p> <br> </p>", []),
        ("<img src='a.png'>", []),
        ("<ul><li>one</li><li>two</li></ul>", ["one two", "one", "two"]),
        ("<dl><dt>one</dt><dd>two</dd></dl>", ["one two", "one", "two"]),
        (
            "<table><tr><td>one<ol><li>two</li></ol></td></tr></table>",
            ["one two", "one", "two", "two"],
        ),
        ("<div><ol><li>one</li></ol><p>two</p></div>", ["one", "one", "two"]),
    ],
)
def test_texts_lists_and_tables_in_document_order(block: str, texts: list[str]) -> None:
    assert [node.text for node in find_nodes(page(block))] == texts


def test_only_texts_count_for_their_block() -> None:
    nodes = find_nodes(page("<p>one</p>", "<ol><li>two</li></ol>"))
    assert [(node.block, node.size) for node in nodes] == [(0, 3), (1, 0), (1, 3)]


def test_the_beginning_is_read_and_all_of_it_counts() -> None:
    (node,) = find_nodes(page(f"<p>{'rain ' * 100}</p>"))
    assert (len(node.text), node.size) == (READ_CHARACTERS, 499)


def test_every_block_with_text_on_real_pages_has_a_text_node() -> None:
    for split in pages():
        nodes = find_nodes(SimplifiedPage.of(split))
        with_text = {index for index, block in enumerate(split.blocks) if block.text.strip()}
        assert {node.block for node in nodes if node.size} == with_text


def test_blocks_that_are_not_there_fail_the_page() -> None:
    with pytest.raises(PageError, match="not numbered 1 to 2"):
        find_nodes(SimplifiedPage(page("<p>one</p>").simplified_html, 2))


def test_a_node_knows_the_annotations_it_stands_in() -> None:
    nodes = find_nodes(page("<h2>one</h2>", "<ul><li><p>two</p></li></ul>", "<table><tr><td>three</td></tr></table>"))
    assert [(node.text, set(node.inside)) for node in nodes if node.size] == [
        ("one", {"heading"}),
        ("two", {"list", "paragraph"}),
        ("three", {"table"}),
    ]


def test_the_whole_page_has_the_items_that_its_simplified_html_leaves_out() -> None:
    html = (
        f"<html><body><p>{'It rained all day. ' * 9}</p><ul>"
        + "".join(f"<li>item {i}</li>" for i in range(9))
        + "</ul></body></html>"
    )
    split = preprocess(html)
    whole, simplified = (
        [node.text for node in find_nodes_of_page(split, reads) if node.size] for reads in ("page", "simplified")
    )
    assert [f"item {i}" for i in range(9)] == whole[1:]
    assert simplified[1:] == ["item 0", "...", "item 8"]


def test_the_whole_page_has_all_words_of_its_blocks() -> None:
    for split in pages():
        nodes = find_nodes_of_page(split, "page")
        for index, block in enumerate(split.blocks):
            size = sum(node.size for node in nodes if node.block == index)
            assert size >= len("".join(block.text.split()))


def test_attributes_of_the_whole_page_may_hold_anything() -> None:
    split = preprocess(
        '<body><p title="a > b" alt="&lt;p>">It rained all day in Rome.</p><p>And in Oslo it snowed.</p>'
    )
    nodes = find_nodes_of_page(split, "page")
    assert [(node.block, node.text) for node in nodes] == [
        (0, "It rained all day in Rome."),
        (1, "And in Oslo it snowed."),
    ]


def test_a_block_knows_the_list_around_it() -> None:
    rows = "".join(f"<li><h3>Story {i}</h3><p>{'It rained all day in Rome. ' * 9}</p></li>" for i in range(9))
    nodes = find_nodes_of_page(preprocess(f"<body><ul>{rows}</ul></body>"), "page")
    assert {name for node in nodes for name in node.inside} == {"list", "heading", "paragraph"}
    assert all("list" in node.inside for node in nodes)
