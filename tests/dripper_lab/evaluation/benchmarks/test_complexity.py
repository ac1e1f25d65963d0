"""The study's page complexity: worked by hand, and its classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper_lab.evaluation.benchmarks.complexity import (
    ELEMENTS,
    Level,
    body_text,
    complexity,
    features,
    guess_accuracy,
    level,
    quartiles,
)

PAGE = (
    "<html><head><title>no</title></head><body><nav>one two</nav>\n"
    "<p>three four five</p>\n<script>six()</script></body></html>"
)


@pytest.mark.parametrize(
    ("truth", "value"),
    [
        ("three four five", 1 - 3 / 5),
        ("one two three four five", 0.0),
        ("", 1.0),
        ("more words than the whole page holds", 0.0),
        ("three-four, five!", 1 - 3 / 5),
    ],
)
def test_share_of_words_that_are_not_content(truth: str, value: float) -> None:
    assert complexity(PAGE, truth) == pytest.approx(value)


def test_a_page_without_words_is_simple() -> None:
    assert complexity("<script>x</script>", "truth") == 0.0
    assert complexity("", "") == 0.0


def test_the_body_alone_without_script_and_style() -> None:
    assert body_text(PAGE + "<style>p{}</style>").split() == ["one", "two", "three", "four", "five"]


def test_lone_surrogates_are_no_reason_to_fail() -> None:
    assert complexity("<p>a \ud800 b</p>", "a") == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, Level.LOW), (0.2, Level.MEDIUM), (0.69, Level.MEDIUM), (0.7, Level.HIGH), (1.0, Level.HIGH)],
)
def test_classes_begin_at_their_threshold(value: float, expected: Level) -> None:
    assert level(value, (0.2, 0.7)) is expected


@given(st.lists(st.floats(0, 1), min_size=4, max_size=60))
def test_about_half_of_the_pages_are_medium(values: list[float]) -> None:
    low, high = quartiles(values)
    assert min(values) <= low <= high <= max(values)
    assert sum(value < low for value in values) <= len(values) / 4 + 1
    assert sum(value > high for value in values) <= len(values) / 4 + 1


def test_a_classifier_sees_shares_of_elements() -> None:
    seen = features("<body><p>one two three</p> <a>four</a> <P>five</P></body>")
    assert seen[ELEMENTS.index("p")] == 0.5
    assert seen[ELEMENTS.index("a")] == 0.25
    assert seen[-1] == pytest.approx(math.log(5 / 6))


def test_a_classifier_guesses_what_can_be_guessed_and_no_more() -> None:
    generator = np.random.default_rng(0)
    rows, noise = generator.normal(size=(400, 3)), generator.normal(size=400)
    assert guess_accuracy(rows, rows[:, 1], seed=0) > 0.85
    assert guess_accuracy(rows, noise, seed=0) == pytest.approx(0.5, abs=0.08)
