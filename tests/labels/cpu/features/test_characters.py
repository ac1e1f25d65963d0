"""Characters and words of a page as arrays, by numpy and by C."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.labels.cpu.features import characters
from dripper.labels.cpu.features.characters import PageCharacters, hash_word
from dripper.labels.cpu.features.text import compute_text_features
from dripper.labels.words import words_of
from dripper.tree.head import Hints
from support.in_c import in_each_language, needs_c
from support.labelled import pages

_language = in_each_language(characters)

# The only character with a lower case of two characters. The second is not a letter: `words_of`
# cuts the word there.
CAPITAL_I_WITH_DOT = "\u0130"
texts_of_any_kind = st.lists(
    st.one_of(st.text(), st.text("aB1 .,!?\n_-é你好かกั가²½Ⅷ٣ß")).map(lambda text: text.replace(CAPITAL_I_WITH_DOT, "")),
    min_size=1,
)


def hashes_by_text(page: PageCharacters, n_texts: int) -> list[list[int]]:
    return [page.hashes[page.texts == number].tolist() for number in range(n_texts)]


# The first call builds the tables.
@settings(deadline=None)
@given(texts_of_any_kind)
def test_words_are_those_of_words_of(texts: list[str]) -> None:
    page = PageCharacters.of(texts)
    expected = [words_of(text) for text in texts]
    assert page.words.tolist() == [len(words) for words in expected]
    lowered = [[hash_word("".join(each.lower()[0] for each in word)) for word in words] for words in expected]
    assert hashes_by_text(page, len(texts)) == lowered
    assert page.lengths.tolist() == [len(word) for words in expected for word in words]


@settings(deadline=None)
@given(texts_of_any_kind)
def test_every_character_is_in_one_class_of_its_own_text(texts: list[str]) -> None:
    page = PageCharacters.of(texts)
    assert page.counts.sum(axis=1).tolist() == [len(text) for text in texts]
    alone = np.concatenate([PageCharacters.of([text]).counts for text in texts])
    assert np.array_equal(page.counts, alone)


@pytest.mark.parametrize("number", range(11))
def test_words_of_real_pages(number: int) -> None:
    texts = [block.text for block in pages()[number].blocks]
    page = PageCharacters.of(texts)
    assert page.words.tolist() == [len(words_of(text)) for text in texts]
    distinct = {word for text in texts for word in words_of(text)}
    assert len(set(page.hashes.tolist())) == len(distinct)


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("a", characters.LOWER), ("É", characters.UPPER), ("א", characters.OTHER_LETTER), ("7", characters.DIGIT),
        ("你", characters.UNSPACED), ("가", characters.UNSPACED), ("๓", characters.UNSPACED_DIGIT),
        ("½", characters.NUMERAL), (".", characters.SENTENCE_END), ("。", characters.SENTENCE_END),
        ("、", characters.COMMA), ("—", characters.PUNCTUATION), ("_", characters.PUNCTUATION), ("\t", characters.SPACE),
        ("\u00a0", characters.SPACE), ("\n", characters.LINE), ("\u200b", characters.CONTROL), ("\ud800", characters.CONTROL),
        ("\U0010ffff", characters.CONTROL), ("😀", characters.PUNCTUATION),
    ],
)  # fmt: skip
def test_class_of(character: str, expected: int) -> None:
    page = PageCharacters.of([f"{character}x", f"x{character}"])
    assert page.first.tolist()[0] == page.last.tolist()[1] == expected


def test_first_and_last_of_an_empty_text_are_a_line_end() -> None:
    page = PageCharacters.of(["Ends.", "", "Starts"])
    assert page.first.tolist() == [characters.UPPER, characters.LINE, characters.UPPER]
    assert page.last.tolist() == [characters.SENTENCE_END, characters.LINE, characters.LOWER]
    assert not page.counts[1].any()


def test_a_word_has_one_hash_wherever_it_stands_and_order_counts() -> None:
    page = PageCharacters.of(["stop pots " * 50, "Stop"])
    assert len(set(page.hashes.tolist())) == 2
    assert page.hashes[0] == page.hashes[-1] == hash_word("stop") != hash_word("pots")


ODD = st.text("aB1 .,!?\n_-é你好かกั가²½Ⅷ٣ß\ud800\U0010ffff")
REPEATED = st.lists(st.sampled_from(["comments", "read", "more", "the", "a", "1", "好", "b."])).map(" ".join)


@needs_c(characters)
@settings(deadline=None)
@given(st.lists(st.one_of(ODD, REPEATED), min_size=1), REPEATED, REPEATED)
def test_features_of_texts_are_the_same_in_c(texts: list[str], title: str, description: str) -> None:
    found: list[Any] = []
    for in_c in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(characters, "IN_C", in_c)
            features, words = compute_text_features(texts, title, Hints((), description, texts[0]))
            found.append((features.tobytes(), words.tolist()))
    assert found[0] == found[1]


@needs_c(characters)
def test_arrays_that_do_not_fit_are_refused() -> None:
    in_c = characters.characters_c
    few, none, counts = np.zeros(9, np.uint64), np.zeros(0, np.int64), np.zeros((10, 1), np.int64)
    sieve, numbers = np.zeros(1 << 14, bool), np.zeros(9, np.int64)
    for call in (
        lambda: in_c.read(["a", b"a"], b"a", few[:1].view(np.uint32)[:1], True),
        lambda: in_c.read(["a"], b"aa", few[:1], True),
        lambda: in_c.count(few, numbers, np.array([4, 4]), 1, sieve, few, numbers, counts),
        lambda: in_c.count(few, numbers, np.array([10, -1]), 1, sieve, few, numbers, counts),
        lambda: in_c.count(few, numbers, np.array([9]), 1, sieve, few, numbers, counts),
        lambda: in_c.count(few, numbers, np.array([9, 0]), 1, sieve[1:], few, numbers, counts),
        lambda: in_c.count(few, numbers, np.array([9, 0]), 1, sieve, few, none, counts),
        lambda: in_c.count(few, numbers, np.array([9, 0]), 1, sieve, few, numbers, counts[1:]),
        lambda: in_c.encode(['<p class="a">'], bytearray(1), lambda word: 1),
        lambda: in_c.encode(['<p class="a">'], bytearray(99), lambda word: 1 << 40),
    ):
        with pytest.raises(ValueError, match=r"sizes or types of arrays|no room|below 2\^32"):
            call()
