"""Mapping HTML: the whole page, with an id on each block."""

import re

import pytest

from dripper.blocks.simplify import WRAPPER
from dripper.html import preprocess
from dripper.tree.elements import HTML_VOID
from dripper.tree.scan import scan
from dripper.tree.tree import unescape
from support.labelled import pages


def test_elements_carry_ids_and_runs_get_a_wrapper() -> None:
    page = preprocess("<div>a <b>b</b><p class=x>c</p>d</div>")
    assert page.mapping_html == (
        f'<html><head></head><body><div><{WRAPPER} _item_id="1">a <b>b</b></{WRAPPER}>'
        f'<p class="x" _item_id="2">c</p><{WRAPPER} _item_id="3">d</{WRAPPER}></div></body></html>'
    )


@pytest.mark.parametrize("number", range(len(pages())))
def test_without_ids_it_is_the_page(number: int) -> None:
    page = pages()[number]
    bare = re.sub(rf'</?{WRAPPER}[^>]*>| _item_id="\d+"(?=>)', "", page.mapping_html)
    assert bare == "".join(page.elements.parts)


@pytest.mark.parametrize("number", range(len(pages())))
def test_the_text_of_each_block_stands_under_its_id(number: int) -> None:
    page = pages()[number]
    tree = scan(page.mapping_html, HTML_VOID)
    places = {tree.start_tag(element): element for element in range(len(tree)) if "_item_id" in tree.start_tag(element)}
    for block in page.blocks:
        (element,) = [place for tag, place in places.items() if tag.endswith(f' _item_id="{block.item_id}">')]
        inside = unescape("".join(tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]))
        assert re.sub(r"\s+", "", inside) == re.sub(r"\s+", "", block.text)
