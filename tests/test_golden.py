"""Whole pages give the Markdown and the facts that are stored with them. After an intended change,
`make golden` writes them again; read the difference before it lands."""

import difflib

import pytest

from support.golden import GoldenPage, list_pages

PAGES = list(list_pages())
SHOWN_LINES = 60


@pytest.mark.parametrize("page", PAGES, ids=[page.folder.name for page in PAGES])
def test_a_page_gives_its_golden_text_and_facts(page: GoldenPage) -> None:
    for name, text in page.write_expectations().items():
        expected = (page.folder / name).read_text(encoding="utf-8")
        lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "now", lineterm="", n=1)
        shown = "\n".join(list(lines)[:SHOWN_LINES])
        assert text == expected, f"{page.folder.name}/{name} (make golden writes it anew)\n{shown}"


def test_every_page_has_its_source_and_a_licence_that_is_free() -> None:
    assert len(PAGES) >= 40
    for page in PAGES:
        assert page.about["source"]
        assert page.about["licence"].startswith(("Apache-2", "CC-BY-4.0", "MIT")), page.folder.name
