"""The labels of a page: its blocks, and the ROUGE-5 of a choice of blocks, which equals the
report's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.eval import rouge_n
from dripper.labels.words import words_of
from dripper_lab.truth import Texts, between, read_truths
from support.labelled import labelled_pages, pages


def test_leaves_without_words_at_the_ends_are_other() -> None:
    assert between(np.array([False, True, False]), [0, 3, 0]).tolist() == [False, True, False]
    assert between(np.zeros(2, bool), [0, 0]).tolist() == [False, False]


def test_a_truth_a_page() -> None:
    truths = list(read_truths(labelled_pages()))
    assert [len(truth.words) for _, truth in truths] == [len(page.blocks) for page in pages()]
    for _, truth in truths:
        assert truth.f1(truth.main) > 0.8
        assert truth.f1(~truth.main) < truth.f1(truth.main)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "rain", "river", "x9"]), max_size=12)


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=6), WORDS)
def test_it_is_what_the_report_computes(blocks: list[tuple[list[str], bool]], truth: list[str]) -> None:
    chosen = " ".join(word for words, is_main in blocks for word in words if is_main)
    got = Texts.of([words for words, _ in blocks], truth).rouge5(np.array([main for _, main in blocks], bool))
    assert got == pytest.approx(rouge_n(chosen, " ".join(truth), tokens="words").f1)


def test_a_stray_line_costs_more_than_its_words() -> None:
    posts = [words_of(f"this is what number {number} has written in this very long thread") for number in range(4)]
    stray = ["reply"]
    truth = [word for post in posts for word in post]
    texts = Texts.of([*posts[:2], stray, *posts[2:]], truth)
    clean, strayed = (texts.rouge5(np.array([True, True, line, True, True])) for line in (False, True))
    assert clean == 1.0
    assert strayed < 0.93
