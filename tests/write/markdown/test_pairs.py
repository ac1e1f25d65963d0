"""Constructs of real pages: `pairs.txt` has each as HTML and as Markdown."""

from pathlib import Path

import pytest

from dripper.html import to_markdown
from support.renderers import differs

PAIRS = [
    (name, *rest.split("\n---\n", 1))
    for name, _, rest in (
        pair.partition("\n")
        for pair in (Path(__file__).parent / "pairs.txt")
        .read_text(encoding="utf-8")
        .removeprefix("=== ")
        .split("\n=== ")
    )
]
SAYS_LESS = {
    "marks of notes that are not there, and links to places that are not",
    "references of an encyclopedia",
    "a mark behind a heading",
    "a term with a link to itself",
    "a foot before the body of a table",
    "prices beside a formula",
    "a list of tasks",
    "the same heading twice",
    "steps with their numbers set apart",
    "numbers of steps in a list that counts",
    "words for screen readers beside what is shown",
}
"""Text that works only in a browser, or is repeated, is left out; a box is drawn with brackets."""


@pytest.mark.parametrize(("name", "html", "markdown"), PAIRS, ids=[name for name, _, _ in PAIRS])
def test_a_construct_is_written_as_people_would(name: str, html: str, markdown: str) -> None:
    assert to_markdown(html).removesuffix("\n") == markdown.removesuffix("\n")


@pytest.mark.parametrize(("name", "html", "markdown"), PAIRS, ids=[name for name, _, _ in PAIRS])
def test_a_construct_says_what_its_page_said(name: str, html: str, markdown: str) -> None:
    assert differs(markdown, html, "markdown-it") == (name in SAYS_LESS)


def test_there_are_sixty() -> None:
    assert len(PAIRS) >= 60
    assert len({name for name, _, _ in PAIRS}) == len(PAIRS)
