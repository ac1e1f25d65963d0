"""Plain text equals the output of the library html-text for the same main HTML. Scores use this
text."""

import html_text
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import prune_page, to_text
from support.labelled import pages


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        (" \n", ""),
        ("<h1>A</h1><p>b <b>c</b>, d<br>e</p>", "A\n\nb c, d\ne"),
        ("<ul><li>a<li>b</ul>c", "a\nb\n\nc"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
        ("<p>(<i>a</i>) &amp; <i>b</i>.", "(a) & b."),
        ("<p>a</p>\n\n<div><div>b</div></div>", "a\n\nb"),
        ("<script>x</script><style>y</style><p>z", "z"),
    ],
)
def test_text_has_lines_and_nothing_else(html: str, text: str) -> None:
    assert to_text(html) == text == html_text.extract_text(html)


@pytest.mark.parametrize("index", range(11))
def test_real_pages_have_the_text_that_is_scored(index: int) -> None:
    page = pages()[index]
    main_html = prune_page(page, page.item_ids[::2])
    assert to_text(main_html, is_pruned=True) == to_text(main_html)
    ours, theirs = to_text(main_html).split("\n"), html_text.extract_text(main_html).split("\n")
    assert ours == [line.replace("\u00ad", "") for line in theirs]


@given(st.text(alphabet=st.sampled_from("<>/pbrdivliu ()a.,&;\n\t\x00\xa0"), max_size=120))
def test_any_text_converts(html: str) -> None:
    assert "\n\n\n" not in to_text(html)
