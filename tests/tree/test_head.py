"""The declarations of a page about itself."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.tree.head import MAX_JSON_CHARS, Hints, read_head, read_hints
from dripper.tree.parser import parse_document
from support.labelled import pages


def hints(html: str) -> Hints:
    return read_hints(read_head(parse_document(html).css("meta, script, p")))


def json_ld(source: str) -> Hints:
    return hints(f'<script type="application/ld+json">{source}</script><p>x')


def test_open_graph_and_description() -> None:
    found = hints(
        '<meta property="og:type" content=" Article "><meta name="Description" content="One &amp; two">'
        '<meta property="og:description" content="Three"><meta name="keywords" content="no">'
    )
    assert found == Hints(("article",), "One & two\nThree", "")


def test_the_same_description_is_read_once() -> None:
    assert hints('<meta name="description" content="a"><meta property="og:description" content="a">').description == "a"


def test_json_ld_types_and_texts_at_any_depth() -> None:
    found = json_ld(
        '{"@graph": [{"@type": ["Product", "http://schema.org/Thing"], "description": "A chair."},'
        '{"@type": "Review", "author": {"@type": "Person", "name": "no"}, "articleBody": "Long text", "text": 7}]}'
    )
    assert found.types == ("product", "thing", "review", "person")
    assert found.body == "A chair.\nLong text"


def test_scripts_of_other_types_are_not_read() -> None:
    assert hints('<script type="application/json">{"@type": "Product"}</script>') == Hints()
    assert hints('<script type="Application/LD+JSON">{"@type": "Product"}</script>').types == ("product",)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "{",
        '{"@type": ',
        "[" * 100_000,
        "7",
        "null",
        '"text"',
        '{"@type": null}',
        '{"@type": [1, {}]}',
        "1" * 10_000,
    ],
    ids=range(10),
)
def test_broken_or_empty_json_is_skipped(source: str) -> None:
    assert json_ld(source) == Hints()


def test_a_line_break_inside_a_string_breaks_nothing() -> None:
    assert json_ld('{"@type": "Article", "description": "a\nb"}').body == "a\nb"


def test_a_huge_script_is_not_read() -> None:
    assert json_ld('{"@type": "Product", "x": "' + "y" * MAX_JSON_CHARS + '"}') == Hints()


@settings(deadline=None)
@given(st.text())
def test_any_script_is_survived(source: str) -> None:
    assert isinstance(json_ld(source), Hints)


def test_it_travels_with_the_page_but_is_no_content() -> None:
    page = preprocess('<meta name="description" content="hidden"><p>shown')
    assert pickle.loads(pickle.dumps(page)).hints.description == "hidden"
    assert [block.text for block in page.blocks] == ["shown"]
    assert "hidden" not in page.mapping_html


def test_the_exact_profile_has_none() -> None:
    assert preprocess('<meta name="description" content="hidden"><p>shown', "mineru-1.1").hints == Hints()


def test_real_pages_say_what_they_are() -> None:
    assert sum("article" in page.hints.types for page in pages()) >= 3
    assert sum(bool(page.hints.description) for page in pages()) >= 6


def test_hidden_letters_in_escapes_of_json_are_dropped() -> None:
    found = json_ld('{"description": "a\\u202e\\udb40\\udc41b \\u003ci\\u003e \\\\u202e \\u05d0"}')
    assert found.body == "ab <i> \\u202e \u05d0"
