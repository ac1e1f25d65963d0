"""Examples made of labelled pages."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.html import preprocess
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.words import words_of
from dripper_lab.train.examples import Example, example_from, read_examples
from support.labelled import labelled_pages


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


@pytest.mark.parametrize(
    ("share", "long", "kind", "found"),
    [(0.0, 40, "", True), (1.0, 40, "", False), (0.0, 3, "", False), (0.0, 40, "forum", False)],
    ids=["left out", "in the truth", "too short", "posts of a forum"],
)
def test_comments_that_the_truth_leaves_out(share: float, long: int, kind: str, found: bool) -> None:
    said = " ".join(f"word{number}" for number in range(long))
    comments = "".join(f"<li class='comment'><p>{said} {letter}</p></li>" for letter in "abc")
    story = " ".join(f"story{number}" for number in range(300))
    page = preprocess(f"<h1>Head</h1><p>{story}</p><ol id='comments'>{comments}</ol>")
    truth = words_of(" ".join([story, *(block.text for block in page.blocks if "word1" in block.text and share)]))
    example = example_from(page, truth, ("made", "1"), "example.org", kind)
    assert example.comments.any() == found
    assert not example.comments[:2].any()


def test_a_page_that_is_called_comments_as_a_whole_is_none() -> None:
    story = " ".join(f"story{number}" for number in range(300))
    page = preprocess(f"<body class='has-comments'><p>{story}</p></body>")
    assert not example_from(page, ["other"], ("made", "1"), "example.org", "").comments.any()


def test_the_title_is_the_first_heading_that_repeats_it() -> None:
    page = preprocess(
        "<title>Flood in the town</title><h1>Site</h1><h1>Flood in the town</h1><h2>Flood in the town</h2><p>Text"
    )
    assert example_from(page, [], ("made", "1"), "example.org", "").title.tolist() == [False, True, False, False]
