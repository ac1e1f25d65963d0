"""Features of texts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.labels.cpu.features.text import NAMES, compute_text_features


def features(*texts: str, title: str = "") -> dict[str, list[float]]:
    matrix = compute_text_features(texts, title)[0]
    return {name: matrix[:, column].tolist() for column, name in enumerate(NAMES)}


def test_there_is_one_column_a_name_and_no_name_twice() -> None:
    assert compute_text_features(["a"], "")[0].shape == (1, len(NAMES))
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


def test_dates() -> None:
    found = features("Reply", "Posted 12:30", "in 1999", "number 7")
    assert found["date"] == [0, 1, 1, 0]


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=6), st.text())
def test_any_text_gives_finite_features_that_its_neighbours_do_not_shift(texts: list[str], title: str) -> None:
    matrix, words = compute_text_features(texts, title)
    assert np.isfinite(matrix).all()
    alone = ("log_chars", "log_words", "punctuation", "digits", "ends_sentence", "of_title", "date", "cue_share")
    columns = [NAMES.index(name) for name in alone]
    for index, text in enumerate(texts):
        own, own_words = compute_text_features([text], title)
        assert np.array_equal(own[0, columns], matrix[index, columns])
        assert own_words[0] == words[index]
