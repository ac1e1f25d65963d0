"""A page's two forms, and cutting it, for every profile."""

import re

import pytest

from dripper.blocks.simplify import CUTOFF
from dripper.html import Page, preprocess, prune, prune_page
from dripper.warc import decode
from support.labelled import labelled_pages

TEXTS = {page.id: decode(page.html).text for page in labelled_pages()}
LONG = f"<p>{'word ' * 300}</p><table><tr><td>{'cell ' * 300}</table>"


@pytest.mark.parametrize("profile", ["dripper", "mineru-1.1", "paper"])
@pytest.mark.parametrize("name", TEXTS)
def test_both_forms_have_the_same_ids(name: str, profile: str) -> None:
    page = preprocess(TEXTS[name], profile)
    in_simplified = re.findall(r'<[^>]* _item_id="(\d+)"', page.simplified_html)
    in_mapping = re.findall(r'<[^>]* _item_id="(\d+)"', page.mapping_html)
    assert in_simplified == [str(item_id) for item_id in page.item_ids]
    if profile == "mineru-1.1":
        # MinerU-HTML puts some ids nowhere, and some not in order.
        assert set(in_mapping) <= set(in_simplified)
    else:
        assert in_mapping == in_simplified


@pytest.mark.parametrize("profile", ["dripper", "mineru-1.1", "paper"])
def test_pruning_in_hand_is_pruning_what_was_stored(profile: str) -> None:
    for text in TEXTS.values():
        page = preprocess(text, profile)
        for main_ids in ([], list(page.item_ids), list(page.item_ids)[::3]):
            assert prune_page(page, main_ids) == prune(page.mapping_html, main_ids, profile)


@pytest.mark.parametrize(("profile", "characters"), [("dripper", CUTOFF), ("mineru-1.1", CUTOFF), ("paper", 200)])
def test_each_profile_cuts_after_its_own_number_of_characters(profile: str, characters: int) -> None:
    paragraph = re.search(r"<p[^>]*>(.*?)\.\.\.</p>", preprocess(LONG, profile).simplified_html)
    assert paragraph is not None
    assert len(paragraph[1]) == characters


def test_forms_are_written_once() -> None:
    page = preprocess(LONG)
    assert page.simplified_html is page.simplified_html
    assert page.mapping_html is page.mapping_html


def test_an_empty_page() -> None:
    page = preprocess("")
    assert isinstance(page, Page)
    assert list(page.item_ids) == []
    assert prune_page(page, []) == ""
