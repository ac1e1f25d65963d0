from hypothesis import given
from hypothesis import strategies as st

from dripper_lab.evaluation.report.worst import FOLD, SHOWN_WORDS, Excerpt, differences, shorten_excerpts

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=30)


@given(WORDS, WORDS)
def test_pieces_put_together_are_the_texts(truth: list[str], output: list[str]) -> None:
    for text, pieces in zip((truth, output), differences(" ".join(truth), " ".join(output)), strict=True):
        if len(text) <= FOLD:
            assert " ".join(piece.text for piece in pieces).split() == text


@given(WORDS, WORDS)
def test_common_pieces_are_a_longest_common_subsequence(truth: list[str], output: list[str]) -> None:
    left, right = differences(" ".join(truth), " ".join(output))
    if max(len(truth), len(output)) <= FOLD:
        common = [" ".join(piece.text for piece in side if piece.is_common).split() for side in (left, right)]
        assert common[0] == common[1]
        assert len(common[0]) == longest(truth, output)


def longest(one: list[str], other: list[str]) -> int:
    row = [0] * (len(other) + 1)
    for word in one:
        above = row[:]
        for j, there in enumerate(other, start=1):
            row[j] = above[j - 1] + 1 if word == there else max(above[j], row[j - 1])
    return row[-1]


@given(st.lists(st.tuples(st.integers(1, 200), st.booleans()), max_size=12))
def test_what_is_shown_is_bounded_and_the_rest_is_counted(lengths: list[tuple[int, bool]]) -> None:
    pieces = [Excerpt(" ".join(["w"] * length), is_common) for length, is_common in lengths]
    shown = list(shorten_excerpts(pieces))
    words = sum(len(piece.text.split()) for piece in shown if not piece.is_folded)
    folded = sum(int(piece.text.split()[0]) for piece in shown if piece.is_folded)
    assert words <= SHOWN_WORDS + 16
    assert words + folded == sum(length for length, _ in lengths)


def test_one_text_empty() -> None:
    assert differences("one two", "") == ([Excerpt("one two", False)], [])
    assert differences("", "one two") == ([], [Excerpt("one two", False)])
