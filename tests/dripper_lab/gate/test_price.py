"""Calls of functions and searches over a whole page are counted."""

import re
from collections.abc import Iterator

import pytest

from dripper_lab.gate.price import PassCounter, WatchedPattern, count_calls


def twice() -> int:
    return sum(once() for _ in range(2))


def once() -> int:
    return 1


def test_calls_are_counted_but_for_comprehensions() -> None:
    calls = count_calls(twice, __file__, ())
    assert {name: n for (_, name), n in calls.items()} == {"twice": 1, "once": 2}


def test_files_outside_and_left_out_are_not_counted() -> None:
    assert not count_calls(twice, "/nowhere", ())
    assert not count_calls(twice, __file__, {__file__})


@pytest.fixture
def counter() -> PassCounter:
    counter = PassCounter()
    counter.begin(10)
    return counter


def search_in(pattern: WatchedPattern, text: str) -> Iterator[object]:
    yield pattern.search(text)
    yield pattern.findall(text)
    yield pattern.sub("", text)
    yield pattern.split(text)


def test_searches_in_half_a_page_are_passes_and_shorter_ones_are_not(counter: PassCounter) -> None:
    pattern = WatchedPattern(re.compile("b"), counter)
    assert list(search_in(pattern, "abcd"))[1] == ["b"]
    assert counter.n == 0
    assert list(search_in(pattern, "abcde"))[2] == "acde"
    assert counter.n == 4


def test_a_match_at_one_place_is_no_pass(counter: PassCounter) -> None:
    assert WatchedPattern(re.compile("b"), counter).match("abcdef", 1)
    assert counter.n == 0


def test_expressions_that_a_package_compiles_are_watched(counter: PassCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compile", "search", "findall", "finditer", "sub", "subn", "split", "match", "fullmatch"):
        monkeypatch.setattr(re, name, getattr(re, name))
    counter.watch(__name__)
    pattern = re.compile("b")
    assert pattern.search("abcdef")
    assert re.sub(pattern, "", "abcdef") == "acdef"
    assert counter.n == 2
    counter.watch("elsewhere.")
    assert re.sub("b", "", "abcdef") == "acdef"
    assert counter.n == 2
