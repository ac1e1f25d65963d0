"""Markdown shows the same as main HTML in four renderers that pass HTML through, and nothing that a
page's text could forge."""

from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.errors import ErrorCode, PageError
from dripper.html import prune_page, rewrite, to_markdown, to_text
from dripper.page.extraction import Extractor
from dripper.settings import HtmlSettings, LabelerSettings, Settings
from dripper.tree.urls import Base
from dripper.write.markdown.inert import write_inert_line
from support.labelled import pages
from support.renderers import RENDERERS, differs, forged

PIECES = [
    *("<script>", "</p>", "<!--", "-->", "<b", "<http://e.org>", "<a@b.c>", "<1@b.c>", "<?", "</", "<!x", "a < b"),
    *("[a](javascript:x)", "![a](b)", "[x]: /u", "[x]", "[^1]", "[^1]: x", "[ ] x", "]", "[", "(", "(b)", "!"),
    *("*", "**", "***", "_", "__", "___", "~", "~~", "~~~", "`", "``", "```", "snake_case", "2 * 3", "* * *", "\\"),
    *("#", "# ", "##", ">", "> ", "-", "- ", "+", "1.", "1. ", "2)", "=", "===", "---", "|", "|-|", "| a | b |", ":-:"),
    *("&lt;", "&amp;", "&#60;", "&", "&copy", "\\*", "\\\\", "^", "{", "}", "(/u)", "*[A]: b", "http", "://"),
    *("    ", "\t", " ", "\n", "\u00a0", "a", "b", "foo", "5", ".", ",", ":", "\"", "'", "é", "漢", "「", "€", "\ufdd2", "\ufdd8"),
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
PLACES = [
    *("<p>{}</p>", "<p>{}<br>{}</p>", "<p>{}<i>{}</i>{}</p>", "<p>{}<b>{}<br>{}</b>{}", "<p><b>{}</b><i>{}</i><b>{}</b>"),
    *("<p>{}<b><i>{}</i>{}</b>{}<s>{}</s>", "<p><span>{}</span><span>{}</span></p>", "<h2>{}</h2>", "<h1>{}<b>{}</b></h1>"),
    *("<ul><li>x{}<li>x{}</ul>", "<ol><li>{}x<ul><li>{}x</ul></ol>", "<blockquote>{}<br>{}</blockquote>", "<dl><dt>{}<dd>{}</dl>"),
    "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}<td><b>{}</b></table>",
    *("<p>{}<a href=/u>{}</a>{}", "<p>{}<a href=/u title=\"{}\"><b>{}</b></a>", "<p>{}<img src=/i alt=\"{}\" title=\"{}\">{}"),
    *("<p>x<code>{}</code>{}<code>{}</code>", "<details><summary>{}</summary>{}</details>"),
    "<figure><img src=/i><figcaption>{}</figcaption></figure>",
    "<div>" * 600 + "{}<br>{}" + "</div>" * 600,
]  # fmt: skip
PLACE = st.sampled_from(PLACES)


def differences(html: str, renderers: list[str] | None = None) -> list[str]:
    """Which renderers show another text than main HTML has, or elements that it has not."""
    markdown = to_markdown(html)
    if "$" in markdown:  # A formula: its backslashes are LaTeX.
        return []
    return [f"{name}: {markdown!r}" for name in renderers or RENDERERS if differs(markdown, html, name)]


@settings(max_examples=200, deadline=None)
@given(place=PLACE, data=st.data())
def test_no_text_forges_anything_in_any_place(place: str, data: st.DataObject) -> None:
    texts = [data.draw(TEXT).replace("\ufdd2", "").replace("\ufdd8", "") for _ in range(place.count("{}"))]
    # Python-Markdown takes empty items and backticks of spans for others.
    renderers = [name for name in RENDERERS if name != "Python-Markdown" or "<code" not in place]
    assert differences(place.format(*map(escape, texts)), renderers) == []


@settings(max_examples=100, deadline=None)
@given(code=st.lists(TEXT, min_size=1, max_size=3).map("\n".join), around=st.sampled_from(["{}", "<ul><li>x{}</ul>"]))
def test_no_code_ends_its_block(code: str, around: str) -> None:
    code = f"x{code}x".replace("\ufdd2", "").replace("\ufdd8", "")
    html = around.format(f"<pre>{escape(code)}</pre>")
    assert differences(html, ["markdown-it", "mistune", "cmark-gfm"]) == []


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>hi &lt;script&gt;alert(1)&lt;/script&gt;</p>", "hi &lt;script>alert(1)&lt;/script>\n"),
        (
            "<table><tr><th>a<th>b<tr><td>&lt;b&gt;<td>[x](y)</table>",
            "| a | b |\n| --- | --- |\n| &lt;b> | [x\\](y) |\n",
        ),
        (
            "<p>[here](javascript:alert(1)) ![](//e.org/beacon)",
            "\\[here\\](javascript:alert(1)) ![\\](//e.org/beacon)\n",
        ),
        ("<p>a &lt;!-- b", "a &lt;!-- b\n"),
        ("<p>**bold** and _it_", "\\*\\*bold\\*\\* and \\_it\\_\n"),
        ("<p>Hi!<a href=/x>y</a>", "Hi\\![y](/x)\n"),
        ("<p>&amp;lt; &amp;copy; &amp;#60;", "&amp;lt; &amp;copy; &amp;#60;\n"),
        ("<p>[x]: /u", "\\[x]: /u\n"),
        ("<p>a | b<br>--- | ---", "a | b  \n\\--- | ---\n"),
        ("<p>a<br>===<br>b", "a  \n&#61;==  \nb\n"),
        ("<ul><li>[x] y</ul>", "- \\[x] y\n"),
        ("<p><span>1</span>. x", "1\\. x\n"),
        ("<p>~~a~~", "&#126;&#126;a&#126;&#126;\n"),
        ("<h2>C#</h2>", "## C\\#\n"),
        # An arrow that leads back to a note is left out, but not for a # in its title.
        ('<p>a<a href=/u title="#">^</a>', "a[&#94;](/u)\n"),
        ("<p>a<a href=/n>[1]</a> <a href=/m>[x](y)</a>", "a[\\[1\\]](/n) [\\[x\\](y)](/m)\n"),
        ("<p><a href=/n>[a [b]]</a>", "[\\[a [b]\\]](/n)\n"),
        ("<p><code>a`b</code>", "``a`b``\n"),
        ("<p><code>a</code><code>b</code>", "`ab`\n"),
        ("<pre>```\n&lt;b&gt;</pre>", "````\n```\n<b>\n````\n"),
        ("<h1>a<pre>b</pre></h1>", "# a `b`\n"),
        ("<p>\\(a&lt;b\\) \\(`x`\\)", "$a< b$ $‘x‘$\n"),
        ("<p><img src=/i alt='] [a](b)'>", "![\\] \\[a\\](b)](/i)\n"),
        ("<div>" * 600 + "&lt;b&gt; *a* b*", "&lt;b> \\*a\\* b\\*\n"),
    ],
)
def test_what_could_be_a_mark_is_escaped(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    "text",
    [
        *(
            "snake_case and __init",
            "2 * 3 * 4",
            "a < b, 5 <3",
            "see [1] and [2].",
            "*a footnote",
            "AT&T & co",
            "C:\\dir\\a",
        ),
        *(
            "~5 to ~10",
            "a | b",
            "well - this",
            "1.5 or 2",
            "3 - 2",
            "`",
            "-5 degrees",
            "[note] here",
            "Hi! [x]",
            "100 # x",
            "x = y",
        ),
    ],
)
def test_prose_stays_as_it_is(text: str) -> None:
    assert to_markdown(f"<p>{escape(text)}</p>") == f"{text}\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p><b>Note:</b>now", "**Note**:now\n"),
        ("<p>a<b>(b)</b>c", "a(**b**)c\n"),
        ("<p>漢<b>「字」</b>漢", "漢「**字**」漢\n"),
        ("<p>a<b><code>b</code></b>c", "a`b`c\n"),
        ("<p>a <b> b </b>c", "a **b** c\n"),
        ("<p><i>a </i></p><p>b", "*a*\n\nb\n"),
        ("<p><b>a</b><b>b</b>", "**ab**\n"),
        ("<p><b>a</b><i>b</i>", "**a**b\n"),
        ("<p><b>a <strong>b</strong></b>", "**a b**\n"),
        ("<p><b>a *b</b>", "**a \\*b**\n"),
        ("<p>a <mark>b</mark> <abbr title=c>d</abbr>", "a b d\n"),
        ("<p><b>a<br><i><br>b</i> c</b>", "a\n\n*b* c\n"),
        ("<p>a<br><b><br>b</b>", "a\n\n**b**\n"),
    ],
)
def test_marks_of_emphasis_never_show(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:x", "JaVaScRiPt:x", "java\tscript:x", "&#106;avascript:x", " javascript:x", "\x01javascript:x"),
        *("vbscript:x", "data:text/html,x", "data:image/svg+xml,x", "file:///etc/passwd"),
    ],
)
def test_no_address_runs_anything(address: str) -> None:
    assert to_markdown(f'<p><a href="{address}">a</a> <img src="{address}" alt="b">') == "a b\n"


