"""From labelled pages to examples: which leaves are main."""

import numpy as np
import pytest

from dripper.html import preprocess
from dripper_lab.datasets import LabelledPage
from dripper_lab.train.web2text.examples import example_of, read_examples
from support.labelled import labelled_pages

TRUTH = "It rained all day in Rome and nobody went out."
HTML = f"<p>Home | About<p>It rained all day <b>in Rome</b> and nobody went out.<p><img src=i.png><p>{TRUTH}<p>Share"


def labelled(html: str) -> LabelledPage:
    return LabelledPage("1", "set", "http://a.org/", html.encode(), None, f"{TRUTH}\n{TRUTH}", page_type="article")


def test_blocks_that_the_truth_holds_are_main_and_so_is_an_image_between_them() -> None:
    example = example_of(preprocess(HTML), labelled(HTML))
    assert example.main.tolist() == [False, True, True, True, False]
    assert example.words.tolist() == [2, 10, 0, 10, 1]
    assert example.matched.tolist() == [0, 10, 0, 10, 0]
    assert (example.truth_words, example.host, example.page_type) == (20, "a.org", "article")
    assert example.f1(example.main) == 1
    assert example.f1(np.ones(5, bool)) == pytest.approx(40 / 43)


def test_leaves_of_the_paper_are_text_nodes() -> None:
    example = example_of(preprocess(HTML), labelled(HTML), text_nodes=True)
    assert example.words.tolist() == [2, 4, 2, 4, 10, 1]
    assert example.main.tolist() == [False, True, True, True, True, False]
    assert example.features.leaves.shape == (6, 128)
    assert example.features.pairs.shape == (5, 25)


def test_real_pages_teach_and_pages_without_their_truth_do_not() -> None:
    assert len(list(read_examples(labelled_pages()))) == len(labelled_pages())
    assert list(read_examples([labelled("<p>something else entirely"), labelled("")])) == []
