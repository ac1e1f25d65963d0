import pytest

from dripper.markup.scan import StartTag, scan
from dripper.markup.tags import HTML_VOID
from dripper.markup.tree import attributes, escape, escape_attribute, unescape

MARKUP = '<html><body><div class="a">x<br>y<!-- c > d --><p>z</p></div>w</body></html>'


def test_elements_in_document_order_with_their_ranges():
    tree = scan(MARKUP, HTML_VOID)
    assert tree.tags == ["html", "body", "div", "br", "p"]
    assert tree.parents == [-1, 0, 1, 2, 2]
    assert tree.lasts == [4, 4, 4, 3, 4]
    assert "".join(tree.parts) == MARKUP.replace("<!-- c > d -->", "")
    assert [tree.parts[i] for i in tree.opens] == ["<html>", "<body>", '<div class="a">', "<br>", "<p>"]
    assert [tree.parts[i] for i in tree.closes] == ["</html>", "</body>", "</div>", "<br>", "</p>"]


def test_children_path_and_attributes():
    tree = scan(MARKUP, HTML_VOID)
    assert tree.children(2) == [3, 4]
    assert tree.path(4) == (0, 1, 2, 4)
    assert tree.attributes(2) == {"class": "a"}
    assert tree.siblings(tree.opens[3], tree.closes[4]) == [3, 4]


@pytest.mark.parametrize("markup", ["<p>", "</p>", "<p></p></p>", "<p><b></p>", "</p><p>", "<p></b>"])
def test_what_no_serialiser_writes_is_refused(markup):
    if markup in ("<p></b>",):
        assert scan(markup, HTML_VOID).tags == ["p"]
        return
    with pytest.raises(ValueError, match="unbalanced"):
        scan(markup, HTML_VOID)


def test_no_markup_is_no_element():
    assert scan("", HTML_VOID).tags == []
    assert scan("a text", HTML_VOID).parts == ["a text"]


def test_end_tags_of_void_names_come_from_svg_and_go():
    tree = scan("<svg><source>x</source>y</svg>", HTML_VOID)
    assert "".join(tree.parts) == "<svg><source>xy</svg>"
    assert tree.tags == ["svg", "source"]


def test_hidden_elements_are_cut_with_all_inside_and_tags_rewritten():
    def read_tags(tags):
        special = {"<i>": StartTag("<i>", hidden=True), "<b>": StartTag('<b class="new">')}
        return {tag: special[tag] for tag in tags if tag in special}

    tree = scan(
        "<p>one <i>two <i>three</i><u></u></i><b>four five six</b><i>7</i> eight nine</p>", HTML_VOID, read_tags
    )
    assert "".join(tree.parts) == '<p>one <b class="new">four five six</b> eight nine</p>'
    assert tree.tags == ["p", "b"]
    assert tree.lasts == [1, 1]
    assert tree.names[tree.start_tag(1)] == "b"


def test_a_hidden_element_with_most_of_the_text_stays_without_the_hidden_in_it():
    tree = scan("<p>a<i>long long text<i>b</i></i></p>", HTML_VOID, lambda tags: {"<i>": StartTag("<i>", hidden=True)})
    assert "".join(tree.parts) == "<p>a<i>long long text</i></p>"


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<p>", {}),
        ('<p a="1" b>', {"a": "1", "b": ""}),
        ("<p a='x\"y'>", {"a": 'x"y'}),
        ('<p a="1" a="2">', {"a": "1"}),
        ('<p a"b="1" =c="2">', {'a"b': "1", "=c": "2"}),
        ('<p a="&lt;b&gt; &amp;amp; &quot;">', {"a": '<b> &amp; "'}),
        ('<a<b c="d">', {"c": "d"}),
    ],
)
def test_attributes(tag, expected):
    assert attributes(tag) == expected


@pytest.mark.parametrize("text", ["", "a", "<&>", "&amp;lt;", '"', "a\u00a0b"])
def test_escaping_comes_back(text):
    assert unescape(escape(text)) == text
    assert unescape(escape_attribute(text)) == text