@pytest.mark.parametrize(
    ("address", "written"),
    [
        *(("/a b", "/a%20b"), ("/a(b)", "/a(b)"), ("/a)(b", "/a%29%28b"), ("/&lt;b&gt;`|", "/%3Cb%3E%60%7C")),
        *(
            ("/?a=1&amp;copy;", "/?a=1&amp;copy;"),
            ("/é_*x*", "/é_*x*"),
            ("mailto:a@b.c", "mailto:a@b.c"),
            ("/a\n)b", "/a%29b"),
        ),
    ],
)
def test_an_address_ends_where_its_parentheses_do(address: str, written: str) -> None:
    html = f'<p><a href="{address}">a</a>'
    assert to_markdown(html) == f"[a]({written})\n"
    assert differences(html) == []


def test_the_title_is_text() -> None:
    html = "<title>&lt;img src=x onerror=y> of [a](b)</title><p>It rained all day in the town by the sea.</p>"
    assert Extractor().extract(html).markdown.startswith("# &lt;img src=x onerror=y> of [a\\](b)\n\n")
    assert write_inert_line("# C#", "# ") == "# # C\\#"


@pytest.mark.parametrize("index", range(11))
def test_real_pages_are_shown_as_they_are(index: int) -> None:
    page = pages()[index]
    tree = rewrite(prune_page(page, page.item_ids), HtmlSettings(), Base.of("https://e.org/a"))
    html = "".join(tree.parts)
    # Python-Markdown begins lists in more places than CommonMark, and nests them by four.
    assert differences(html, ["markdown-it", "mistune", "cmark-gfm"]) == []
    assert forged(RENDERERS["Python-Markdown"](to_markdown(html)), html, "Python-Markdown") == []


