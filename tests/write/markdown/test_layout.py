"""Main HTML that Markdown cannot express."""

import itertools
import re
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import to_markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<a href=/u><h2>T</h2><p>d</p></a>", "## [T](/u)\n\nd\n"),
        ("<a href=/u><img src=i.png><h2>T</h2></a>", "![](i.png)\n\n## [T](/u)\n"),
        ("<a href=/u><h2></h2><h3>T</h3></a>", "### [T](/u)\n"),
        ("<a href=/u><ul><li>x<li>z</ul></a>", "- [x](/u)\n- z\n"),
        ("<a href=/u><table><tr><td>1<td>2</table></a>", "| [1](/u) | 2 |\n| --- | --- |\n"),
        ("<a href=/u><pre>x</pre></a>", "```\nx\n```\n"),
        ("<a href=/u>plain <b>link</b></a>", "[plain **link**](/u)\n"),
        ("a<a href=/u> </a>b", "a b\n"),
        ("<a href=' JavaScript:void(0)'>more</a> <a href='/?javascript:'>x</a>", "more [x](/?javascript:)\n"),
        ("<a href=/u><img src=x.png alt=c></a>", "[![c](x.png)](/u)\n"),
    ],
)
def test_a_link_around_a_card_goes_to_its_heading(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<strong><h3>x</h3></strong>", "### x\n"),
        ("<em><ul><li>a<li>b</ul></em>", "- a\n- b\n"),
        ("<details><summary><h3>q</h3></summary>a</details>", "### q\n\na\n"),
        ("<details><summary>q</summary>a</details>", "**q**\n\na\n"),
        ("<b><a href=/u><h2>T</h2></a></b>", "## [T](/u)\n"),
        ("<p><b>x</b> <i>y</i>", "**x** *y*\n"),
        ("<em><strong><em>a</em></strong> <i>b</i></em> c", "***a** b* c\n"),
        ("<em><h3>a</h3><em>b</em></em>", "### a\n\n*b*\n"),
    ],
)
def test_headings_and_lists_are_not_bold(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>a <img src=x.png alt=c></h2>", "## a ![c](x.png)\n"),
        ("<table><tr><td>1<td><img src=x.png alt=c></table>", "| 1 | ![c](x.png) |\n| --- | --- |\n"),
        ('<img src="data:image/png;base64,AA" alt="a < b">', "a < b\n"),
    ],
)
def test_images_stay_where_they_are(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        (
            "<table><tr><td><h4>a</h4><td><h4>b</h4><tr><td>1<td>2</table>",
            ["| **a** | **b** |", "| --- | --- |", "| 1 | 2 |"],
        ),
        ("<table><tr><td>a<br><br> <td>b<br>c<tr><td>1<td>2</table>", ["| a | b<br>c |", "| --- | --- |", "| 1 | 2 |"]),
        ("<table><tr><td>a<td><h2>b</h2>c</table>", ["a", "", "## b", "", "c"]),
        (
            "<table><tr><td>menu<td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>",
            ["menu", "", "| 1 | 2 |", "| --- | --- |", "| 3 | 4 |"],
        ),
        (
            "<table><h3>out of any cell</h3><tr><td>1<td>2</table>",
            ["### out of any cell", "", "| 1 | 2 |", "| --- | --- |"],
        ),
    ],
)
def test_tables(html: str, lines: list[str]) -> None:
    assert to_markdown(html).strip().split("\n") == lines


ELEMENTS = {
    "<a href=/u>": "</a>",
    "<b>": "</b>",
    "<h2>": "</h2>",
    "<ul><li>": "</ul>",
    "<ol><font><li>": "</font></ol>",
    "<ul><a href=/u><li>": "</a></ul>",
    "<table><tr><td>": "</table>",
    "<td>": "</td>",
    "<p>": "</p>",
    "<pre>": "</pre>",
    "<summary>": "</summary>",
    "<div>": "</div>",
}
PIECES = st.recursive(
    st.sampled_from(["word", "<br>", "<img src=i.png>", " "]),
    lambda inner: st.builds(
        lambda start, parts: start + "".join(parts) + ELEMENTS[start],
        st.sampled_from(sorted(ELEMENTS)),
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)


Items: TypeAlias = "Sequence[str | Items]"
WRAPPERS = ["font", "span", "x-list", "div", "center", "form"]


def write_list(name: str, items: Items, wrapper: str = "") -> str:
    """Return a list with lists as items. If a wrapper is given, it is around the items."""
    inside = "".join(f"<li>{item if isinstance(item, str) else write_list(name, item, wrapper)}</li>" for item in items)
    return f"<{name}><{wrapper}>{inside}</{wrapper}></{name}>" if wrapper else f"<{name}>{inside}</{name}>"


@given(
    st.sampled_from(["ul", "ol"]),
    st.recursive(
        st.lists(st.sampled_from(["rain", "<b>snow</b>"]), min_size=1, max_size=3),
        lambda x: st.lists(x, min_size=1, max_size=3),
        max_leaves=5,
    ),
    st.sampled_from(WRAPPERS),
)
def test_what_stands_between_a_list_and_its_items_changes_nothing(name: str, items: Items, wrapper: str) -> None:
    assert to_markdown(write_list(name, items, wrapper)) == to_markdown(write_list(name, items))


@given(PIECES)
def test_no_word_is_lost_however_elements_are_nested(html: str) -> None:
    numbers = itertools.count()
    html = re.sub("word", lambda _: f"word{next(numbers)}", html)  # repeated text may be removed
    assert to_markdown(html).count("word") == html.count("word")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<h2>Rain<a class="headerlink" href="#rain" title="Permalink">¶</a></h2>', "## Rain\n"),
        ('<h2><a href="/x#rain">#</a> Rain</h2>', "## Rain\n"),
        ('<h2><span>Rain</span><a href="#rain"><i>\uf0c1</i></a></h2>', "## Rain\n"),
        ('<h2>Rain <a href="#c">C#</a></h2>', "## Rain C\\#\n"),
        ('<h2>Rain <a href="/x">#</a></h2>', "## Rain [#](/x)\n"),
        ('<p>Rain <a href="#1">*</a></p>', "Rain *\n"),
    ],
)
def test_a_heading_has_no_link_to_itself(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b\n"),
        ("<div><blockquote>a</blockquote></div><p></p><div><blockquote>b</blockquote></div>", "> a\n\n> b\n"),
        ("<ul><li><blockquote>a</blockquote> <blockquote>b</blockquote></ul>", "- > a\n\n  > b\n"),
        ("<blockquote><blockquote>a</blockquote>b</blockquote>", "> > a\n>\n> b\n"),
        ("<blockquote>a</blockquote>x<blockquote>b</blockquote>", "> a\n\nx\n\n> b\n"),
    ],
)
def test_quotations_one_after_another_stay_apart(html: str, markdown: str) -> None:
    assert to_markdown(html) == markdown


def test_a_quotation_that_holds_the_page_is_an_indentation() -> None:
    text = "<p>" + "The ice held until the last week of April, and then it broke in one night. " * 6
    page = f"<h1>Ice</h1><blockquote>{text}<blockquote><p>It is gone!</blockquote></blockquote>"
    markdown = to_markdown(page)
    assert markdown.startswith("# Ice\n\nThe ice")
    assert markdown.endswith("\n\n> It is gone!\n")
    assert to_markdown(page + text).startswith("# Ice\n\n> The ice")
