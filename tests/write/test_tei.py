"""TEI XML: its elements, and validation of real pages by the DTD of Trafilatura's users."""

import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
import trafilatura
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import dripper
from dripper.warc import read_records
from dripper.write.tei import TeiSource, to_tei

DTD = etree.DTD(str(Path(trafilatura.__file__).parent / "data" / "tei_corpus.dtd"))
UNDECLARED = re.compile(r"element (cell|code|row|table)\b|Element (table|code) is not declared|div content")


def body(main_html: str) -> str:
    """Return the contents of the entry."""
    return re.search('<div type="entry">(.*)</div></body>', to_tei(main_html, TeiSource()), re.DOTALL)[1]  # type: ignore[index]


@pytest.mark.parametrize(
    ("html", "tei"),
    [
        ("<h2>A <i>b</i></h2>", '<ab type="header" rend="h2">A <hi rend="#i">b</hi></ab>'),
        ("<p>one<br>two</p>three", "<p>one<lb />two</p><p>three</p>"),
        ('<a href="/k?a=1&amp;b">k</a>', '<p><ref target="/k?a=1&amp;b">k</ref></p>'),
        (
            "<ul><li>a<ol><li>b</ol><li>c</ul>",
            '<list rend="ul"><item><p>a</p><list rend="ul"><item><p>b</p></item></list></item><item><p>c</p></item></list>',
        ),
        ("<td>x", "<table><row><cell><p>x</p></cell></row></table>"),
        (
            "<table><tr><th>1<td>2<tr><td>3</table>",
            "<table><row><cell><p>1</p></cell><cell><p>2</p></cell></row><row><cell><p>3</p></cell></row></table>",
        ),
        ("<blockquote>q</blockquote>", "<quote><p>q</p></quote>"),
        ("<pre>a\n  <code>b</code></pre>", "<p><code>a\n  b</code></p>"),
        ('<img src="x.png"><script>no()</script>', '<p><graphic url="x.png" /></p>'),
        ('<p>a<img src="x.png" alt=" An\n oak ">b', '<p>a<graphic url="x.png"><desc>An oak</desc></graphic>b</p>'),
        ("<p>one<b> </b><i>two</i><span> </span>three", '<p>one <hi rend="#i">two</hi> three</p>'),
        ("<ul></ul><p> </p>", "<p />"),
        ("<p>a\x08b &lt;", "<p>a\ufffdb &lt;</p>"),
    ],
)
def test_html_becomes_tei(html: str, tei: str) -> None:
    assert body(html) == tei


def test_the_header_says_what_is_known() -> None:
    source = TeiSource("T & U", "http://e.org/a", "Ann", "2020-01-02", "en", "The Bergen News", "Rain & more")
    found = etree.fromstring(to_tei("<p>x<img src=a alt=b>", source).encode())
    names = {element.tag.split("}")[1]: element for element in found.iter()}
    assert (names["title"].text, names["author"].text, names["date"].text) == ("T & U", "Ann", "2020-01-02")
    assert (names["publisher"].text, names["abstract"][0].text) == ("The Bergen News", "Rain & more")
    assert names["ptr"].get("target") == "http://e.org/a"
    assert found.get("{http://www.w3.org/XML/1998/namespace}lang") == "en"
    assert DTD.validate(found), DTD.error_log


def test_real_pages_are_valid_and_keep_their_words(sample: Path) -> None:
    for record in list(read_records(str(sample / "world.warc.gz")))[:20]:
        result = dripper.extract(record.payload)
        found = etree.fromstring(to_tei(result.main_html, TeiSource(result.title, record.url)).encode())
        DTD.validate(found)
        assert [error.message for error in DTD.error_log if not UNDECLARED.search(error.message)] == []
        shown = letters(unescape(re.sub("<[^>]*>", "", result.main_html)))
        kept = letters("".join(found.find(".//{*}body").itertext()))  # type: ignore[union-attr]
        assert (shown - kept).total() <= 0.01 * shown.total()


def letters(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


@pytest.mark.parametrize("name", ["ul", "li", "blockquote", "table", "td", "b", "a", "pre", "span"])
def test_a_page_as_deep_as_it_likes_is_written_with_its_words(name: str) -> None:
    written = to_tei(f"<{name}>q " * 3_000 + f"</{name}>" * 3_000 + "<p>one <b>two</b>", TeiSource())
    found = etree.fromstring(written.encode(), etree.XMLParser(huge_tree=True)).find(".//{*}body")
    assert " ".join("".join(found.itertext()).split()).count("q") == 3_000
    assert written.count("<hi") <= 101
    assert "two</hi>" in written


def test_many_empty_elements_and_ends_of_lines_leave_texts_where_they_were() -> None:
    assert body("<p>a<b></b>c<i> </i>d<b>e</b><u></u>f</p>") == '<p>ac d<hi rend="#b">e</hi>f</p>'


@given(
    st.text(alphabet="<>/ab& \\x01'\"", max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "<ul>",
                "</ul>",
                "<li>",
                "<table>",
                "</table>",
                "<tr>",
                "<td>",
                "</td>",
                "<p>",
                "</p>",
                "<b>",
                "</b>",
                "<pre>",
                "x",
                "<br>",
            ]
        )
    ).map("".join)
)
def test_whatever_comes_is_xml(html: str) -> None:
    found = etree.fromstring(to_tei(html, TeiSource(html, html)).encode())
    for element in found.iter("{*}list", "{*}table", "{*}row"):
        inside = {"list": {"item"}, "table": {"row"}, "row": {"cell"}}[element.tag.split("}")[1]]
        assert {child.tag.split("}")[1] for child in element} <= inside
