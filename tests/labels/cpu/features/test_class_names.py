"""The meaning of class names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.cpu.features import characters
from dripper.labels.cpu.features.tree import NAME_GROUPS, encode_names
from support.in_c import in_each_language
from support.labelled import pages

_language = in_each_language(characters)


def groups(*start_tags: str) -> list[set[str]]:
    """Return the names of the groups of each start tag."""
    return [{name for bit, name in enumerate(NAME_GROUPS) if bits >> bit & 1} for bits in encode_names(start_tags)]


@pytest.mark.parametrize(
    ("start_tag", "found"),
    [
        ('<div class="comment-list">', {"comment", "list"}),
        ('<div id="mainNavBar">', {"article", "navigation"}),
        ('<p class="a b SIDEBAR">', {"side"}),
        ('<p itemprop="articleBody">', {"article", "body"}),
        ('<p role="navigation">', {"navigation"}),
        ('<p class="ad">', {"advertisement"}),
        ('<p class="sr-only">', {"hidden"}),
        ('<p class="address">', set()),
        ('<p title="comment" href="/comments">', set()),
        ("<p>", set()),
    ],
)
def test_names_belong_to_groups(start_tag: str, found: set[str]) -> None:
    assert groups(start_tag) == [found]


def test_only_the_first_200_characters_of_a_value_count() -> None:
    assert groups(f'<p class="{"x" * 195} comment">', f'<p class="{"x" * 191} comment">') == [set(), {"comment"}]


def test_each_tag_gets_its_own_bits_in_order() -> None:
    tags = ['<p class="comment">', "<p>", '<p class="nav">', '<p class="comment">']
    assert groups(*tags) == [{"comment"}, set(), {"navigation"}, {"comment"}]
    assert encode_names([]) == []


@given(st.lists(st.sampled_from(["comment", "nav", "Footer", "x1", "main_2", "ÉTÉ", "SIDE-bar"]), max_size=4))
def test_a_value_has_the_bits_of_its_words(words: list[str]) -> None:
    (joined,), single = (
        encode_names([f'<p class="{" ".join(words)}">']),
        encode_names([f'<p class="{word}">' for word in words]),
    )
    expected = 0
    for bits in single:
        expected |= bits
    assert joined == expected


def test_on_real_pages_a_group_found_stands_in_the_markup() -> None:
    tags = [page.elements.start_tag(element) for page in pages() for element in range(len(page.elements))]
    found = encode_names(tags)
    assert sum(map(bool, found)) > len(tags) / 10
    for bit, pattern in enumerate(NAME_GROUPS.values()):
        # In upper or lower case. "^ads?$" matches words, which end with their letters.
        anywhere = re.compile(pattern.replace("^", "").replace("$", ""), re.IGNORECASE)
        assert all(anywhere.search(tag) for tag, bits in zip(tags, found, strict=True) if bits >> bit & 1)
