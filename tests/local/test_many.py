"""`dripper.extract_many`: order, errors as results, processes."""

import itertools
from collections.abc import Iterator

import pytest

import dripper
from dripper.errors import SettingsError
from dripper.local.pool import AHEAD
from support.warcs import page

PAGES = [page(number)[1] for number in range(8)]


def test_results_are_those_of_single_pages_in_their_order() -> None:
    results = list(dripper.extract_many(PAGES, jobs=3))
    assert [result.title for result in results] == [f"Article {number}" for number in range(8)]
    assert results[5] == dripper.extract(PAGES[5])
    (with_address,) = dripper.extract_many([("<p>See <a href=b>the pier</a> of Bergen.", "https://e.org/a")], jobs=1)
    assert (with_address.url, "(https://e.org/b)" in with_address.markdown) == ("https://e.org/a", True)


def test_bad_pages_are_results() -> None:
    limits = {"limits.page_cpu_seconds": 1}
    given: list[str | bytes] = [PAGES[0], b"%PDF-1.7", "", PAGES[1], "<p>x" * 4_000_000, PAGES[2]]
    codes = [result.error_code for result in dripper.extract_many(given, jobs=2, settings=limits)]
    assert codes[:4] == [None, "not_html", "empty_page", None]
    assert codes[4] in ("time_limit", "memory_limit", "parse_failed")
    assert codes[5] is None


def test_pages_are_taken_as_they_are_needed() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        for html in itertools.cycle(PAGES):
            taken += 1
            yield html

    first = list(itertools.islice(dripper.extract_many(endless(), jobs=2), 3))
    assert [result.title for result in first] == ["Article 0", "Article 1", "Article 2"]
    assert taken <= 2 * (AHEAD + 1) + 3


def test_what_cannot_work_is_told_at_once() -> None:
    with pytest.raises(SettingsError, match="did you mean"):
        dripper.extract_many([], "cpuu")
    with pytest.raises(SettingsError, match="jobs=0"):
        dripper.extract_many([], jobs=0)
    with pytest.raises(TypeError, match="not one page"):
        dripper.extract_many("<p>One page.</p>")
    assert list(dripper.extract_many([])) == []


def test_what_is_no_page_is_an_error_of_its_row() -> None:
    good, bad = dripper.extract_many(["<p>A page.</p>", None], jobs=1)  # type: ignore[list-item]
    assert good.error_code is None
    assert (bad.error_code, bad.error_detail) == ("not_html", "it is NoneType, not str or bytes")
