import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import UnknownItemError, preprocess, prune, prune_page, to_markdown


def kept(html, main_ids):
    page = preprocess(html)
    in_hand = prune_page(page, main_ids)
    assert in_hand == prune(page.mapping_html, main_ids)
    return in_hand.removeprefix("<html><body>").removesuffix("</body></html>")


@pytest.mark.parametrize(
    ("html", "main_ids", "expected"),
    [
        ("<p>a<p>b<p>c", [2], "<p>b</p>"),
        ("<p>a<p>b<p>c", [3, 1, 3], "<p>a</p><p>c</p>"),
        ("<div class=k lang=en><p>a</p><p>b</p></div>", [1], '<div class="k" lang="en"><p>a</p></div>'),
        ("<div>a<p>b</p>c</div>", [1, 3], "<div>a<br>c</div>"),
        ("<div>a<br>b<br>c</div>", [1, 3], "<div>a<br>c</div>"),
        ("<div>a<br> <br><br>b<br>c</div>", [1, 2, 3], "<div>a<br><br>b<br>c</div>"),
        ("<div><b>a</b><br><br><b>b</b></div>", [1, 2], "<div><b>a</b><br><br><b>b</b></div>"),
        ("<div>a<br>x<br><br>b</div>", [1, 3], "<div>a<br>b</div>"),
        ("<div>a<br>b<br>c</div>", [1, 2], "<div>a<br>b<br></div>"),
        # An inline element that is split continues with the line.
        ("<div>a <b>b<p>c</p>d</b><br>e</div>", [1, 2, 3, 4, 5], "<div>a <b>b<p>c</p>d</b><br>e</div>"),
        ("<div>a <b>b<p>c</p>d</b>e</div>", [1, 2, 3, 4, 5], "<div>a <b>b<p>c</p>d</b>e</div>"),
        ("<div>a<p>x</p><b>b<p>c</p>d</b></div>", [1, 3, 4, 5], "<div>a<b><br>b<p>c</p>d</b></div>"),
        ("<div>a<b>b<p>x</p></b>c</div>", [1, 2, 4], "<div>a<b>b</b><br>c</div>"),
        ("<div><p>a</p></div><div><p>b</p></div>", [1, 2], "<div><p>a</p></div><div><p>b</p></div>"),
        ("<ul><li>a<li><p>b</ul>", [2], "<ul><li><p>b</p></li></ul>"),
        ("a<p>b</p>c", [1, 2, 3], "a<p>b</p>c"),
        ("<a href=x><div>a</div><div>b</div></a>", [2], '<a href="x"><div>b</div></a>'),
        # Unknown elements are blocks, but inline.
        ("<kw>a</kw><sup> </sup><kw>b</kw>", [1, 2], "<kw>a</kw> <kw>b</kw>"),
        ("<p><kw>a</kw>\n<i>b</i></p>", [1, 2], "<p><kw>a</kw> <i>b</i></p>"),
        ("<p><kw>a</kw><kw>x</kw><kw>b</kw></p>", [1, 3], "<p><kw>a</kw> <kw>b</kw></p>"),
        ("<p><kw>a</kw><kw></kw><kw>b</kw></p>", [1, 2], "<p><kw>a</kw><kw>b</kw></p>"),
        ("<p><kw>a</kw><br><kw>b</kw></p>", [1, 2], "<p><kw>a</kw><br><kw>b</kw></p>"),
        ("<kw>a</kw><div>x</div><kw>b</kw>", [1, 3], "<kw>a</kw><br><kw>b</kw>"),
        ("<p>a</p> <kw>b</kw> <p>c</p>", [1, 2, 3], "<p>a</p><kw>b</kw><p>c</p>"),
        ("<div>a<o:p> </o:p>b</div>", [1], "<div>a<o:p> </o:p>b</div>"),
        ("<kw>a</kw><hr><a href=x>b<p>c</p></a>", [1, 2, 3], '<kw>a</kw><br><a href="x">b<p>c</p></a>'),
        ("<div>a<o:p></o:p>b</div>", [1], "<div>a<o:p></o:p>b</div>"),
    ],
)
def test_keeps_what_is_main_and_what_is_around_it(html, main_ids, expected):
    assert kept(html, main_ids) == expected


