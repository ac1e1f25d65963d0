import pytest

from dripper.html import preprocess


def texts(html, profile="dripper"):
    return [" ".join(block.text.split()) for block in preprocess(html, profile).blocks]


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<p>a<p>b", ["a", "b"]),
        ("<p>a <b>b</b> c", ["a b c"]),
        ("<p>a<br>b<br><br>c", ["a", "b", "c"]),
        ("<div>a<p>b</p>c</div>", ["a", "b", "c"]),
        ("<div>a<p>b</p><i>c</i> d<div>e</div></div>", ["a", "b", "c d", "e"]),
        ("<span>a<p>b</p>c</span>", ["a", "b", "c"]),
        ("<ul><li>a<li>b</ul>", ["a b"]),
        ("<ul><li>a<li><p>b</ul>", ["a", "b"]),
        ("<ul>x<li>a<li>b</ul>", ["x", "a", "b"]),
        ("<ul><li>a<ul><li>b<li>c</ul><li>d</ul>", ["a", "b c", "d"]),
        ("<ul><span><li>a</li></span><li>b</ul>", ["a", "b"]),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", ["a b c d"]),
        ("<dl><div><dt>a<dd>b</div></dl>", ["a", "b"]),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", ["a b c d"]),
        ("<table><tr><td>a<td><p>b</table>", ["a", "b"]),
        ("<table><caption>x</caption><tr><td>a<td><p>b</table>", ["x a b"]),
        ("<table><col><tr><td>a<td><p>b</table>", ["a b"]),
        ("<table role=table><tr><td>a<td><div>b</div></table>", ["a b"]),
        ("<table><tr><td>a<td><table><tr><td>b<td>c</table></table>", ["a", "b c"]),
        ("<table><tr><th headers=h>a<td><div>b</div></table>", ["a b"]),
        ("<p>x <math><mrow><mi>a</mi></mrow></math> y", ["x a y"]),
        ("<div>a<my-tag>b</my-tag>c</div>", ["abc"]),
        ("<body>a<p>b</p>c", ["a", "b", "c"]),
        ("<div>a</div><div>a</div>a<p>x</p>a", ["a", "a", "a", "x", "a"]),
        ("<div>a<hr>b<img src=x>c</div>", ["a", "b c"]),
        ("<li>a<li>b", ["a b"]),
    ],
)
def test_where_blocks_begin_and_end(html, blocks):
    assert texts(html) == blocks


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        (
            "<table><col><tr><td>menu<td><h1>title</h1>text<table><tr><td>b<td>c</table></table>",
            ["menu", "title", "text", "b c"],
        ),
        (
            "<table><colgroup><col></colgroup><tr><td>menu<td><p>text<form>search</form></table>",
            ["menu", "text", "search"],
        ),
    ],
)
def test_columns_alone_do_not_make_a_single_block_of_a_page_laid_out_in_a_table(html, blocks):
    assert texts(html) == texts(html, "paper") == blocks
    assert texts(html, "mineru-1.1") == [" ".join(blocks)]


def test_a_caption_makes_a_table_of_data_whatever_stands_in_it():
    html = "<table><caption>x</caption><col><tr><td>a<td><form>b</form><table><tr><td>c</table></table>"
    assert texts(html) == ["x a b c"]


def test_runs_point_to_the_element_they_stand_in():
    page = preprocess("<div>a<p>b</p><i>c</i></div>")
    tree = page.elements
    assert [(tree.tags[block.element], block.is_run) for block in page.blocks] == [
        ("div", True),
        ("p", False),
        ("div", True),
    ]
    assert "".join(tree.parts[page.blocks[2].first : page.blocks[2].last + 1]) == "<i>c</i>"


def test_a_single_element_under_body_is_its_own_block_as_in_mineru_html():
    for profile in ("dripper", "mineru-1.1"):
        page = preprocess("<p>a</p><a href=x>b</a><p>c</p>", profile)
        assert '<a href="x" _item_id="2">' in page.mapping_html


@pytest.mark.parametrize(
    "html",
    [
        "<div>a<br>b<p>c <b>d</b></p><ul><li>e<li>f</ul>g<i>h</i></div>",
        "<div><h1>t</h1><table><tr><td>1<td>2</table><dl><dt>a<dd>b</dl><pre>x\ny</pre></div>",
    ],
)
def test_where_mineru_html_loses_nothing_the_blocks_are_the_same(html):
    assert texts(html) == texts(html, "mineru-1.1")
