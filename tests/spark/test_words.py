"""Texts into SQL and out of exceptions."""

import pytest

from dripper.spark.words import first_line, quoted


@pytest.mark.parametrize(("text", "literal"), [("a", "'a'"), ("it's", r"'it\'s'"), ("a\\b", r"'a\\b'")])
def test_sql_literals(text: str, literal: str) -> None:
    assert quoted(text) == literal


def test_first_lines() -> None:
    assert first_line(ValueError("\n one\ntwo")) == "one"
    assert first_line(KeyError()) == "KeyError"
