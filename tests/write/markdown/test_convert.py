import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.html import prune_page, to_markdown, to_text
from dripper.settings import MarkdownSettings
from support.labelled import pages


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("", ""),
        (" \n", ""),
        ("<h2>A <a href='/x'>b</a></h2><p>c <b>d</b> <i>e</i>", "## A [b](/x)\n\nc **d** *e*\n"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b\n"),
        ("<ul><li>a<ul><li>b</ul></ul>", "- a\n  - b\n"),
        ("<blockquote><p>a</blockquote>", "> a\n"),
        ("<p>a<br>b", "a  \nb\n"),
        ("<ul><li><input type=checkbox checked disabled> a<li><input type=checkbox> b</ul>", "- [x] a\n- b\n"),
        ("<img src=a.png alt='b c'>", "![b c](a.png)\n"),
        ("<nav>n</nav><header>h</header><form>f</form>", "n\n\nh\n\nf\n"),
        ("<p hidden>shown</p>", "shown\n"),
        ('<p style="display: none">shown</p>', "shown\n"),
        ("<noscript><p>shown</p></noscript>", "shown\n"),
        ("<p>1. not_a *list* [x]", "1\\. not_a \\*list\\* [x]\n"),
    ],
)
def test_structure(html, markdown):
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<pre><code class='language-python'>def f():\n\n    return 1 &lt; 2\n</code></pre>",
            "```python\ndef f():\n\n    return 1 < 2\n```\n",
        ),
        ("<pre>a<br>  b<br>c</pre>", "```\na\n  b\nc\n```\n"),
        ("<pre><div class=line>a</div><div class=line>  b</div></pre>", "```\na\n  b\n```\n"),
        ("<pre><span class='lineno'>1</span>a\n<span class='lineno'>2</span>b</pre>", "```\na\nb\n```\n"),
        ("<div class='highlight-source-js'><pre>x</pre></div>", "```js\nx\n```\n"),
        ("<pre data-lang=Go>x</pre>", "```go\nx\n```\n"),
        ("<pre><code class='hljs language-js'><span class=hljs-string>x</span></code></pre>", "```js\nx\n```\n"),
        ("<pre class='hljs js'><span class=hljs-string>x</span></pre>", "```js\nx\n```\n"),
        ("<pre class=hljs><span class=hljs-string>x</span></pre>", "```\nx\n```\n"),
        ("<pre><code class='sourceCode python'>x</code></pre>", "```python\nx\n```\n"),
        ("<p>use <code>x_y</code> here", "use `x_y` here\n"),
        ("<code>a<br>  b</code>", "```\na\n  b\n```\n"),
        ("<pre><button>Copy</button><code>a\n  b</code><i role=tooltip>hint</i></pre>", "```\na\n  b\n```\n"),
        (
            "<code><pre><div><i>1</i><div>a</div></div><div><i>2</i><div>  b</div></div></pre></code>",
            "```\na\n  b\n```\n",
        ),
        ("<pre><div>1</div><div>2</div><div>3</div></pre>", "```\n1\n2\n3\n```\n"),
        (
            "<table><tr><td class=gutter><pre>1\n2</pre><td class=code><pre>a\n  b</pre></table>",
            "```\na\n  b\n```\n",
        ),
    ],
)
def test_code_keeps_its_lines_and_language(html, markdown):
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<table><tr><th>a<th>b<tr><td>1|2<td>3</table>", ["| a | b |", "| --- | --- |", "| 1\\|2 | 3 |"]),
        ("<table><tr><th>a<th>b<tr><td><p>x<p>y<td>3</table>", ["| a | b |", "| --- | --- |", "| x<br>y | 3 |"]),
        ("<table><tr><td>a<td><h2>b</h2>c</table>", ["a", "", "## b", "", "c"]),
        ("<table><tr><td>a<tr><td>b</table>", ["a", "", "b"]),
    ],
)
def test_tables_of_data_stay_and_layout_goes(html, lines):
    assert to_markdown(html).strip().split("\n") == lines


def test_cells_over_several_columns_keep_the_others_in_place():
    html = "<table><tr><th>a<th colspan=2>b<tr><td>1<td>2<td>3</table>"
    assert [line.count("|") for line in to_markdown(html).strip().split("\n")] == [4, 4, 4]


def test_deep_nesting_becomes_plain_text():
    assert to_markdown("<div>" * 3000 + "deep &amp; down" + "</div>" * 3000) == "deep & down\n"


@pytest.mark.parametrize("index", range(11))
def test_the_words_of_real_pages_come_through(index):
    page = pages()[index]
    main_html = prune_page(page, page.item_ids)
    shown = re.sub("<select.*?</select>", " ", main_html, flags=re.DOTALL)
    words = {word for word in re.sub("<[^>]*>", " ", shown).split() if word.isalpha()}
    for convert in (to_markdown, to_text):
        text = convert(main_html)
        missing = [word for word in words if word not in text]
        assert len(missing) <= 0.02 * len(words), (convert, missing[:20])


