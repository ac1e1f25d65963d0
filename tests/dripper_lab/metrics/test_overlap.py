import jieba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dripper.eval
from dripper.errors import UsageError
from dripper.eval import PERFECT, UNSPACED, ZERO, jieba_tokens, ratios, rouge_n, tokenizer, word_tokens
from dripper_lab.metrics.overlap import block_scores, levenshtein, word_f1

TEXT = st.text(alphabet="ab cd\n.,é的学", max_size=60)
STORY = "The quick brown fox jumps over the lazy dog. It sleeps.\n\n我们可以使用这个函数创建一个对象。"


def paper_rouge(prediction: str, truth: str) -> tuple[float, float, float]:
    """The paper's published evaluation, with the package it calls, which loads scipy: seconds, for
    each process that collects tests."""
    from rouge_score.rouge_scorer import _create_ngrams, _score_ngrams

    grams = [_create_ngrams(jieba.lcut(text), 5) for text in (truth, prediction)]
    score = _score_ngrams(*grams)
    return score.precision, score.recall, score.fmeasure


def pulpie_rouge(prediction: str, truth: str) -> float:
    """ROUGE-5 over `.split()`, written out with lists instead of multisets."""
    grams = [[tuple(text.split()[i : i + 5]) for i in range(len(text.split()) - 4)] for text in (prediction, truth)]
    left, hits = list(grams[1]), 0
    for gram in grams[0]:
        if gram in left:
            left.remove(gram)
            hits += 1
    return 2 * hits / (len(grams[0]) + len(grams[1])) if hits else 0.0


@given(TEXT, TEXT)
def test_jieba_variant_is_the_papers_code(prediction: str, truth: str) -> None:
    score = rouge_n(prediction, truth)
    expected = (1, 1, 1) if not prediction.strip() and not truth.strip() else paper_rouge(prediction, truth)
    assert (score.precision, score.recall, score.f1) == pytest.approx(expected)


@given(TEXT, TEXT)
def test_split_variant_is_pulpies_code(prediction: str, truth: str) -> None:
    assert rouge_n(prediction, truth, tokens="split").f1 == pytest.approx(pulpie_rouge(prediction, truth))


@pytest.mark.parametrize("tokens", ["jieba", "split", "words"])
@given(prediction=TEXT, truth=TEXT)
def test_rouge_is_symmetric_and_bounded(tokens: str, prediction: str, truth: str) -> None:
    one, other = rouge_n(prediction, truth, tokens=tokens), rouge_n(truth, prediction, tokens=tokens)
    assert one.f1 == pytest.approx(other.f1)
    assert (one.precision, one.recall) == (other.recall, other.precision)
    assert 0 <= min(one.precision, one.recall) <= one.f1 <= max(one.precision, one.recall) <= 1


@given(TEXT)
def test_words_variant_gives_every_text_1_against_itself(text: str) -> None:
    assert rouge_n(text, text, tokens="words") == PERFECT


@given(TEXT)
def test_words_variant_ignores_white_space_and_punctuation(text: str) -> None:
    assert rouge_n(text.replace(".", " . ").replace(" ", "\n "), text, tokens="words") == PERFECT


# As the public implementations score them: both empty, identical but short, one blank or newline
# too many.
@pytest.mark.parametrize(
    ("prediction", "truth", "tokens", "f1"),
    [
        ("", "", "jieba", 1.0),
        (" \n", "", "jieba", 1.0),
        ("one two", "one two", "jieba", 0.0),
        ("", "", "split", 0.0),
        ("one two", "one two", "split", 0.0),
        ("one two", "one two", "words", 1.0),
        ("one two", "one three", "words", 0.0),
        ("", "one", "words", 0.0),
        ("one", "", "words", 0.0),
        ("a b c d e f g h i j", "a b c d e f g h i j\n", "jieba", 2 * 15 / 31),
        ("a  b c d e f g h i j", "a b c d e f g h i j", "jieba", 2 * 14 / 31),
    ],
)
def test_edge_cases(prediction: str, truth: str, tokens: str, f1: float) -> None:
    assert rouge_n(prediction, truth, tokens=tokens).f1 == pytest.approx(f1)


def test_hand_counted_example() -> None:
    # 7 words have three 5-grams, 6 have two; two are common.
    score = dripper.eval.rouge_n("one two three four five six seven", "One two, three four five six.", tokens="words")
    assert (score.precision, score.recall, score.f1) == pytest.approx((2 / 3, 1, 0.8))


def test_unknown_tokens_are_named() -> None:
    with pytest.raises(UsageError, match="unknown tokens 'letters'; there are: jieba, split, words"):
        rouge_n("a", "b", tokens="letters")


@example(STORY)
@given(st.text(alphabet="ab1 .-\r\n\t\u3000\x85\u2028é的学生们。+#", max_size=40) | st.text(max_size=40))
def test_jieba_tokens_are_jiebas(text: str) -> None:
    assert jieba_tokens(text) == jieba.lcut(text)
    assert "".join(jieba_tokens(text)) == text


def test_words_cut_only_scripts_without_spaces() -> None:
    assert word_tokens("Größe-2 don't") == ["größe", "2", "don", "t"]
    assert word_tokens("用numpy创建一个对象。") == ["用", "numpy", "创建", "一个", "对象"]
    assert word_tokens("ゲーム。").count("。") == 0
    assert tokenizer("words") is word_tokens


def wcxb_f1(predicted: list[str], reference: list[str]) -> float:
    """Bags compared by sorting and merging."""
    hits, left, right = 0, sorted(predicted), sorted(reference)
    while left and right:
        if left[-1] == right[-1]:
            hits += 1
            left.pop(), right.pop()
        else:
            (left if left[-1] > right[-1] else right).pop()
    return 2 * hits / (len(predicted) + len(reference)) if predicted or reference else 1.0


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_word_f1_is_bag_overlap(predicted: list[str], reference: list[str]) -> None:
    assert word_f1(" ".join(predicted), " ".join(reference)).f1 == pytest.approx(wcxb_f1(predicted, reference))


def test_word_f1_ignores_order_and_case() -> None:
    assert word_f1("Dog, lazy", "lazy dog") == PERFECT
    assert word_f1("lazy cat", "lazy dog").f1 == 0.5


def lcs_length(left: list[str], right: list[str]) -> int:
    row = [0] * (len(right) + 1)
    for token in left:
        above = row[:]
        for j, other in enumerate(right, start=1):
            row[j] = above[j - 1] + 1 if token == other else max(above[j], row[j - 1])
    return row[-1]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_levenshtein_is_twice_the_common_subsequence(left: list[str], right: list[str]) -> None:
    expected = 2 * lcs_length(left, right) / (len(left) + len(right)) if left or right else 1.0
    assert levenshtein(" ".join(left), " ".join(right)) == pytest.approx(expected)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20))
def test_block_scores(pairs: list[tuple[bool, bool]]) -> None:
    predicted, true = (np.array([pair[side] for pair in pairs], dtype=bool) for side in (0, 1))
    hits, wrong, missed = ((pairs.count(pair)) for pair in [(True, True), (True, False), (False, True)])
    score = block_scores(predicted, true)
    if hits + wrong + missed == 0:
        assert score == PERFECT
    else:
        assert score.f1 == pytest.approx(2 * hits / (2 * hits + wrong + missed))
        assert score.precision == (hits / (hits + wrong) if hits + wrong else 0)


def test_ratios_of_nothing() -> None:
    assert ratios(0, 0, 5) == ratios(0, 5, 0) == ratios(0, 0, 0) == ZERO


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
