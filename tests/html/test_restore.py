"""A page comes back from its mapping HTML: a staged run has nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import Page, preprocess, restore
from dripper.warc import decode
from support.labelled import labelled_pages


def assert_same(again: Page, page: Page) -> None:
    """All but `names`: a tree still knows the tags of what was cut out of it."""
    assert (again.title, again.profile, again.blocks) == (page.title, page.profile, page.blocks)
    for column in ("parts", "void", "tags", "parents", "lasts", "opens", "closes"):
        assert getattr(again.elements, column) == getattr(page.elements, column)


@pytest.mark.parametrize("profile", ["dripper", "paper"])
def test_a_page_is_restored_from_its_mapping_html(profile: str) -> None:
    for labelled in labelled_pages():
        page = preprocess(decode(labelled.html).text, profile)
        again = restore(page.mapping_html, page.title, profile)
        assert_same(again, page)
        assert again.simplified_html == page.simplified_html


@given(st.text(alphabet="<>/pdivbrtabletdul &;\"='abc\n\x00-!", max_size=120), st.sampled_from(["dripper", "paper"]))
def test_any_page_is_restored(html: str, profile: str) -> None:
    page = preprocess(html, profile)
    assert_same(restore(page.mapping_html, page.title, profile), page)


def test_a_restored_exact_page_has_its_blocks() -> None:
    for labelled in labelled_pages():
        page = preprocess(decode(labelled.html).text, "mineru-1.1")
        again = restore(page.mapping_html, page.title, "mineru-1.1")
        assert again.title == page.title
        assert abs(len(again.blocks) - len(page.blocks)) <= len(page.blocks) // 10
