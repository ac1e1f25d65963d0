import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import UsageError
from dripper.eval.metrics.overlap import UNSPACED, jieba_tokens, tokenizer, word_tokens


@given(st.text())
def test_words_are_words_in_order(text: str) -> None:
    words = word_tokens(text)
    assert all(word and not word.isspace() for word in words)
    place, lower = 0, text.lower()
    for word in words:
        place = lower.index(word, place) + len(word)


@given(st.text(), st.text())
def test_words_of_two_texts_are_those_of_each(one: str, other: str) -> None:
    assert word_tokens(f"{one}\n{other}") == word_tokens(one) + word_tokens(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("…—!", []),
        ("It's 3.14, über-cool_x", ["it", "s", "3", "14", "über", "cool_x"]),
        ("Ελληνικά Русский 한국어", ["ελληνικά", "русский", "한국어"]),
        ("我们在Python里写代码。", ["我们", "在", "python", "里", "写", "代码"]),
    ],
)
def test_words_by_script(text: str, words: list[str]) -> None:
    assert word_tokens(text) == words


def test_japanese_is_cut_into_pieces() -> None:
    words = word_tokens("これは日本語の文章です。")
    assert len(words) > 4
    assert "".join(words) == "これは日本語の文章です"


def test_which_characters_have_no_spaces() -> None:
    assert all(UNSPACED.search(character) for character in "中あア豈")
    assert not any(UNSPACED.search(character) for character in "aé한Яα。")


def test_tokenizers_by_name() -> None:
    assert tokenizer("jieba") is jieba_tokens
    assert tokenizer("split")(" a  b\n") == ["a", "b"]
    with pytest.raises(UsageError, match="unknown tokens ''"):
        tokenizer("")
