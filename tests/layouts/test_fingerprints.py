"""Equality of blocks for their layout."""

import numpy as np

from dripper.html import preprocess
from dripper.layouts import fingerprints


def paths(html: str) -> list[int]:
    return fingerprints(preprocess(html)).paths.tolist()


def test_numbers_in_names_and_the_order_of_classes_do_not_count() -> None:
    first, second = paths("<div id=post-17 class='b a'><p>one</p></div><div id=post-4 class='a  b a'><p>two</p></div>")
    assert first == second


def test_names_tags_and_ancestors_count() -> None:
    html = "<div class=a><p>1</p></div><div class=b><p>2</p></div><div class=a><h2>3</h2></div><section class=a><p>4</p></section>"
    assert len(set(paths(html))) == 4


def test_position_does_not_count() -> None:
    assert len(set(paths("<div class=a><p>one<p>two<p>three</div>"))) == 1


def test_texts_are_the_same_but_for_case_white_space_and_numbers() -> None:
    texts = fingerprints(preprocess("<p>12  Comments<p>7\ncomments<p>comments<p>其他 1")).texts
    assert texts[0] == texts[1]
    assert len(set(texts.tolist())) == 3


def test_they_are_the_same_on_every_machine() -> None:
    """They are stored, and compared with fingerprints of later crawls."""
    made = fingerprints(preprocess("<body class=x><p id=y>Some text 1</p></body>"))
    assert made.paths.tolist() == [-4362401376512553029]
    assert made.texts.tolist() == [3970430517335886632]
    assert made.paths.dtype == made.texts.dtype == np.int64


def test_a_page_as_deep_as_the_parser_allows_and_one_of_no_blocks() -> None:
    assert len(paths("<div>" * 3000 + "deep" + "</div>" * 3000)) == 1
    assert paths("") == []
