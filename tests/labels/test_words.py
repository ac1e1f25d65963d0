"""Words of any script."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.labels.words import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\u00a0—…", []),
        ("One two  TWO", ["one", "two", "two"]),
        ("snake_case", ["snake", "case"]),
        ("Straße 42b", ["straße", "42b"]),
        ("中文abc字", ["中", "文", "abc", "字"]),
        ("カタカナ・テスト", ["カ", "タ", "カ", "ナ", "テ", "ス", "ト"]),
        ("한국어", ["한", "국", "어"]),
        ("мир, peace", ["мир", "peace"]),
        ("𠀀a", ["𠀀", "a"]),
    ],
)
def test_words_are_runs_of_letters_or_single_unspaced_characters(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_way(text: str) -> None:
    assert words_of(text) == words_of(f"{text} é")[:-1]


@settings(deadline=None)
@given(st.text())
def test_every_letter_and_digit_is_in_exactly_one_word(text: str) -> None:
    kept = "".join(words_of(text))
    assert kept == "".join(character for character in text.lower() if character.isalnum())


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_line_break_never_joins_words(first: str, second: str) -> None:
    # Lower-casing a final sigma depends on its neighbours, so the two halves are lower-cased first.
    first, second = first.lower(), second.lower()
    assert words_of(f"{first}\n{second}") == words_of(first) + words_of(second)