@pytest.mark.parametrize("index", range(11))
@pytest.mark.parametrize("step", [1, 2, 3])
def test_what_prune_wrote_needs_no_parser(index: int, step: int) -> None:
    page = pages()[index]
    main_html = prune_page(page, page.item_ids[::step])
    assert to_markdown(main_html, is_pruned=True) == to_markdown(main_html)


def test_what_is_called_pruned_and_is_not_becomes_text() -> None:
    assert to_markdown("<p>one<div>two</p>", is_pruned=True).split() == ["one", "two"]


def test_control_characters_are_left_out():
    assert to_markdown("<p>a\x01" + "\x02" * 1000 + "b</p>") == "ab\n"


def test_control_characters_in_names_of_elements_are_left_out_too():
    name = "c" + "\x1a" * 400
    assert to_markdown(f"<{name} e='1'><h2>Head</h2><p>text <b>bold</b></{name}>") == "## Head\n\ntext **bold**\n"


def test_placeholders_in_the_input_are_not_ours():
    assert to_markdown("<p>a\ufdd20\ufdd3b \\(x\\)") == "a0b $x$\n"


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("<>/pretablco d\"'=&;\\$()[]{}\ufdd2\ufdd31\n"), max_size=200))
def test_any_text_converts(html):
    assert isinstance(to_markdown(html), str)
    assert isinstance(to_text(html), str)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>F\u00f6r\u00adder\u200b\ufeff \x9d und \u200cZWNJ", "F\u00f6rder und \u200cZWNJ\n"),
        ("<p>\u4e09\u5341\n  \u5e74\u306e\nmill", "\u4e09\u5341\u5e74\u306e mill\n"),
        ("<label>a<h3>b</h3></label>c", "a\n\n### b\n\nc\n"),
        ("<p><abbr>a<ul><li>b</ul></abbr>", "a\n\n- b\n"),
        ("<table><tr><td>a<td rowspan=2>b<tr><td>c</table>", "| a | b |\n| --- | --- |\n| c |  |\n"),
    ],
)
def test_what_shows_nothing_goes_and_what_stands_apart_stays_so(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


def test_an_item_with_a_number_of_its_own_keeps_it():
    html = '<ol><li value="3">c</li><li>d</li><li value="7">g</li><li value="-1">h</li><li value="x">i</li></ol>'
    assert re.findall(r"^(\d+)[.)] (\w)", to_markdown(html), re.MULTILINE) == [
        ("3", "c"),
        ("4", "d"),
        ("7", "g"),
        ("8", "h"),
        ("9", "i"),
    ]


def test_the_data_of_an_image_is_no_text():
    html = '<p>a <img src="data:image/png;base64,AAAA" alt="chart &lt;1&gt;"> b <img src="/x.png" alt="photo"></p>'
    assert to_markdown(html) == "a chart <1> b ![photo](/x.png)\n"


@pytest.mark.parametrize("tag", ["p", "h2", "div"])
def test_code_inside_a_link_keeps_its_lines(tag: str) -> None:
    assert to_markdown(f"<a href='/x'><pre>a<{tag}>b</{tag}>c</pre></a>") == "```\na\nb\nc\n```\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>Hello 20\nPercent, <b>all\n\tof</b>\n<i>it</i>", "Hello 20 Percent, **all of** *it*\n"),
        ("<ul><li>a\nb</ul>", "- a b\n"),
        ("<h2>a\n b</h2>", "## a b\n"),
        ("<table><tr><th>a\nb<th>c<tr><td>1\n2<td>3</table>", "| a b | c |\n| --- | --- |\n| 1 2 | 3 |\n"),
        ("<pre>a\n  b\n\tc</pre>", "```\na\n  b\n\tc\n```\n"),
        ("<p>a\n<br>\nb", "a  \nb\n"),
        ("<p>a\n\\(x\n+ y\\)", "a $x + y$\n"),
    ],
)
def test_line_breaks_of_the_source_are_blanks(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


CARD = "<p>a <a href=/b><b>c</b></a> <img src=d alt=e></p><table><tr><th>f<th>g<tr><td>h<td>i</table>"


@pytest.mark.parametrize(
    ("options", "markdown"),
    [
        ({"links": "text"}, "a **c** ![e](d)\n\n| f | g |\n| --- | --- |\n| h | i |\n"),
        ({"images": "drop"}, "a [**c**](/b)\n\n| f | g |\n| --- | --- |\n| h | i |\n"),
        ({"tables": "text"}, "a [**c**](/b) ![e](d)\n\nf\n\ng\n\nh\n\ni\n"),
    ],
)
def test_links_images_and_tables_are_kept_as_wished(options: dict[str, str], markdown: str) -> None:
    assert to_markdown(CARD, settings=MarkdownSettings.model_validate(options)) == markdown


def test_html2text_writes_the_markdown_of_the_paper() -> None:
    assert to_markdown("<ul><li>a</ul>", settings=MarkdownSettings(converter="html2text")).strip() == "* a"
