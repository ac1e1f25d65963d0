"""Answers as texts."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.lm.answer import FORMS, parse_answer

LABELS = st.lists(st.booleans(), min_size=1, max_size=60)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
@given(labels=LABELS)
def test_what_is_written_can_be_read(form, labels) -> None:  # type: ignore[no-untyped-def]
    assert parse_answer(form.text(labels)) == dict(enumerate(labels, 1))


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
@given(labels=LABELS)
def test_the_expression_matches_answers_and_nothing_else(form, labels) -> None:  # type: ignore[no-untyped-def]
    text = form.text(labels)
    expression = form.regex(len(labels))
    assert re.fullmatch(expression, text)
    assert not re.fullmatch(expression, text + " ")
    assert not re.fullmatch(form.regex(len(labels) + 1), text)


@given(labels=LABELS)
def test_json_is_json_as_python_writes_it(labels: list[bool]) -> None:
    meant = {str(item): "main" if label else "other" for item, label in enumerate(labels, 1)}
    assert FORMS["json"].text(labels) == json.dumps(meant)


def test_one_form_is_the_example_of_prompt_v0() -> None:
    assert FORMS["json_v0"].text([False, True, False]) == '{"1": "other","2": "main","3": "other"}'


@given(labels=LABELS, cut=st.integers(0, 2000))
def test_a_json_answer_that_breaks_off_gives_its_whole_pairs(labels: list[bool], cut: int) -> None:
    text = FORMS["json"].text(labels)
    found = parse_answer(text[:cut])
    assert found == dict(list(enumerate(labels, 1))[: len(found)])
    whole = text[:cut].count('main"') + text[:cut].count('other"')
    assert len(found) == whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("I cannot do that.", {}),
        ('{"1": "main"}', {1: True}),
        ('Here:\n```json\n{"1": "main", "2": "other"}\n```', {1: True, 2: False}),
        ('{"1": "main", "1": "other"}', {1: False}),
        ('{"1": "Main", "2": 3, "x": "main", "3": null, "4": "main"}', {4: True}),
        ('{"1": ["main"], "2": "main"}', {2: True}),
        ('{"0": "main", "-1": "main"}', {0: True}),
        ("{", {}),
        ("} {", {}),
        ('{"1": "main", }', {1: True}),
        ("{" * 100_000, {}),
        ("<answer>\n1main2other\n</answer>", {1: True, 2: False}),
        ("1main 2 other 3other", {1: True, 3: False}),
        ("1main1other", {1: False}),
        ("12mainly", {12: True}),
    ],
)
def test_free_texts(text: str, found: dict[int, bool]) -> None:
    assert parse_answer(text) == found


@given(st.text(alphabet='{}":, 0123456789mainother\\n'))
def test_no_text_raises(text: str) -> None:
    parse_answer(text)
