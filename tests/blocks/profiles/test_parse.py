import pytest

from dripper.errors import ErrorCode, PageError
from dripper.html import preprocess, prune_page

LONG = "<p>" + "visible words " * 20 + "</p>"


def texts(html):
    return [block.text for block in preprocess(html + LONG).blocks][:-1]


@pytest.mark.parametrize(
    "hiding",
    ["hidden", 'style="display:none"', 'style="DISPLAY : NONE !important"', 'style="color:red;display:none;top:0"'],
)
def test_hidden_elements_are_cut_out_and_what_surrounds_them_joins(hiding):
    assert texts(f"<p>wo<span {hiding}>secret<b>s</b></span>rd</p>") == ["word"]
    assert "secret" not in preprocess(f"<p {hiding}>secret</p>{LONG}").mapping_html


@pytest.mark.parametrize(
    "shown",
    [
        'class="hidden"',
        'style="display:nonesuch"',
        'style="--display:none"',
        'hidden role="tabpanel"',
        'hidden="until-found"',
        'style="display:none" class="accordion-body"',
        'hidden id="S:3"',
        'title="display:none"',
    ],
)
def test_what_scripts_show_and_readers_open_is_kept(shown):
    assert texts(f"<p {shown}>kept</p>") == ["kept"]


def test_a_hidden_element_with_much_of_the_text_is_kept():
    page = preprocess("<p>Loading</p><div style='display:none'><p>" + "story " * 50)
    assert page.blocks[1].text.startswith("story")


@pytest.mark.parametrize("hiding", ["style='display: none; opacity: 0'", "hidden"])
def test_a_hidden_dialog_that_asks_for_consent_is_cut_out_whatever_it_holds(hiding):
    dialog = f"<div id=CybotCookiebotDialog {hiding}><p>{'We store cookies. ' * 50}</p></div>"
    assert [block.text for block in preprocess(f"{dialog}<p>Register").blocks] == ["Register"]
    assert len(preprocess(f"{dialog.replace(hiding, '')}<p>Register").blocks) == 2
    assert len(preprocess(f"{dialog.replace('Cybot', 'Other')}<p>Register").blocks) == 2


def test_a_hidden_body_does_not_lose_the_page():
    assert preprocess('<body style="display:none" hidden><p>a').blocks[0].text == "a"


def test_never_shown_elements_leave_nothing():
    html = (
        "<p>a<script>s</script><style>t</style><template>u</template><!-- c --><iframe>v</iframe>b</p><title>w</title>"
    )
    assert texts(html) == ["ab"]


def test_closed_details_and_noscript_are_shown():
    assert texts("<details><summary>s</summary><p>d</p></details><noscript><p>n</p></noscript>") == ["s", "d", "n"]


def test_navigation_is_part_of_the_page():
    assert texts("<nav>menu</nav><div class=nav>more</div>") == ["menu", "more"]


def test_xmp_and_plaintext_show_their_markup():
    assert texts("<xmp><b>x</b> &amp;</xmp>") == ["<b>x</b> &amp;"]
    assert [block.text for block in preprocess("<p>a<plaintext><i>b").blocks] == ["a", "<i>b"]


def test_a_frameset_gives_what_it_offers_without_frames():
    html = "<title>t</title><frameset><frame src=a><noframes><body><h1>Hello</h1><p>there</noframes></frameset>"
    page = preprocess(html)
    assert page.title == "t"
    assert [block.text for block in page.blocks] == ["Hello", "there"]


def test_formula_sources_in_scripts_are_text():
    page = preprocess('<p>a <script type="math/tex">x<y</script> b<script type="math/tex; mode=display">z</script>')
    assert page.blocks[0].text == "a \\(x<y\\) b\\[z\\]"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n &amp; B </title>", "A & B"),
        ('<meta property="og:title" content="O"><p>x', "O"),
        ("<title></title><meta name='og:title' content='O'>", "O"),
        ("<svg><title>icon</title></svg>", ""),
        ("", ""),
    ],
)
def test_title(html, title):
    assert preprocess(html).title == title


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a\ud800b", "ab"),
        ("<p>a\0b", "ab"),
        ("<p>a\x01b\x1fc", "a\x01b\x1fc"),
        ("\ufeff<p>a", "\ufeff"),
        (
            '<?xml version="1.0" encoding="gbk"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>x</p></body></html>',
            "x",
        ),
        ("just text", "just text"),
        ("a < b & c > d", "a < b & c > d"),
        ('<p>say _item_id="99" and 1main2other <cc-alg-uc-text _item_id="7">w</cc-alg-uc-text>', "say…"),
    ],
)
def test_odd_input(html, text):
    page = preprocess(html)
    expected = 'say _item_id="99" and 1main2other w' if text == "say…" else text
    assert page.blocks[0].text == expected
    assert prune_page(page, page.item_ids).count("_item_id") == text.count("say")


