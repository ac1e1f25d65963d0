"""Features of texts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.text_features import CUES, FREQUENT_WORDS, HEAD_WORDS, NAMES, text_features
from dripper.labels.words import words_of
from labelled import pages


def features(*texts: str, title: str = "") -> dict[str, list[float]]:
    matrix = text_features(texts, title)[0]
    return {name: matrix[:, column].tolist() for column, name in enumerate(NAMES)}


def cues(text: str) -> set[str]:
    row = features(text)
    return {name for name in CUES if row[f"cue_{name}"][0]}


def test_there_is_one_column_a_name_and_no_name_twice() -> None:
    assert text_features(["a"], "")[0].shape == (1, len(NAMES))
    assert len(set(NAMES)) == len(NAMES)


def test_lengths_and_words() -> None:
    found = features("one two three.", "", "你好")
    assert found["log_chars"] == pytest.approx(np.log1p([14, 0, 2]))
    assert found["log_words"] == pytest.approx(np.log1p([3, 0, 2]))
    assert found["no_words"] == [0, 1, 0]
    assert found["unspaced"] == [0, 0, 1]


def test_shares_of_characters() -> None:
    found = features("AB12 c,d.", "ok")
    assert found["upper"] == pytest.approx([2 / 9, 0])
    assert found["digits"] == pytest.approx([2 / 9, 0])
    assert found["punctuation"] == pytest.approx([2 / 9, 0])


def test_sentences_and_commas_in_two_scripts() -> None:
    found = features("Yes, it is. Is it?", "是的，对。", "no end")
    assert found["sentences"] == pytest.approx(np.log1p([2, 1, 0]))
    assert found["commas"] == pytest.approx(np.log1p([1, 1, 0]))
    assert found["ends_sentence"] == [1, 1, 0]
    assert found["starts_upper"] == [1, 0, 0]


def test_an_empty_block_does_not_read_its_neighbours() -> None:
    found = features("Ends.", "", "Starts.")
    assert found["ends_sentence"][1] == found["starts_upper"][1] == found["sentences"][1] == 0


def test_lines_are_counted_within_the_block() -> None:
    assert features("a\nb\nc", "d")["log_lines"] == pytest.approx(np.log1p([2, 0]))


def test_the_title_is_recognised() -> None:
    found = features("Floods in Rome", "Share", title="Floods in Rome - The Paper")
    assert found["of_title"] == [1, 0]
    assert found["title_covered"] == pytest.approx([3 / 5, 0])


def test_repetition_and_dates() -> None:
    found = features("Reply", "Reply", "Posted 12:30", "in 1999", "number 7")
    assert found["repeated"] == [1, 1, 0, 0, 0]
    assert found["date"] == [0, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 Comments", {"comments"}),
        ("You may also like", {"related"}),
        ("Sign up for our newsletter", {"subscribe"}),
        ("© 2020 All rights reserved", {"legal"}),
        ("相关推荐", {"related"}),
        ("Add to cart", {"price"}),
        ("The bypass was closed", set()),
        ("A commentary on newsletters long after the twelfth word of this plain prose subscribe", {"subscribe"}),
    ],
)
def test_cues_are_words_or_pairs_at_the_beginning(text: str, expected: set[str]) -> None:
    assert cues(text) == expected


@given(st.lists(st.text(), min_size=1, max_size=6), st.text())
def test_any_text_gives_finite_features_that_its_neighbours_do_not_shift(texts: list[str], title: str) -> None:
    matrix, words = text_features(texts, title)
    assert np.isfinite(matrix).all()
    alone = ("log_chars", "log_words", "punctuation", "digits", "ends_sentence", "of_title", "date", "cue_share")
    columns = [NAMES.index(name) for name in alone]
    for index, text in enumerate(texts):
        own, own_words = text_features([text], title)
        assert np.array_equal(own[0, columns], matrix[index, columns])
        assert own_words[0] == words[index]


@pytest.mark.parametrize("number", range(11))
def test_word_features_of_real_pages_against_plain_loops(number: int) -> None:
    page = pages()[number]
    texts = [block.text for block in page.blocks]
    words, title = [words_of(text) for text in texts], set(words_of(page.title))
    matrix, counts = text_features(texts, page.title)
    frequency = Counter(word for own in words for word in own)
    least = min(count for _, count in frequency.most_common(FREQUENT_WORDS))
    expected = {
        "of_title": [len(set(own) & title) / max(len(set(own)), 1) for own in words],
        "title_covered": [len(set(own) & title) / max(len(title), 1) for own in words],
        "frequent_words": [np.mean([frequency[word] >= least for word in own[:HEAD_WORDS]] or [0]) for own in words],
        "short_words": [np.mean([len(word) <= 3 for word in own[:HEAD_WORDS]] or [0]) for own in words],
        "distinct_words": [len(set(own)) / max(len(own), 1) for own in words],
        "repeated": [texts.count(text) > 1 for text in texts],
    }
    assert counts.tolist() == [len(own) for own in words]
    for name, values in expected.items():
        assert matrix[:, NAMES.index(name)] == pytest.approx(np.array(values, float), abs=1e-6), name
