"""HTML of extractors is converted to the form of the labelled text."""

import pytest

from dripper_lab.evaluation.extractors.base import Form, converter, markdown, plain_text

HTML = "<h1>Harbour</h1><p>Boats <a href='/x'>came</a> home.</p><ul><li>nets</li><li>fish</li></ul><img src=a alt=b>"


def test_text_stays_as_it_is() -> None:
    assert converter(Form.TEXT, "dragnet")("<b>a</b>\n") == "<b>a</b>\n"


@pytest.mark.parametrize(
    ("data_set", "text"),
    [
        ("dragnet", "Harbour\n\nBoats came home.\n\nnets\nfish"),
        ("webmainbench", "# Harbour\n\nBoats came home.\n\n  * nets\n  * fish\n\n\n\n"),
        ("webmainbench-samples", "# Harbour\n\nBoats came home.\n\n  * nets\n  * fish\n\n\n\n"),
    ],
)
def test_html_becomes_text_or_markdown_by_the_truth(data_set: str, text: str) -> None:
    assert converter(Form.HTML, data_set)(HTML).strip() == text.strip()


@pytest.mark.parametrize("html", ["", " \n"])
def test_nothing_stays_nothing(html: str) -> None:
    assert markdown(html) == plain_text(html) == ""


def test_lines_are_not_wrapped() -> None:
    assert markdown(f"<p>{'word ' * 100}</p>").strip().count("\n") == 0
