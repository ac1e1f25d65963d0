import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.decode.charset import to_utf8
from dripper.html import PROFILES, UnknownItemError, preprocess, preprocess_utf8, prune, prune_page
from dripper.warc import decode
from support.labelled import labelled_pages

PAGE = """<title>T</title><body>lead <b>x</b><nav>n1 <a href=/>n2</a></nav><p>one<br>two<ul><li>a<li>b<li>c</ul>
<div><a href=x>l<div>z</div></a>t<img data-src=/a.png></div><table><tr><td><p>a</p><td><td><p>c</table>tail"""


def test_every_text_is_in_one_block_in_document_order():
    page = preprocess(PAGE)
    words = [word for block in page.blocks for word in block.text.split()]
    assert " ".join(words) == "lead x n1 n2 one two a b c l z t a c tail"
    assert [block.item_id for block in page.blocks] == list(page.item_ids)


def test_staged_prune_equals_prune_in_hand():
    page = preprocess(PAGE)
    for main_ids in (list(page.item_ids), [1, 3], [2], [9, 10], []):
        assert prune(page.mapping_html, main_ids) == prune_page(page, main_ids)
    assert prune_page(page, []) == ""


def test_a_foreign_id_is_an_error_that_names_it():
    page = preprocess(PAGE)
    with pytest.raises(UnknownItemError, match="99"):
        prune_page(page, [1, 99])
    with pytest.raises(UnknownItemError, match="99"):
        prune(page.mapping_html, [99])


def test_a_page_survives_pickling():
    page = preprocess(PAGE)
    copy = pickle.loads(pickle.dumps(page))
    assert copy.simplified_html == page.simplified_html
    assert copy.blocks == page.blocks


@pytest.mark.parametrize("html", [b"<p>x", None, 3])
def test_only_text_is_accepted(html):
    with pytest.raises(TypeError, match="str"):
        preprocess(html)


def test_an_unknown_profile_is_named():
    with pytest.raises(ValueError, match="'minerU'"):
        preprocess("<p>x", profile="minerU")


@pytest.mark.parametrize("profile", PROFILES)
def test_bytes_give_what_their_text_gives(profile):
    for page in labelled_pages():
        split = preprocess_utf8(to_utf8(page.html, page.content_type).utf8, profile)
        assert split == preprocess(decode(page.html, page.content_type).text, profile)


@given(
    st.lists(st.sampled_from(["<p>", "</p>", "<b title='", "'>", "<br", ">", " ", "a", "é", "\ud800", "\0", "<!---->"]))
)
def test_text_gives_what_its_bytes_give_without_lone_surrogates(pieces):
    html = "".join(pieces)
    assert preprocess_utf8(html.replace("\ud800", "").encode()) == preprocess(html)
