"""Examples made of labelled pages."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.labels.features import NAMES
from dripper.train.examples import Example, read_examples
from labelled import labelled_pages


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(read_examples(labelled_pages()))


def test_every_page_becomes_an_example(examples: list[Example]) -> None:
    assert [example.key for example in examples] == [("wcxb-dev", page.id) for page in labelled_pages()]
    assert {example.page_type for example in examples} >= {"article", "forum", "documentation"}
    assert examples[0].host == "bearblog.dev" or examples[0].host.endswith("bearblog.dev")


def test_shapes(examples: list[Example]) -> None:
    for example in examples:
        n_blocks = len(example.words)
        assert example.blocks.features.shape == (n_blocks, len(NAMES))
        assert example.matched.shape == example.main.shape == (n_blocks,)
        assert (example.matched <= example.words).all()


def test_the_best_blocks_come_close_to_the_truth_and_the_whole_page_does_not(examples: list[Example]) -> None:
    best = np.mean([example.f1(example.main) for example in examples])
    whole = np.mean([example.f1(np.ones(len(example.words), bool)) for example in examples])
    assert best > 0.95
    assert whole < best - 0.1


def test_no_block_no_score(examples: list[Example]) -> None:
    assert examples[0].f1(np.zeros(len(examples[0].words), bool)) == 0


def test_pages_that_cannot_teach_are_left_out() -> None:
    page = labelled_pages()[0]
    foreign = replace(page, truth_text="nothing of this stands on the page whatsoever zzz")
    empty = replace(page, html=b"")
    assert len(list(read_examples([page, foreign, empty]))) == 1


def test_a_window_keeps_its_blocks_and_its_share_of_what_is_missing(examples: list[Example]) -> None:
    example = max(examples, key=lambda one: len(one.words))
    window = example.window(5, 25)
    assert np.array_equal(window.words, example.words[5:25])
    assert np.array_equal(window.blocks.features, example.blocks.features[5:25])
    assert window.blocks.starts.min() >= 0
    assert window.blocks.ends.max() <= 20
    assert (window.blocks.starts < window.blocks.ends).all()
    missing = example.truth_words - example.matched.sum()
    expected = missing * 20 / len(example.words) + window.matched.sum()
    assert window.truth_words == pytest.approx(expected, abs=1)


def test_the_whole_window_is_the_example(examples: list[Example]) -> None:
    example = examples[0]
    window = example.window(0, len(example.words))
    assert window.truth_words == example.truth_words
    assert np.array_equal(window.blocks.starts, example.blocks.starts)
