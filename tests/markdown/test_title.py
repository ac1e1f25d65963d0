"""What the Markdown opens with."""

import pytest

from dripper.markdown.title import heading_of

TITLE = "Rain in Bergen | The Daily"


@pytest.mark.parametrize(
    ("texts", "main_ids", "main_html", "heading"),
    [
        (["The Daily", "Rain in Bergen", "It rained."], [3], "<p>It rained.</p>", "Rain in Bergen"),
        (["The Daily", "RAIN  in\nBergen", "It rained."], [3], "<p>It rained.</p>", "RAIN in Bergen"),
        (["The Daily", "Rain in Bergen", "It rained."], [2, 3], "<h2>Rain in Bergen</h2><p>It rained.</p>", ""),
        (["It rained."], [1], "<h1>Wet</h1><p>It rained.</p>", ""),
        (["The Daily", "It rained."], [2], "<p>It rained.</p>", TITLE),
        ([], [], "", TITLE),
    ],
)
def test_the_heading_as_readers_see_it(texts: list[str], main_ids: list[int], main_html: str, heading: str) -> None:
    assert heading_of(TITLE, texts, main_ids, main_html) == heading


def test_without_a_title_there_is_no_heading() -> None:
    assert heading_of(" ", ["a"], [1], "<p>a</p>") == ""