@pytest.mark.parametrize(
    "html",
    [
        f"<table><tr>{'<td>x' * 900}{'<tr><td>x' * 5000}</table>",
        "<table>" + "<tr><td colspan=1000>x<td>y" * 3000 + "</table>",
        "<ul><li>x" * 240 + "<br>x" * 5000,
        "<ul><li>x" * 240 + "<pre>" + "x\n" * 5000,
        f"<p>{'x' * 1000}<p>" + "<blockquote>" * 400 + "<p>x" * 2000,
    ],
)
def test_output_that_pads_itself_is_refused_before_it_is_made(html: str) -> None:
    with pytest.raises(PageError) as raised:
        to_markdown(html)
    assert raised.value.code is ErrorCode.OUTPUT_TOO_LARGE


@pytest.mark.parametrize("link", ["<a href=b>x</a>", "<img srcset='a 1x, b 2x'>"])
def test_a_long_base_does_not_multiply(link: str) -> None:
    page = f"<base href=https://e.org/{'a' * 20_000}/><p>It rained.</p>" + link * 100
    extraction = Extractor(Settings(labeler=LabelerSettings(name="all"))).extract(page, "https://e.org/")
    assert extraction.error_code is ErrorCode.OUTPUT_TOO_LARGE
    assert "the limit is" in (extraction.error_detail or "")


def test_text_is_no_longer_than_its_html() -> None:
    for page in pages():
        html = prune_page(page, page.item_ids)
        assert len(to_text(html)) <= len(html)


@pytest.mark.parametrize(
    "piece", ["*a ", "<b>.a.</b><i>x</i>", "` ", "[ x<br>", "[", "&lt;a@", "<code>x</code>", "~a ", "_a ", "\\"]
)
def test_long_texts_are_settled_in_time(piece: str) -> None:
    assert to_markdown("<p>" + piece * 20_000)
