"""The page as flat arrays: attributes of serialised tags, references, ranges of elements,
cutting."""

import html as references

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from dripper.tree.elements import HTML_VOID
from dripper.tree.scan import scan
from dripper.tree.tree import Tree, attribute, attributes, cut_parts, escape, escape_attribute, unescape
from support.labelled import pages

MARKUP = '<html><body class="b">a<p id="1">x<br>y<i>z</i></p>t<ul><li>m</li><li>n</li></ul>e</body></html>'


@pytest.fixture
def tree() -> Tree:
    return scan(MARKUP, HTML_VOID)


def test_elements_stand_in_document_order(tree: Tree) -> None:
    assert tree.tags == ["html", "body", "p", "br", "i", "ul", "li", "li"]
    assert tree.parents == [-1, 0, 1, 2, 2, 1, 5, 5]
    assert tree.lasts == [7, 7, 4, 3, 4, 7, 6, 7]
    assert "".join(tree.parts) == MARKUP
    assert len(tree) == 8


def test_texts_stand_between_tags(tree: Tree) -> None:
    assert tree.parts[::2] == ["", "", "a", "x", "y", "z", "", "t", "", "m", "", "n", "", "e", "", ""]
    assert [tree.parts[tree.opens[i] + 1] for i in range(3)] == ["", "a", "x"]
    assert [tree.parts[tree.closes[i] + 1] for i in (2, 3, 5)] == ["t", "y", "e"]


def test_ancestors_children_siblings(tree: Tree) -> None:
    assert tree.path(4) == (0, 1, 2, 4)
    assert tree.children(1) == [2, 5]
    assert tree.children(3) == []
    assert tree.siblings(tree.opens[2], tree.closes[5]) == [2, 5]
    assert tree.siblings(tree.opens[2] + 1, tree.closes[6]) == [3, 4, 5]


def test_which_tags_open_something(tree: Tree) -> None:
    opening = [tree.parts[index] for index in range(1, len(tree.parts), 2) if tree.starts_element(index)]
    assert opening == ["<html>", '<body class="b">', '<p id="1">', "<i>", "<ul>", "<li>", "<li>"]


def test_attributes_are_those_of_the_start_tag(tree: Tree) -> None:
    assert tree.attributes(1) == {"class": "b"}
    assert tree.start_tag(2) == '<p id="1">'


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ('<a href="/x?a=1&amp;b" title="say &quot;hi&quot;">', {"href": "/x?a=1&b", "title": 'say "hi"'}),
        ("<p hidden>", {"hidden": ""}),
        ('<p a=\'x "y"\' b="it\'s">', {"a": 'x "y"', "b": "it's"}),
        ('<p class="a" class="b">', {"class": "a"}),
        ('<p title=" class=&quot;z&quot;" class="a">', {"title": ' class="z"', "class": "a"}),
        ('<p data-class="z" class="a">', {"data-class": "z", "class": "a"}),
        ('<p a"b="" class="c">', {'a"b': "", "class": "c"}),
        ('<svg viewBox="0 0 1 1">', {"viewBox": "0 0 1 1"}),
        ("<p>", {}),
    ],
)
def test_one_attribute_is_what_all_have(tag: str, expected: dict[str, str]) -> None:
    assert attributes(tag) == expected
    for name in {*expected, "class", "id", "title", "b"}:
        assert attribute(tag, name) == expected.get(name)


@given(st.dictionaries(st.from_regex("[a-z][a-z-]{0,5}", fullmatch=True), st.text(max_size=12), max_size=4))
def test_attributes_survive_being_written(values: dict[str, str]) -> None:
    tag = "<p" + "".join(f' {name}="{escape_attribute(value)}"' for name, value in values.items()) + ">"
    assert attributes(tag) == values
    assert {name: attribute(tag, name) for name in values} == values


@given(st.text(max_size=50))
def test_references_there_and_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert references.unescape(escape_attribute(text)) == references.unescape(escape(text).replace('"', "&quot;"))


def test_only_the_references_of_serialisers_are_read() -> None:
    assert unescape("&lt;&gt;&quot;&nbsp;&amp;lt;") == '<>"\u00a0&lt;'
    assert unescape("&eacute;&#65;&apos;") == "&eacute;&#65;&apos;"


@pytest.mark.parametrize(
    ("cuts", "left"),
    [
        ([], ["a", "<1>", "b", "<2>", "c", "<3>", "d"]),
        ([(1, 1)], ["ab", "<2>", "c", "<3>", "d"]),
        ([(1, 3)], ["ac", "<3>", "d"]),
        ([(1, 1), (3, 3)], ["abc", "<3>", "d"]),
        ([(1, 1), (5, 5)], ["ab", "<2>", "cd"]),
        ([(1, 5)], ["ad"]),
    ],
)
def test_what_surrounds_a_cut_joins(cuts: list[tuple[int, int]], left: list[str]) -> None:
    assert cut_parts(["a", "<1>", "b", "<2>", "c", "<3>", "d"], cuts) == left


@pytest.mark.parametrize("number", range(len(pages())))
def test_a_real_page_has_the_shape_that_another_parser_sees(number: int) -> None:
    tree = pages()[number].elements
    for element in range(1, len(tree)):
        parent = tree.parents[element]
        assert tree.opens[parent] < tree.opens[element] <= tree.closes[element] < tree.closes[parent]
        assert tree.lasts[element] <= tree.lasts[parent]
    xml = "".join(
        part if index % 2 == 0 else f"<{'/' if part[1] == '/' else ''}e{'/' if tree.names[part] in HTML_VOID else ''}>"
        for index, part in enumerate(["" if index % 2 == 0 else part for index, part in enumerate(tree.parts)])
    )
    root = etree.fromstring(xml, etree.XMLParser(huge_tree=True))
    everything = list(root.iter())
    assert len(everything) == len(tree)
    numbers = {element: number for number, element in enumerate(everything)}
    assert [numbers.get(element.getparent(), -1) for element in everything] == tree.parents
