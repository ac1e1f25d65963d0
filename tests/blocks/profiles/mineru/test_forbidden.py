"""Characters that lxml refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from dripper.blocks.profiles.mineru.second_parse import FORBIDDEN, has_forbidden


@pytest.mark.parametrize(
    "character", [*map(chr, range(32)), "\x7f", "\x85", "\ufffd", "\ufffe", "\uffff", "\U0001fffe"]
)
def test_lxml_refuses_just_these(character: str) -> None:
    element = etree.Element("p")
    if FORBIDDEN.search(character):
        with pytest.raises(ValueError, match="XML compatible"):
            element.text = character
    else:
        element.text = character
    assert has_forbidden(f"a{character}b") == bool(FORBIDDEN.search(character))


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_quick_test_agrees_with_the_expression(text: str) -> None:
    assert has_forbidden(text) == bool(FORBIDDEN.search(text))
