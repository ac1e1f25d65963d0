"""Nothing in main HTML can run: script injection vectors through the whole way of a page, read
again by an HTML5 parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dripper
from dripper.html import preprocess, prune, prune_page, rewrite, to_markdown
from dripper.settings import HtmlSettings
from dripper.tree.inert import clean_inert_address
from dripper.tree.tree import Tree
from dripper.tree.urls import Base
from support.dangers import VECTORS, dangers
from support.labelled import pages


def extracted(html: str, profile: str = "dripper", *, inert: bool = True) -> str:
    """The main HTML if every block is main."""
    page = preprocess(html, profile)
    tree = rewrite(prune_page(page, page.item_ids), HtmlSettings(inert=inert), Base.of("https://e.org/a/b"))
    return "".join(tree.parts)


@pytest.mark.parametrize("profile", ["dripper", "paper"])
@pytest.mark.parametrize(
    "around", ["<p>before</p>{}<p>after</p>", "<table><tr><td>before {} after</table>", "<title>t</title>{} text"]
)
def test_no_vector_is_left(around: str, profile: str) -> None:
    left = {vector: dangers(extracted(around.replace("{}", vector), profile)) for vector in VECTORS}
    assert {vector: found for vector, found in left.items() if found} == {}
    assert len(VECTORS) > 180


def test_all_vectors_on_one_page_leave_nothing() -> None:
    assert dangers(extracted("<p>text</p>".join(vector for vector in VECTORS if "plaintext" not in vector))) == []


def test_the_vectors_are_dangerous() -> None:
    """The check above, which finds nothing, finds most of the original vectors, and raw main
    HTML."""
    assert sum(bool(dangers(vector)) for vector in VECTORS) > 0.8 * len(VECTORS)
    raw = [extracted(f"<p>a</p>{vector}<p>b</p>", inert=False) for vector in VECTORS]
    assert sum(map(bool, map(dangers, raw))) > 0.4 * len(VECTORS)


@given(st.lists(st.sampled_from(VECTORS), min_size=2, max_size=5), st.integers(0, 60))
def test_no_pieces_of_vectors_are_left(vectors: list[str], cut: int) -> None:
    html = "<p>text " + "".join(vector[cut % (len(vector) + 1) :] + vector[: cut % 7] for vector in vectors)
    assert dangers(extracted(html)) == []


@given(
    st.lists(
        st.sampled_from(
            ["onclick", "href", "title", "=", '"', "'", " ", "/", "javascript:x", "style", "\\", "a", "&quot;"]
        )
    )
)
def test_no_soup_of_attributes_hides_one(soup: list[str]) -> None:
    assert dangers(extracted(f"<p {''.join(soup)}>text</p>")) == []


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<a href="/b" onclick="x()" class="c">t</a>', '<a href="https://e.org/b" class="c">t</a>'),
        ('<a href="javascript:x()">t</a>', "<a>t</a>"),
        ('<a href="mailto:a@b.c">t</a>', '<a href="mailto:a@b.c">t</a>'),
        ('t<img src="data:image/png;base64,AA">', 't<img src="data:image/png;base64,AA">'),
        ('<p title="how javascript: links work">t</p>', '<p title="how javascript: links work">t</p>'),
        ('<p style="color: red">t</p>', '<p style="color: red">t</p>'),
        ("<object data=x><p>fallback</p></object>", "<p>fallback</p>"),
        (
            # The contents of a video element are for browsers without video; a link is more useful.
            "<video src=/v.mp4 autoplay>t</video>",
            '<video src="https://e.org/v.mp4" autoplay="">'
            '<a href="https://e.org/v.mp4" data-dripper="caption">https://e.org/v.mp4</a></video>',
        ),
        ("<p>a<noscript><img src=/a.png>t</noscript>", '<p>a<noscript><img src="https://e.org/a.png">t</noscript></p>'),
    ],
)
def test_what_shows_something_stays(html: str, kept: str) -> None:
    assert extracted(html) == f"<html><body>{kept}</body></html>"


def test_the_raw_form_is_what_prune_writes() -> None:
    page = preprocess('<p onclick="x()"><a href="/b">t</a></p>')
    raw = rewrite(prune_page(page, [1]), HtmlSettings(inert=False, absolute_links=False), Base.of("https://e.org/"))
    assert "".join(raw.parts) == prune_page(page, [1]) == prune(page.mapping_html, [1])


@pytest.mark.parametrize("index", range(11))
def test_real_pages_lose_no_text_and_no_tag_but_what_runs(index: int) -> None:
    page = pages()[index]
    before, after = (
        prune_page(page, page.item_ids),
        rewrite(prune_page(page, page.item_ids), HtmlSettings(), Base.of("https://e.org/")),
    )
    assert dangers("".join(after.parts)) == []
    assert texts_of(after) == texts_of(rewrite(before, HtmlSettings(inert=False, absolute_links=False)))
    again = rewrite("".join(after.parts), HtmlSettings(), Base.of("https://other.org/"))
    assert "".join(again.parts) == "".join(after.parts), "what is inert and absolute stays as it is"


def texts_of(tree: Tree) -> list[str]:
    return "".join(tree.parts[::2]).split()


@pytest.mark.parametrize(
    "address", ["javascript:x", "\x00java\tscript:x", "x-app:y", "data:image/svg+xml,x", "about:blank"]
)
def test_an_address_that_runs_something_is_none(address: str) -> None:
    assert clean_inert_address(address, "src") is None


@pytest.mark.parametrize(
    ("written", "control"),
    [("&#1;", "\x01"), ("&#7;", "\x07"), ("&#9;", "\t"), ("\x1b", "\x1b"), ("&#127;", "\x7f"), ("\x9b", "\x9b")],
)
def test_no_address_tells_a_terminal_what_to_do(written: str, control: str) -> None:
    """Tabs are dropped, as in a browser, and the others are encoded."""
    html = f'<article><p>{"The ferry leaves at noon. " * 20}<a href="https://e.org/a{written}[2Jb">x</a></p></article>'
    for url in ("https://e.org/", None):
        result = dripper.extract(html, url=url)
        assert "https://e.org/a" in result.main_html
        assert control not in result.main_html + result.markdown
    assert control not in to_markdown(html)


def test_a_frame_and_a_template_in_markup_that_no_parser_left_go_too() -> None:
    tree = rewrite(
        "<html><body><p>a<iframe src='x'>b</iframe></p><embed><script>c</script></body></html>", HtmlSettings()
    )
    assert "".join(tree.parts) == "<html><body><p>a</p></body></html>"


@pytest.mark.parametrize(
    ("html", "main"),
    [
        ('<img id="body"><img name="forms" src="https://e.org/x.png">', '<img><img src="https://e.org/x.png">'),
        ('<p id="title">x <b id="__proto__">y</b>', "<p>x <b>y</b></p>"),
        ('<p id="titles">x <a name="top">y</a>', '<p id="titles">x <a name="top">y</a></p>'),
        ('<form>x<input name="attributes"><input name="q"></form>', '<form>x<input><input name="q"></form>'),
        ('<a href="https://e.org" target="name">x</a>', '<a href="https://e.org">x</a>'),
        ('<a href="https://e.org" target="_BLANK">x</a>', '<a href="https://e.org" target="_BLANK">x</a>'),
        ('<a href="https://e.org" rel="nofollow opener">x</a>', '<a href="https://e.org" rel="nofollow">x</a>'),
        ('<a href="https://e.org" rel="noopener" target="_blank">x</a>', None),
        ('<a href="https://e.org" target="_blank">x</a>', None),
    ],
)
def test_nothing_stands_in_the_way_of_scripts_or_opens_a_window_that_can_come_back(html: str, main: str | None) -> None:
    written = extracted(f"{html}<p>end")
    assert (main or html) in written
    assert extracted(f"{html}<p>end", inert=False).count('"') == html.count('"')