@pytest.mark.parametrize("html", ["", " \n", "<!-- c -->", "<script>x</script>", "<p></p><br>", "\0"])
def test_nothing_visible_gives_no_blocks(html):
    page = preprocess(html)
    assert list(page.blocks) == []
    assert page.simplified_html == '<html><head><meta charset="utf-8"></head><body></body></html>'
    assert prune_page(page, []) == ""


@pytest.mark.parametrize(
    ("html", "detail"),
    [
        ("<div>" * 100_000, "nested too deeply"),
        ("<p " + " ".join(f"a{n}=1" for n in range(40_000)) + ">x", "attributes"),
    ],
    ids=["depth", "attributes"],
)
@pytest.mark.parametrize("profile", ["dripper", "mineru-1.1"])
def test_what_a_parser_needs_minutes_for_is_refused(html, detail, profile):
    with pytest.raises(PageError, match=detail) as caught:
        preprocess(html, profile)
    assert caught.value.code is ErrorCode.PARSE_FAILED


@pytest.mark.parametrize(
    "html",
    [
        "<span>" * 20_000 + "x",
        "<select>" + "<option>x" * 30_000,
        "<div>t" * 5_000,
        "<a><p><i>x" * 5_000,
        "<p>" + "line<br>" * 20_000,
        "<div>" + "<span>x</span>" * 50_000,
        "<table>" + "<tr><td>cell</td></tr>" * 30_000,
        "<table><tr><td colspan=9007199254740991>x",
        "<p>x<img src='data:image/png;base64," + "A" * 10_000_000 + "'>y",
        "<p>" + "word " * 2_000_000,
        "<" * 100_000 + "x",
        "<p>x" + "<!--" * 100_000,
        "<b x='" * 10_000 + "'>x",
    ],
    ids=range(13),
)
def test_large_and_broken_pages_keep_their_text(html):
    page = preprocess(html)
    assert page.blocks
    assert prune_page(page, page.item_ids)


def test_a_script_full_of_signs_is_not_taken_for_a_tag():
    page = preprocess("<script>if(a<b " + "x y " * 50_000 + ")</script><p data-x='" + "v w " * 40_000 + "'>t")
    assert [block.text for block in page.blocks] == ["t"]


@pytest.mark.parametrize("name", ["iframe", "textarea", "script", "style", "title", "noframes", "xmp"])
def test_raw_text_that_closes_itself_swallows_nothing(name: str) -> None:
    """Pages that were written as XML: HTML has no self-closing tags, and the rest of the page would
    be the element's text."""
    page = preprocess(f'<p>before</p><{name} class="x" /><p>after</p><{name.upper()}/><p>end</p>')
    assert [block.text for block in page.blocks] == ["before", "after", "end"]


def test_raw_text_with_an_end_tag_is_taken_at_its_word() -> None:
    page = preprocess("<p>before</p><iframe/><p>inside</p></iframe><p>after</p>")
    assert [block.text for block in page.blocks] == ["before", "after"]


@pytest.mark.parametrize(
    "around",
    [
        "<p>before{}<p>inside",
        "<title/>{}<p>inside",
        "<table>{}<tr><td>inside</table>",
        "<table><tr><td>a{}<td>inside</table>",
        "<div><table><tr>{}<td>inside</table></div>",
        "<form><ul><li>{}inside</ul></form>",
        "<template>{}</template><p>inside",
        "<select><option>a</select>{}inside</body></html>",
        "<p>a</p></body></html>{}inside",
    ],
)
@pytest.mark.parametrize("name", ["iframe", "script", "style", "noframes", "xmp"])
def test_a_closed_element_swallows_nothing_wherever_it_stands(around, name):
    page = preprocess(around.format(f"<{name} src='x'/>"))
    assert "inside" in " ".join(block.text for block in page.blocks)