PIECES = [
    "rain",
    " ",
    "<br>",
    "<kw>snow</kw>",
    "<sup> </sup>",
    "<kw> </kw>",
    "<i>fog</i>",
    "<kw>a <i>b</i></kw>",
    "<p>ice</p>",
]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.sampled_from(["div", "kw", "span"]))
def test_words_of_main_html_end_where_the_page_ends_them(inside: str, name: str) -> None:
    html = f"<{name}>{inside}</{name}>"
    page = preprocess(html)
    assert to_markdown(prune_page(page, page.item_ids)).split() == to_markdown(html).split()


def test_a_row_keeps_its_columns_where_several_cells_are_kept():
    html = "<table><tr><td><p>a</td><td></td><td><p>x</td><td><p>c</td></tr><tr><td><p>d</table>"
    assert (
        kept(html, [1, 3])
        == "<table><tbody><tr><td><p>a</p></td><td></td><td></td><td><p>c</p></td></tr></tbody></table>"
    )


def test_a_layout_table_with_one_main_cell_gets_no_empty_ones():
    assert (
        kept("<table><tr><td><p>menu<td><p>story</table>", [2])
        == "<table><tbody><tr><td><p>story</p></td></tr></tbody></table>"
    )


def test_no_main_block_gives_nothing():
    assert prune_page(preprocess("<p>a"), []) == ""


@pytest.mark.parametrize("main_ids", [[0], [4], [-1], [1, 99]])
def test_foreign_ids_are_named(main_ids):
    page = preprocess("<p>a<p>b<p>c")
    for call in (lambda: prune_page(page, main_ids), lambda: prune(page.mapping_html, main_ids)):
        with pytest.raises(UnknownItemError, match=str(main_ids[-1])):
            call()


def test_what_is_no_mapping_is_refused():
    with pytest.raises(ValueError, match="unbalanced"):
        prune('<div><p _item_id="1">a</div></p></p>', [1])
    with pytest.raises(ValueError, match="unknown profile"):
        prune("<p></p>", [], profile="v1")


def test_text_that_looks_like_an_id_is_text():
    html = '<p>one _item_id="2"></p><p title=\'_item_id="1"\'>two</p>'
    assert kept(html, [1]) == '<p>one _item_id="2"&gt;</p>'
    assert kept(html, [2]) == '<p title="_item_id=&quot;1&quot;">two</p>'


@pytest.mark.parametrize(
    ("html", "main_ids", "expected"),
    [
        (
            "<ol><li><p>a</p></li><li><p>b</p></li><li><p>c</p></li><li><p>d</p></li></ol>",
            {2, 3},
            '<ol><li value="2"><p>b</p></li><li><p>c</p></li></ol>',
        ),
        (
            "<ol start=5><li>a<div>x</div></li><li>b</li><li>c</li></ol>",
            {1, 4},
            '<ol start="5"><li>a</li><li value="7">c</li></ol>',
        ),
        ("<ol reversed><li><p>a</p></li><li><p>b</p></li></ol>", {2}, '<ol reversed=""><li><p>b</p></li></ol>'),
        (
            "<ol><li value=9><p>a</p></li><li><p>b</p></li></ol>",
            {2},
            '<ol><li value="10"><p>b</p></li></ol>',
        ),
        ("<ol start=x><li><p>a</p></li><li><p>b</p></li></ol>", {2}, '<ol start="x"><li value="2"><p>b</p></li></ol>'),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", {2}, "<ul><li><p>b</p></li></ul>"),
    ],
)
def test_items_keep_their_numbers(html, main_ids, expected):
    page = preprocess(html)
    assert prune_page(page, main_ids) == f"<html><body>{expected}</body></html>"
    assert prune(page.mapping_html, main_ids) == prune_page(page, main_ids)
