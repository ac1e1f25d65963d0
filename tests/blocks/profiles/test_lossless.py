"""The laws of profile `dripper`, over real pages, pages made at random, and real pages damaged at
random."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from dripper.html import preprocess
from dripper.warc import decode
from support.labelled import labelled_pages
from support.laws import check_laws

TEXTS = [decode(page.html, page.content_type).text for page in labelled_pages()]
PIECES = """<p> </p> <div> </div> <b> </b> <a href=x> </a> <br> <ul> <ol> <li> </li> </ul> <dl> <dt> <dd> </dl> <table>
<tr> <td> <th> </table> <caption> <select> <option> <span> </span> <pre> </pre> <math> <mi> </math> <svg> <title> </svg>
<img src=a> <img data-src=b> <noscript> </noscript> <details> <summary> <textarea> </textarea> <hr> <h1> </h1> <script>
</script> <style> </style> <xmp> </xmp> <template> </template> <iframe> </iframe> <body> </body> <html> <head> <frameset>
<noframes> <plaintext> <nav> <form> <button> <input> <wbr> <embed> <source> <li/> <!--c--> <?x> <![CDATA[ ]]> <p/x> <x:y>
<a<b> <"> <cc-alg-uc-text> <p/_item_id=9> <p/class='a"b'> &lt; &amp;nbsp; &#1; &nbsp; word 文字 1main 2other"""
MARKUP = st.lists(st.sampled_from(PIECES.split()), max_size=60)
MARKUP = MARKUP.map(" ".join)


@pytest.mark.parametrize("html", TEXTS, ids=[page.id for page in labelled_pages()])
def test_laws_hold_for_real_pages(html):
    check_laws(html)


@pytest.mark.parametrize("html", TEXTS, ids=[page.id for page in labelled_pages()])
def test_what_a_parser_shows_is_in_the_blocks(html):
    document = LexborHTMLParser(html)
    document.strip_tags(["script", "style", "template", "noembed", "iframe", "title", "datalist", "svg"])
    for node in document.css('[hidden], [style*="display"]'):
        if node.parent is not None and re.search(r"display:\s*none|\[\]", node.attributes.get("style") or "[]"):
            node.decompose()
    shown = set(re.findall(r"\w{4,}", document.body.text(separator=" ")))
    blocks = re.sub(r"\s+", " ", " ".join(block.text for block in preprocess(html).blocks))
    missing = [word for word in shown if word not in blocks]
    assert len(missing) <= 0.001 * len(shown), missing[:20]


@settings(max_examples=300, deadline=None)
@given(MARKUP)
def test_laws_hold_for_any_markup(html):
    check_laws(html)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([text for text in TEXTS if len(text) < 120_000]),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.05), MARKUP), max_size=8),
)
def test_laws_hold_for_damaged_pages(html, damages):
    for place, length, insert in damages:
        start = int(place * len(html))
        html = html[:start] + insert + html[start + int(length * len(html)) :]
    check_laws(html)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_laws_hold_for_any_text(html):
    check_laws(html)


@pytest.mark.parametrize(
    ("control", "part", "is_there"),
    [
        ("<button aria-controls='x a'>", "<div id=a hidden>", True),
        ("<a aria-controls=a>", "<p id=a style='display:none'>", True),
        ("<button aria-controls=b>", "<div id=a hidden>", False),
        ("<button aria-controls=a>", "<nav id=a hidden>", False),
        ("<button aria-controls=a>", "<div id=a hidden role='dialog'>", False),
    ],
)
def test_what_a_control_opens_is_there(control, part, is_there):
    page = f"<p>{'text ' * 20}</p>{control}Route</button></a>{part}It is open."
    assert ("It is open." in preprocess(page).mapping_html) == is_there
    assert "It is open." not in preprocess(page, "paper").mapping_html or "hidden" in part
