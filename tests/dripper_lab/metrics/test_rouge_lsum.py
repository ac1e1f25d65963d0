import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.eval import PERFECT, ZERO, Score
from dripper_lab.metrics.rouge_lsum import lcs_indexes, rouge_lsum, rouge_lsum_of, sentences

SENTENCE = st.lists(st.sampled_from("abcde"), min_size=1, max_size=9)
TEXT = st.lists(SENTENCE, min_size=1, max_size=6)


class WhiteSpace:
    def tokenize(self, text: str) -> list[str]:
        return text.split()


def package_score(prediction: list[list[str]], truth: list[list[str]]) -> Score:
    """The package that WCEB calls, with sentences given as lines. It loads scipy: seconds, for each
    process that collects tests."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeLsum"], tokenizer=WhiteSpace())
    lines = ["\n".join(" ".join(sentence) for sentence in text) for text in (truth, prediction)]
    score = scorer.score(*lines)["rougeLsum"]
    return Score(score.precision, score.recall, score.fmeasure)


@settings(max_examples=300)
@given(TEXT, TEXT)
def test_is_the_packages_score(prediction: list[list[str]], truth: list[list[str]]) -> None:
    score, expected = rouge_lsum_of(prediction, truth), package_score(prediction, truth)
    assert (score.precision, score.recall, score.f1) == pytest.approx(
        (expected.precision, expected.recall, expected.f1)
    )


@settings(max_examples=300)
@given(SENTENCE, SENTENCE)
def test_backtracking_breaks_ties_as_the_package(true: list[str], predicted: list[str]) -> None:
    from rouge_score.rouge_scorer import lcs_ind

    assert sorted(lcs_indexes(true, predicted)) == lcs_ind(true, predicted)


@given(TEXT)
def test_a_text_scores_1_against_itself(text: list[list[str]]) -> None:
    assert rouge_lsum_of(text, text) == PERFECT


def test_empty_texts_as_wceb_scores_them() -> None:
    assert rouge_lsum("", " \n") == PERFECT
    assert rouge_lsum("Something.", "") == Score(0.0, 1.0, 0.0)
    assert rouge_lsum("", "Something.") == ZERO


def test_sentences_end_at_full_stops_but_not_after_abbreviations() -> None:
    assert sentences("Mr. Fox sleeps. The dog\nruns!  Why?") == [
        ["Mr.", "Fox", "sleeps."],
        ["The", "dog", "runs!"],
        ["Why?"],
    ]


def test_hand_counted_example() -> None:
    # "the cat sat" keeps its order in the first sentence; "on the mat" only "on mat" in the second:
    # 5 of 6 and of 7.
    score = rouge_lsum_of(
        [["the", "big", "cat", "sat"], ["on", "mat", "today"]], [["the", "cat", "sat"], ["on", "the", "mat"]]
    )
    assert (score.precision, score.recall) == pytest.approx((5 / 7, 5 / 6))


def test_long_page_is_quick_and_exact() -> None:
    truth = [[f"w{(i * 7 + j * 3) % 50}" for j in range(12)] for i in range(40)]
    prediction = [[*sentence[::2], "menu"] for sentence in truth[5:]] + [["menu", "w3", "w1"]] * 5
    score, expected = rouge_lsum_of(prediction, truth), package_score(prediction, truth)
    assert score.f1 == pytest.approx(expected.f1)
