import pytest

from dripper.blocks.simplify import HEAD, TAIL, shorten_tag
from dripper.html import preprocess


def simplified(html, **_):
    return preprocess(html).simplified_html.removeprefix(HEAD).removesuffix(TAIL)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p class=" a b " id=i style=x onclick=y>t', '<p class="a b" id="i" _item_id="1">t</p>'),
        ("<p>a  b\n\tc\u00a0d", '<p _item_id="1">a b c d</p>'),
        ('<p>a <a href="/x" id="k" class="c">b</a>', '<p _item_id="1">a <a class="c" id="k">b</a></p>'),
        ("<p><img alt=q src=a id=i class=c width=1>", '<p _item_id="1"><img src="a" alt="q" class="c" id="i"></p>'),
        ('<p>x<img src="data:image/png;base64,AA" alt=q>', '<p _item_id="1">x<img alt="q"></p>'),
        ("<ul><li>a<li>b<li>c<li>d</ul>", '<ul _item_id="1"><li>a</li><span>...</span><li>d</li></ul>'),
        ("<ul><li>a<li>b</ul>", '<ul _item_id="1"><li>a</li><li>b</li></ul>'),
        (
            "<dl><dt>a<dd>b<dt>c<dd>d<dt>e<dd>f</dl>",
            '<dl _item_id="1"><dt>a</dt><dd>b</dd><span>...</span><dt>e</dt><dd>f</dd></dl>',
        ),
        ("<div class=k>a <b>b</b><p>c</p></div>", '<div class="k" _item_id="1">a <b>b</b></div><p _item_id="2">c</p>'),
        ("a <b>b</b><p>c</p>", '<div _item_id="1">a <b>b</b></div><p _item_id="2">c</p>'),
    ],
)
def test_what_the_model_reads(html, expected):
    assert simplified(html) == expected


def test_long_text_is_cut_after_500_characters_with_its_tags_closed():
    html = simplified("<p>" + "a" * 490 + "<b>" + "b" * 20 + "<i>c</i></b>d<u>e</u>")
    assert html == '<p _item_id="1">' + "a" * 490 + "<b>" + "b" * 10 + "...<i></i></b></p>"


@pytest.mark.parametrize("profile", ["dripper", "mineru-1.1"])
@pytest.mark.parametrize(
    ("before", "between", "after", "expected"),
    [
        (490, "t" * 9, "c", "</dt>ttttttttt<span>....</span></dl></section>"),
        (490, "t" * 11, "c", "</dt>tttttttttt...</dl></section>"),
        (480, "t" * 11, "c" * 20, "</dt>ttttttttttt<span>...</span><dt>b</dt><dd>ccccc...</dd></dl></section>"),
        (10, "t ", "c", "</dt>t <span>...</span><dt>b</dt><dd>c</dd></dl></section>"),
    ],
    ids=["in the mark", "in the text", "behind", "not at all"],
)
def test_the_mark_of_a_shortened_list_counts_three_characters(profile, before, between, after, expected):
    html = f'<section cc-no-block="true"><dl><dt>{"a" * before}</dt>{between}<dt>b</dt><dd>{after}</dd></dl></section>'
    assert preprocess(html, profile).simplified_html.removesuffix(TAIL).partition("a</dt>")[2] == expected[5:]


def test_lists_behind_a_cut_become_shells_but_in_tables():
    lists = "<ul><li>1</li><li>2</li><li>3</li></ul>"
    html = simplified(f'<section cc-no-block="true">{"a" * 505}{lists}<table><tr><td>x{lists}</table></section>')
    assert "...<ul><li></li><span></span><li></li></ul><table>" in html
    assert "<td>x<ul><li>1</li><span>...</span><li>3</li></ul></td>" in html


@pytest.mark.parametrize("profile", ["dripper", "mineru-1.1"])
def test_white_space_in_attributes_stays(profile):
    html = '<p class=" a  b\tc&nbsp;d " id="\u3000e\nf">x  y\n<img src=x alt="q \n r">'
    expected = '<p class="a  b\tc\u00a0d" id="e\nf" _item_id="1">x y <img src="x" alt="q \n r"></p>'
    assert preprocess(html, profile).simplified_html == HEAD + expected + TAIL


def test_text_of_tables_is_cut_much_later():
    html = simplified("<table>" + "<tr><td>" + "x" * 100 + "</td></tr>" * 3 + "</table>")
    assert html.count("x") == 100
    rows = "".join(f"<tr><td>{'x' * 99}</td></tr>" for _ in range(500))
    html = simplified(f"<table>{rows}</table>")
    assert 7000 < html.count("x") <= 8000
    assert html.endswith("...</td></tr></tbody></table>")


def test_block_text_is_never_cut():
    assert preprocess("<p>" + "a" * 5000).blocks[0].text == "a" * 5000


@pytest.mark.parametrize(
    ("name", "tag", "short"),
    [
        ("p", "<p>", "<p>"),
        ("p", "</p>", "</p>"),
        ("p", '<p title="class=&quot;x&quot;">', "<p>"),
        ("p", '<p title=\' class="x"\' id="i">', '<p id="i">'),
        ("p", '<p class="">', "<p>"),
        ("p", '<p data-class="x" class="y">', '<p class="y">'),
        ("p", '<p "class="a" b" class="c=" id="i">', '<p class="c=" id="i">'),
    ],
)
def test_short_tag(name, tag, short):
    assert shorten_tag(name, tag) == short


def test_exact_profile_and_default_write_the_same_for_a_plain_page():
    html = "<div><h1 class=t>T</h1><p>a <b>b</b> c</p><ul><li>x<li>y<li>z</ul>" + "<p>" + "w " * 400 + "</div>"
    assert preprocess(html).simplified_html == preprocess(html, "mineru-1.1").simplified_html
