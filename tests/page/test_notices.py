"""Notices are not content, but any other text is."""

from pathlib import Path

import pytest

from dripper.errors import ErrorCode
from dripper.page.extraction import Extractor
from dripper.page.notices import LONGEST, is_notice

PAGES = Path(__file__).parents[1] / "data/short_pages"
EXTRACTOR = Extractor()


def read(name: str) -> list[object]:
    """Return the pages of a file, one a line after its name."""
    rows = (line.split("\t") for line in (PAGES / name).read_text("utf-8").splitlines())
    return [pytest.param(html, id=title) for title, html in rows]


@pytest.mark.parametrize("html", read("stay.tsv"))
def test_a_short_page_that_says_something_stays(html: str) -> None:
    extraction = EXTRACTOR.extract(html)
    assert (extraction.error_code, bool(extraction.markdown)) == (None, True)


@pytest.mark.parametrize("html", read("go.tsv"))
def test_a_notice_is_no_content(html: str) -> None:
    extraction = EXTRACTOR.extract(html)
    assert (extraction.error_code, extraction.markdown) == (ErrorCode.EMPTY_PAGE, "")
    assert "no more than a notice" in (extraction.error_detail or "")


@pytest.mark.parametrize("html", read("go.tsv"))
@pytest.mark.parametrize("said", ["Open daily from nine to five.", "The key is with the neighbour.", "+1 410 555 0137"])
def test_no_notice_takes_other_words_with_it(html: str, said: str) -> None:
    assert not is_notice([html, said])


@pytest.mark.parametrize(
    "text",
    ["Home page", "Open site menu", "Error", "Page 2", "404 page", "Service", "Contact support", "Log in", "Gone"],
)
def test_words_of_notices_alone_are_none(text: str) -> None:
    assert not is_notice([text])


def test_the_title_says_what_numbers_and_companions_are_of() -> None:
    assert not is_notice(["404"])
    assert is_notice(["404"], "404 Not Found | The mill")
    assert is_notice(["Enable JavaScript to use Chirp."], "Chirp")
    assert not is_notice(["Chirp"], "Chirp")
    assert not is_notice(["Access denied by the chirping door."], "Access denied by the chirping door")


def test_a_long_text_is_not_looked_at() -> None:
    assert is_notice(["Page not found."] * 9)
    assert not is_notice(["Page not found."] * LONGEST)
    assert not is_notice([])
    assert not is_notice(["", "…"])
