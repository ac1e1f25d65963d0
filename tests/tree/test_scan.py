"""Serialised markup to trees, in Python and in C."""

import random
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dripper.tree import scan as module
from dripper.tree.elements import HTML_VOID
from dripper.tree.scan import TOKEN, StartTag, find_elements, read_names, scan, split
from dripper.tree.tree import KEYS, attributes, escape, escape_attribute, unescape
from support.in_c import in_each_language, needs_c

MARKUP = '<html><body><div class="a">x<br>y<!-- c > d --><p>z</p></div>w</body></html>'

NEEDS_C = needs_c(module)
_language = in_each_language(module)


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


# Few characters, so that tokens, comments and halves of them come often; of all widths that strings
# are stored in.
@given(
    st.text("<>!-/ab é漢\U0001f600\n")
    | st.lists(st.sampled_from(["<!--", "-->", "->", "<", ">", "<b>", "</b>", "x"])).map("".join)
)
@example("<!-->x-->")
@example("<!--->-->")
@example("<!-- a <b> c")
def test_split_gives_what_the_expression_gives(markup: str) -> None:
    assert split(markup) == TOKEN.split(markup)


def test_blanks_are_written_as_characters() -> None:
    markup = '<p title="a&nbsp;b">c&nbsp;&amp;d</p><p title="a&nbsp;b">'
    assert split(markup, has_blanks=True) == TOKEN.split(markup.replace("&nbsp;", "\u00a0"))


def test_split_of_many_different_tags() -> None:
    markup = "".join(f"<p id={number % 7000}>x" for number in range(20_000))
    assert split(markup) == TOKEN.split(markup)


@NEEDS_C
def test_equal_tags_are_one_string_in_c() -> None:
    from dripper.tree import scan_c

    parts = scan_c.split("<p>a</p><p>b</p><p class='漢'><p>", False)
    assert parts[1] is parts[5] is parts[11]
    assert parts[3] is parts[7]
    with pytest.raises(TypeError, match="must be str, not bytes"):
        scan_c.split(b"<p>", False)  # type: ignore[arg-type]


@NEEDS_C
@given(
    st.lists(
        st.lists(st.sampled_from([*"/!?x =\"'<é漢\U0001f600", "br", *KEYS, *(f' {key}="' for key in KEYS)]))
        .map(lambda pieces: f"<{''.join(pieces)}>")
        .filter(lambda tag: len(tag) > 1),
        unique=True,
    )
)
@example(['<p id="a" class="b" id="c">', '<br hidden="">', "</br>", "</p>", "<!-- x -->"])
@example(['<p id=" class="a">', '<p class="a', "<>"])
def test_names_and_values_are_the_same_in_c(tags: list[str]) -> None:
    from dripper.tree import scan_c

    in_c, expected = scan_c.read_names(tags, HTML_VOID, KEYS), read_names(tags, HTML_VOID)
    assert in_c == expected
    assert [list(values) for values in in_c[3].values()] == [list(values) for values in expected[3].values()]


@NEEDS_C
def test_names_in_c_refuse_what_is_no_tag_or_no_key() -> None:
    from dripper.tree import scan_c

    for tags in ([""], ["<"], [b"<p>"]):
        with pytest.raises(ValueError, match="a tag must be a str of two characters or more"):
            scan_c.read_names(tags, HTML_VOID, KEYS)  # type: ignore[arg-type]
    for keys in (("é",), ("",), (1,)):
        with pytest.raises(ValueError, match="a key must be a str of ASCII letters"):
            scan_c.read_names(["<p>"], HTML_VOID, keys)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="too many keys"):
        scan_c.read_names(["<p>"], HTML_VOID, tuple(f"a{number}" for number in range(33)))


def test_values_of_tags_that_came_later_are_found() -> None:
    tree = scan('<html><p class="a" class="b">x</p></html>', HTML_VOID)
    assert tree.values("class") == {'<p class="a" class="b">': "a"}
    tree.names['<p id="c">'] = "p"
    assert tree.values("id") == {'<p id="c">': "c"}


@NEEDS_C
@given(st.lists(st.integers(0, 4)), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 2**32))
def test_elements_are_the_same_in_c(drawn: list[int], hidden_share: float, seed: int) -> None:
    from dripper.tree import scan_c

    # An end tag without a start tag is left out; open elements are closed at the end.
    kinds, n_open = list[int](), 0
    for kind in drawn:
        if kind != module.END or n_open:
            kinds.append(kind)
            n_open += {module.START: 1, module.HIDDEN: 1, module.END: -1}.get(kind, 0)
    kinds += [module.END] * n_open
    text_before = list(accumulate(random.Random(seed).choices(range(10), k=len(kinds) + 1), initial=0))
    expected = find_elements(bytes(kinds), text_before, hidden_share)
    assert expected is not None
    assert scan_c.elements(bytes(kinds), text_before, hidden_share) == expected


@NEEDS_C
@given(st.binary(max_size=12).map(lambda kinds: bytes(kind % 5 for kind in kinds)))
def test_tags_that_do_not_balance_are_told_in_c_too(kinds: bytes) -> None:
    from dripper.tree import scan_c

    text_before = list(range(len(kinds) + 2))
    assert scan_c.elements(kinds, text_before, 0.3) == find_elements(kinds, text_before, 0.3)


@NEEDS_C
def test_c_refuses_what_does_not_fit() -> None:
    from dripper.tree import scan_c

    hidden = bytes([module.HIDDEN, module.END])
    for text_before in ([], [0, 1, 2], ["0"] * 4):
        with pytest.raises(ValueError, match=r"n_tags \+ 2 integers"):
            scan_c.elements(hidden, text_before, 0.3)  # type: ignore[arg-type]
