"""This extractor's column in the table of extractors."""

from pathlib import Path

import pytest

from dripper import extract
from support.neighbour_pages import ADDRESS, CASES, Case, judge, write_page
from support.neighbour_rows import RIGHT, read_rows

TABLE = Path(__file__).parents[2] / "docs" / "neighbours" / "pages.md"
ROWS = read_rows(TABLE.read_text())
WRONG = {
    "`noscript`",
    "`aria-hidden` (a browser shows it)",
    "a link around blocks",
}
"""Rows that the table explains below itself."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_table_has_what_a_page_gives(case: Case) -> None:
    read = extract(write_page(case), url=ADDRESS)
    found = judge(case, {"markdown": read.markdown, "title": read.title, "author": "; ".join(read.metadata.authors)})
    assert found == ROWS[case.name].get("dripper", RIGHT)
    assert (found == RIGHT) != (case.name in WRONG)


def test_the_table_has_each_case() -> None:
    assert list(ROWS) == [case.name for case in CASES]
