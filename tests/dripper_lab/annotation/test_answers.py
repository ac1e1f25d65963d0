"""Answers and their errors."""

import pytest

from dripper.errors import InputError
from dripper_lab.annotation.answers import KINDS, Answer, answer_of, from_ranges, is_blank, to_ranges
from dripper_lab.annotation.folders import guidelines

GOOD = {"page": "p1", "kind": "forum", "main": "2-3,7", "sure": 2}


@pytest.mark.parametrize("main", ["2-3,7", " 2 - 3, 7,", "7,2–3,3", [2, 3, 7], ["2-3", 7]])
def test_numbers_come_in_several_spellings(main: object) -> None:
    assert answer_of(GOOD | {"main": main}, 9, "p1") == Answer("p1", "forum", (2, 3, 7), 2)


def test_a_row_is_read_as_it_was_written() -> None:
    answer = Answer("p1", "recipe", (1, 2, 9), 3, "somebody")
    assert answer_of(answer.row(), 9, "p1") == answer
    assert answer_of({"kind": "ERROR", "main": "", "sure": "1", "why": "a 404"}, 9, "p1").main == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "thread"}, "kind 'thread' is unknown: one of article, forum"),
        ({"main": "2-10"}, "main names block 10, and the page has the blocks 1 to 9"),
        ({"main": "0"}, "main names block 0"),
        ({"main": "7-2"}, "'7-2', which runs backwards"),
        ({"main": "all"}, "'all': write ranges of block numbers such as 5-9,12"),
        ({"main": None}, "main is None: write ranges"),
        ({"main": [True]}, "main is "),
        ({"sure": 4}, "sure is 4: 1, 2 or 3"),
        ({"sure": None}, "sure is None"),
        ({"kind": "error"}, "kind error has no main content"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        answer_of(GOOD | changes, 9, "p1")


def test_what_is_missing_is_said() -> None:
    with pytest.raises(InputError, match="lacks kind and sure"):
        answer_of({"main": "1"}, 9, "p1")
    with pytest.raises(InputError, match="is a JSON object"):
        answer_of(["2-3"], 9, "p1")


def test_a_line_of_the_template_is_blank() -> None:
    assert is_blank({"page": "p1", "kind": "", "main": "", "sure": 0})
    assert not is_blank(GOOD)


def test_ranges_and_back() -> None:
    for numbers in ([], [4], [1, 2, 3], [1, 3, 5, 6, 9]):
        assert from_ranges(to_ranges(numbers), 9) == numbers


def test_the_guidelines_name_every_kind_and_the_form() -> None:
    text = guidelines()
    assert f"one of {', '.join(KINDS)}." in text
    assert [kind for kind in KINDS if f"\n- {kind} (" not in text and f"\n- {kind}:" not in text] == []
    (example,) = [line for line in text.splitlines() if line.startswith("{")]
    assert '"main": "5-9,12,15-40"' in example
