"""Pages in the markup of 2008: the same words, other elements."""

import re
from collections import Counter

import numpy as np
import pytest

from dripper.blocks.page import Page
from dripper.html import preprocess
from dripper.labels.words import words_of
from dripper_lab.train.antique import Antiquary, antique
from dripper_lab.train.commented import MARK
from dripper_lab.train.examples import example_of
from support.labelled import labelled_pages, pages

NEW = frozenset(
    {"article", "aside", "footer", "header", "main", "nav", "section", "figure", "time", "strong", "button"}
)
STORY = (
    '<div class="wrap"><header class="top"><nav><ul><li><a href="/">Home</a></li><li><a href="/n">News</a></li></ul></nav>'
    "</header>"
    '<main><article class="post"><h1>Title</h1><p>One, two.</p><p>Three <strong>four</strong>.</p><h2>Part</h2><p>Five.</p>'
    "</article>"
    "<aside><h3>More</h3><ul><li>A<p>B</p></li></ul></aside></main><footer>2020</footer></div>"
)


def styles(page: Page, count: int = 60) -> list[Page]:
    return [antique(page, np.random.default_rng(seed)) for seed in range(count)]


def markup(page: Page) -> str:
    return "".join(page.elements.parts)


def words(page: Page) -> list[str]:
    return [word for block in page.blocks for word in words_of(block.text)]


@pytest.mark.parametrize("seed", range(4))
def test_every_word_of_a_page_stays_in_its_place(seed: int) -> None:
    for page in pages():
        assert words(antique(page, np.random.default_rng(seed))) == words(page)


def test_nothing_of_html5_stays_and_no_metadata() -> None:
    for page in pages():
        old = antique(page, np.random.default_rng(0))
        assert not NEW & set(old.elements.tags)
        assert not old.hints.types
        assert not old.hints.description
        assert old.title == page.title


def test_the_same_draw_gives_the_same_page() -> None:
    page = preprocess(STORY)
    assert [markup(each) for each in styles(page, 5)] == [markup(each) for each in styles(page, 5)]


@pytest.mark.parametrize(
    "expected",
    [
        "One, two.<br><br>Three <b>four</b>.<br><br>", "<div>One, two.</div>", "<p>One, two.</p>", "<b>Part</b>", "<h2>Part</h2>",
        '<a href="/">Home</a> | <a href="/n">News</a>', '<a href="/">Home</a><br><a href="/n">News</a>', "<li>A<p>B</p></li>",
        "<table><tr><td>", "</td></tr><tr><td>", "</td><td>", '<div id="post">', '<div class="post">', '<div class="c1">',
        '<div id="sidebar">',
    ],
)  # fmt: skip
def test_each_way_of_writing_comes_up(expected: str) -> None:
    assert any(expected in markup(each) for each in styles(preprocess(STORY)))


def test_tables_are_well_formed() -> None:
    for old in styles(preprocess(STORY)):
        opened = Counter(re.findall(r"<(table|tr|td|div|p|b|ul|li)\b", markup(old)))
        assert opened == Counter(re.findall(r"</(table|tr|td|div|p|b|ul|li)>", markup(old)))
        parents = [
            (tag, old.elements.tags[parent])
            for tag, parent in zip(old.elements.tags, old.elements.parents, strict=True)
        ]
        assert {above for tag, above in parents if tag == "td"} <= {"tr"}


def test_a_single_element_inside_another_may_go() -> None:
    depths = {
        max(len(old.elements.path(block.element)) for block in old.blocks)
        for old in styles(preprocess("<div><div><div><p>x</p></div></div></div>"))
    }
    assert len(depths) > 1


def test_what_was_put_there_stays_marked() -> None:
    page = preprocess("<p>text</p>")
    page.elements.parts[page.elements.opens[1]] += f'<div{MARK} class="comments">said</div>'
    marked = preprocess(f"<div><p>text</p><section{MARK}><p>said</p></section></div>")
    assert all(f"<section{MARK}>" in markup(each) for each in styles(marked, 10))


def test_an_example_keeps_its_truth() -> None:
    antiquary = Antiquary(np.random.default_rng(0))
    for page, labelled in zip(pages(), labelled_pages(), strict=True):
        example = example_of(page, labelled)
        made = antiquary(page, example, labelled.truth_text)
        assert made is not None
        assert (made.key, made.host, made.page_type, made.truth_words) == (
            example.key,
            example.host,
            example.page_type,
            example.truth_words,
        )
        assert made.f1(made.main) > example.f1(example.main) - 0.05
