"""One title heads the Markdown, and stands in the columns and in metadata."""

import pytest

import dripper

BODY = "<article><p>" + 20 * "It rained all day in Bergen, and the ferry did not leave. " + "</p></article>"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Rain in Bergen | The Daily</title><header><h1>The Daily</h1></header>", "Rain in Bergen"),
        ("<title>Wet day, dry night | The Daily</title><header><h1>It pours</h1></header>", "It pours"),
        ("<title>Acme | Rain gauges and how to read them well at home</title>", "Acme"),
        ("<title>City of Chicago | Board Meeting Information</title><h1>Board Meeting Information</h1>",
         "Board Meeting Information"),
    ],
)  # fmt: skip
def test_heading_column_and_metadata_say_the_same(head: str, title: str) -> None:
    extraction = dripper.extract(head + BODY)
    assert extraction.metadata is not None
    assert extraction.title == extraction.metadata.title == title
    assert extraction.markdown.startswith(f"# {title}\n\nIt rained")
    assert extraction.html_title
    assert head.startswith(f"<title>{extraction.html_title}</title>")


def test_a_title_in_the_main_content_is_not_said_twice() -> None:
    page = f"<title>Rain in Bergen</title><article><p><b>Rain in Bergen</b></p>{BODY}</article>"
    markdown = dripper.extract(page).markdown
    assert markdown.startswith("# Rain in Bergen\n")
    assert markdown.count("Rain in Bergen") == 1
